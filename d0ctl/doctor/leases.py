"""Leases: whether their holders live, there is one driver, and others can write."""

import os
import time
from collections.abc import Iterator
from pathlib import Path

from d0ctl.config import Home
from d0ctl.doctor.finding import Finding, repaired_at_start
from d0ctl.store import Store
from d0ctl.store.nodes import registry
from d0ctl.store.nodes.holder import is_dead, is_outdated, process_id
from d0ctl.store.nodes.leases import LEASE, leases, living_holder
from d0ctl.store.views import activity

HELD_S = 5.0
"""A writer that has the lock for longer and commits nothing is stuck."""

SAMPLE_S = 0.02


def has_daemon(store: Store) -> bool:
    """Return whether a daemon lives."""
    return living_holder(store, LEASE) is not None


def holders(store: Store) -> Iterator[Finding]:
    """Leases of dead processes with work left, or of a process other than the daemon."""
    living: dict[str, int] = {}
    is_missed = activity.has_work(store)
    names = {f"node {row.id}": f"node `{row.name}`" for row in registry.nodes(store)}
    for row in leases(store):
        kind = row["name"].partition(" ")[0]
        unnamed = {"node": "a removed node", "job": "a job of `run`"}.get(kind, row["name"])
        name, pid = names.get(row["name"], unnamed), process_id(row["holder"])
        if is_dead(row["holder"]) and is_missed:
            yield repaired_at_start("lease", name, f"is held by process {pid}, which is gone")
        elif not is_dead(row["holder"]):
            living[name] = pid
    for name, pid in living.items():
        if pid != living.get(LEASE, pid):
            detail = f"is held by process {pid}, and the daemon is process {living[LEASE]}"
            yield Finding("lease", name, detail, f"kill {pid}")


def outdated_daemon(store: Store) -> Iterator[Finding]:
    """Yield a daemon that runs the code of an installation that was replaced."""
    holder = living_holder(store, LEASE)
    if holder is not None and is_outdated(holder):
        yield Finding("daemon", f"process {process_id(holder)}",
                      "runs older code: d0ctl was installed again since it started",
                      "d0ctl daemon restart")  # fmt: skip


def stuck_writer(store: Store) -> Iterator[Finding]:
    """Yield a process that blocks all other writers: it has the lock and makes no progress."""
    began, holder = time.monotonic(), _turn_holder(store.home)
    version = store.version()
    while holder is not None and _turn_holder(store.home) == holder:
        is_stopped = _state(holder) in ("T", "t")
        if is_stopped or time.monotonic() - began > HELD_S:
            detail = f"process {holder} blocks other writers"
            detail += ": it is stopped" if is_stopped else f", for {HELD_S:g} s and more"
            advice = f"kill -CONT {holder}" if is_stopped else f"kill {holder}"
            yield Finding("turn", str(store.home.writer_lock), detail, advice)
            return
        if store.version() != version:
            return
        time.sleep(SAMPLE_S)


def _turn_holder(home: Home) -> int | None:
    """Return the process that has the lock, by the kernel's list of locks, without taking it."""
    try:
        status = home.writer_lock.stat()
        lines = Path("/proc/locks").read_text().splitlines()
    except OSError:
        return None
    locked_file = f"{os.major(status.st_dev):02x}:{os.minor(status.st_dev):02x}:{status.st_ino}"
    for line in lines:
        fields = line.split()
        if fields[1] == "FLOCK" and fields[5] == locked_file:
            return int(fields[4])
    return None


def _state(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return ""
