"""Holders of leases: processes that can be checked for life, and what those that are gone drove."""

import os
import sys
import time
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from d0ctl.model import Node, NodeCapacity
from d0ctl.store.connection import Row, Store
from d0ctl.store.rows import make

N = TypeVar("N", Node, NodeCapacity)
T = TypeVar("T", bound=Struct)

LEASE = "daemon"
"""The lease of the daemon for `status` and `stop`."""

PROGRAM = Path(__file__)
"""A file that each installation of d0ctl writes."""


@cache
def boot_id() -> str:
    """Return the kernel's id of this boot of the machine."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return "unknown"


def start_time(pid: int) -> str | None:
    """Return when a process began, in clock ticks since boot; None if there is none.

    An ended process counts as none, even if its parent never collects it.
    """
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    fields = stat.rpartition(")")[2].split()
    return None if fields[0] in ("Z", "X") else fields[19]


def holder() -> str:
    """This process, as the holder of leases."""
    pid = os.getpid()
    return f"{boot_id()} {pid} {start_time(pid)}"


def process_id(name: str) -> int:
    """Return the process id of the holder of that name."""
    return int(name.split(" ")[1])


def began(name: str) -> float:
    """Return when the process of that name began; it must be of this boot of the machine."""
    booted = time.clock_gettime(time.CLOCK_REALTIME) - time.clock_gettime(time.CLOCK_BOOTTIME)
    return booted + int(name.rpartition(" ")[2]) / os.sysconf("SC_CLK_TCK")


def is_outdated(name: str, program: Path = PROGRAM) -> bool:
    """Return whether d0ctl was installed again since that process began, so it runs older code.

    Nobody knows that of a process of another installation. While d0ctl is being installed, its
    files are missing for a moment.
    """
    try:
        written = program.stat().st_mtime
    except FileNotFoundError:
        written = time.time()
    return written > began(name) and _has_this_python(process_id(name))


def _has_this_python(pid: int) -> bool:
    try:
        python = Path(os.fsdecode(Path(f"/proc/{pid}/cmdline").read_bytes().partition(b"\0")[0]))
    except OSError:
        return True
    return not python.is_absolute() or python.parent == Path(sys.executable).parent


def is_dead(name: str) -> bool:
    """Return whether the holder of that name is certainly gone."""
    boot, _, started = name.split(" ")
    return boot != boot_id() or start_time(process_id(name)) != started


def is_daemon_outdated(store: Store) -> bool:
    """Return whether d0ctl was installed again since its daemon began."""
    daemon = store.value("lease_holder", name=LEASE)
    return daemon is not None and not is_dead(daemon) and is_outdated(daemon)


def any_driver(store: Store) -> bool:
    """Return whether some process drives packages now: a daemon, or a `run`."""
    return any(not is_dead(row["holder"]) for row in store.rows("leases"))


def given_up(store: Store, node: int, since: float) -> float | None:
    """Return when packages of a node that is down since then count as lost; None without a driver.

    Each process waits for `unreachable-after` while it tries to reach the node itself.
    """
    leases = [row for row in store.rows("leases") if not is_dead(row["holder"])]
    if not leases:
        return None
    from d0ctl.store.nodes.site import default  # late: few nodes are down

    tried = [float(row["taken"]) for row in leases if row["name"] == f"node {node}"]
    return max([since, *tried]) + float(default(store, "unreachable-after"))


def last_heard(store: Store) -> float | None:
    """Return when any node was heard last if no process drives packages now; else None.

    Until then it is known that packages ran.
    """
    return None if any_driver(store) else store.value("last_contact")


def last_report(node: Node) -> float | None:
    """Return when a process that drove a node last heard it; a check says nothing of packages."""
    if node.state == "unknown" and node.since is not None and node.contact is not None:
        return min(node.contact, node.since)
    return node.contact


def known_until(store: Store, now: float) -> float:
    """Return until when it is known that packages ran: now if a process drives them."""
    last_contact = last_heard(store)
    return now if last_contact is None else min(now, last_contact)


def as_heard(store: Store, kind: type[T], rows: Iterable[Row]) -> list[T]:
    """Fill a structure with each row of a package or an attempt, as far as it is known."""
    known = unheard(store)
    return [make(kind, row, **known) for row in rows]


def unheard(store: Store) -> dict[str, Any]:
    """Return the fields that take the place of what packages have reported of their ends, if no
    process drives them: nobody knows whether they have ended since.
    """
    last_contact = last_heard(store)
    return {} if last_contact is None else {"last_heard": last_contact, "eta": None}


def job_lease(job: int) -> str:
    """Return the name of the lease of a process that drives only one job."""
    return f"job {job}"


def drives(store: Store, job: int) -> bool:
    """Return whether some process drives a job now: a daemon, or a `run` of it."""
    names = (LEASE, job_lease(job))
    return any(row["name"] in names and not is_dead(row["holder"]) for row in store.rows("leases"))


def dead_holders(store: Store) -> set[str]:
    """Return the holders of leases that are certainly gone."""
    holders = {row["holder"] for row in store.rows("leases")}
    return {name for name in holders if is_dead(name)}


def abandoned(store: Store) -> set[int]:
    """Return the nodes that were up when their driver was killed: nobody knows their state."""
    gone = dead_holders(store)
    return {row[0] for name in gone for row in store.rows("nodes_left_up", holder=name)}


def marked(store: Store, nodes: Sequence[N]) -> list[N]:
    """Return nodes as far as they are known: abandoned ones are not connected, since they were last
    heard. Without a driver, none that is down is tried again.
    """
    gone, is_driven = abandoned(store), any_driver(store)
    known = [_unknown(row) if row.id in gone else row for row in nodes]
    return known if is_driven else [_untried(row) for row in known]


def _untried(row: N) -> N:
    return replace(row, next_try=None) if isinstance(row, Node) else row


def _unknown(row: N) -> N:
    if isinstance(row, Node):
        return replace(row, state="unknown", since=row.contact or row.since)
    return replace(row, state="unknown")
