"""Run all checks; findings that may be a race are checked again before they are reported."""

import shlex
import time
from collections.abc import Callable, Iterable, Iterator

from msgspec import Struct, field
from msgspec.structs import replace

from d0ctl.config import Home
from d0ctl.doctor.admin_work import failing_transfers, faulty_nodes, undelivered, wrong_clocks
from d0ctl.doctor.dropbox import leftovers
from d0ctl.doctor.finding import ANEW, Finding, repaired_at_start
from d0ctl.doctor.home import failing_turns, home_files
from d0ctl.doctor.leases import has_daemon, holders, outdated_daemon, stuck_writer
from d0ctl.doctor.logins import logins
from d0ctl.doctor.node_files import Nodes, caches_in_doubt, full_disks
from d0ctl.doctor.orphans import unknown_files
from d0ctl.doctor.results import copies_here, deliveries, in_transit
from d0ctl.errors import D0Error
from d0ctl.event_queue.address import where
from d0ctl.nodes.storage import stores
from d0ctl.sitefile.transfer.stores import commands
from d0ctl.store import Store
from d0ctl.store.checks.check import Fault, faults, lasting
from d0ctl.store.checks.repeated_jobs import repeated
from d0ctl.store.files.moved_home import previous_home
from d0ctl.store.jobs import removal
from d0ctl.store.nodes.holder import any_driver, process_id
from d0ctl.store.nodes.site import other_home, setting

AGAIN_S = 2.0
"""Time between two checks; a daemon handles new work in a small part of that."""

LOOKS = 3
"""A problem that was found in this many consecutive checks counts as lasting."""

Part = Callable[[], Iterable[Finding]]


class CheckResult(Struct):
    """The findings, and the nodes that were checked."""

    findings: list[Finding] = field(default_factory=list)
    nodes: list[str] = field(default_factory=list)
    unseen: dict[str, str] = field(default_factory=dict)
    """Nodes that could not be checked, and why."""


def examine(store: Store, *, far: bool = False, checksums: bool = False) -> CheckResult:
    """Check database, home and this machine's node, and with `far` all other nodes.

    With `checksums` this machine and the nodes read all their copies, which may take hours.

    It reads in many short transactions and writes nothing; nobody waits for it.
    """
    nodes, other = Nodes(store, far=far, checksums=checksums), other_home(store)
    findings = [*broken_rules(store), *_lasting([*_parts(store, checksums), nodes.find_problems])]
    findings += [*caches_in_doubt(store), *full_disks(store), *unknown_files(store, nodes.seen)]
    findings += [*faulty_nodes(store), *wrong_clocks(store)]
    findings += [*failing_transfers(store), *undelivered(store)]
    if has_daemon(store):
        findings = [
            replace(finding, advice=ANEW) if finding.heals else finding for finding in findings
        ]
    elif other:  # a daemon of this home would remove what is newer
        findings = [
            replace(finding, advice="", heals=False) if finding.heals else finding
            for finding in findings
        ]
    return CheckResult(findings, nodes.seen, nodes.unseen)


def _parts(store: Store, checksums: bool) -> list[Part]:
    """Checks of files that change from moment to moment, where a single look may mislead."""
    home = store.home
    return [
        lambda: home_files(home),
        lambda: moved_home(store),
        lambda: half_jobs(store),
        lambda: holders(store),
        lambda: outdated_daemon(store),
        lambda: stuck_writer(store),
        lambda: logins(store),
        lambda: broken_for_long(store) if has_daemon(store) else (),
        lambda: failing_turns(home, time.time()) if has_daemon(store) else (),
        lambda: leftovers(home.dropbox, is_driven=any_driver(store)),
        lambda: deliveries(store, time.time(), checksums=checksums),
        lambda: in_transit(store),
        lambda: archived_twice(store),
        lambda: unreachable_stores(store),
        lambda: silent_queue(store),
        lambda: copies_here(store, checksums=checksums),
    ]


def _lasting(parts: list[Part]) -> list[Finding]:
    """Return the findings that occur each time."""
    findings = [{finding.key: finding for finding in part()} for part in parts]
    for _ in range(LOOKS - 1):
        if not any(findings):
            break
        time.sleep(AGAIN_S)
        for part, suspects in zip(parts, findings, strict=True):
            still = {finding.key: finding for finding in part()} if suspects else {}
            for key in list(suspects):
                if key in still:
                    suspects[key] = still[key]
                else:
                    del suspects[key]
    return [suspect for suspects in findings for suspect in suspects.values()]


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


def moved_home(store: Store) -> Iterator[Finding]:
    """Yield from where a home was moved, if nobody has driven it since."""
    copied = other_home(store)
    if copied and copied.is_newer:
        detail = f"is out of date: home {copied.root} has driven the nodes since"
        yield Finding("home", str(store.home.root), detail, "")
    elif copied:
        detail = f"is a copy of {copied.root} that no daemon has driven"
        yield Finding("home", str(store.home.root), detail, "")
    elif before := previous_home(store):
        detail = f"was moved from {before}, where its copies are recorded"
        yield repaired_at_start("home", str(store.home.root), detail)


def half_jobs(store: Store) -> Iterator[Finding]:
    """Jobs whose submission or removal was interrupted."""
    for row in removal.interrupted(store):
        detail = f"is incomplete: process {process_id(row['submitter'])} is gone"
        yield repaired_at_start("hidden", row["name"], detail)


def archived_twice(store: Store) -> Iterator[Finding]:
    """Yield archives with jobs that are in the database or a later archive, as after a restore."""
    for archive in repeated(store, store.home, with_later=True):
        jobs = "1 job that is" if archive.jobs == 1 else f"{archive.jobs:,} jobs that are"
        detail = f"has {jobs} in the database or a later archive, too, and counted only there"
        advice = f"rm {shlex.quote(str(archive.file))}" if archive.is_needless else ""
        yield Finding("archive", archive.archive, detail, advice)


def _finding(fault: Fault, home: Home) -> Finding:
    if fault.check in DAMAGED:
        advice = f"d0ctl daemon stop, then d0ctl restore FILE; keep {home.database} aside"
    else:
        advice = "d0ctl backup FILE, and report it with that file: d0ctl must never do this"
    return Finding(fault.check, fault.subject, fault.detail, advice)


def silent_queue(store: Store) -> Iterator[Finding]:
    """Yield why no events come from the broker; asked by a connection that leaves nothing there."""
    said = setting(store, "event-queue")
    if not said:
        return
    try:
        from d0ctl.event_queue.subscription import Connection
    except ImportError as error:
        detail = f"`{error.name}` is not installed"
        yield Finding("event queue", where(said), detail, "pip install 'd0ctl[mqtt]'")
        return
    connection = Connection(said, "", kept_s=0, take=lambda text: None)
    try:
        connection.open()
    except D0Error as error:
        yield Finding("event queue", where(said), str(error), "d0ctl site show")
    finally:
        connection.close()


def unreachable_stores(store: Store) -> Iterator[Finding]:
    """Stores whose check fails on this machine; stores of commands may have no check."""
    for name, entry in (setting(store, "stores") or {}).items():
        if "check" not in commands(entry):
            continue
        try:
            stores.run(name, entry, "check")
        except D0Error as error:
            yield Finding("store", name, str(error), "d0ctl store list")
