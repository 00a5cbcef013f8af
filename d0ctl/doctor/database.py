"""What is wrong inside the database, and how to fix it."""

from collections.abc import Iterator

from d0ctl.config import Home
from d0ctl.doctor.finding import Finding, repaired_at_start
from d0ctl.store import Store
from d0ctl.store.checks.check import Fault, faults, lasting
from d0ctl.store.jobs import removal

DAMAGED = frozenset({"integrity", "foreign_keys", "schema"})
"""Rules that d0ctl can't break: the file was damaged, or changed by other programs."""


def broken_rules(store: Store) -> Iterator[Finding]:
    """Return broken rules, also while others write: each was broken at one moment."""
    for fault in faults(store):
        yield _finding(fault, store.home)


def broken_for_long(store: Store) -> Iterator[Finding]:
    """Yield faults that a daemon repairs, if they last although one is running."""
    for fault in lasting(store):
        yield _finding(fault, store.home)


def half_jobs(store: Store) -> Iterator[Finding]:
    """Jobs whose submission or removal was interrupted."""
    for row in removal.interrupted(store):
        detail = f"is incomplete: process {row['submitter'].split()[1]} is gone"
        yield repaired_at_start("hidden", row["name"], detail)


def _finding(fault: Fault, home: Home) -> Finding:
    if fault.check in DAMAGED:
        advice = f"d0ctl daemon stop, then d0ctl restore FILE; keep {home.database} aside"
    else:
        advice = "d0ctl backup FILE, and report it with that file: d0ctl must never do this"
    return Finding(fault.check, fault.subject, fault.detail, advice)
