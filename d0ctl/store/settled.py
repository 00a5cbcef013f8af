"""Whether anything of a job can still move without a person, and if not, what is in the way."""

from collections.abc import Iterable
from dataclasses import dataclass

from d0ctl.format import count, listed
from d0ctl.model import MOVING, Counts, Phase
from d0ctl.schedule.place import Demand
from d0ctl.store import needed
from d0ctl.store.connection import Store
from d0ctl.store.fitting import MOST_NAMED, Nodes
from d0ctl.store.schedule import counts_of, demands

IDLE_WHEN_HELD = frozenset({Phase.READY, Phase.COOLOFF, Phase.SUSPENDED})
"""Packages of a held or paused job that do not move before it is released or resumed."""

_Phases = frozenset[Phase] | set[Phase]


@dataclass(frozen=True, slots=True)
class Standstill:
    """Nothing can move without a person; `reason` says why where the status does not."""

    reason: str | None = None


def is_settled(store: Store, job: int, part: Counts | None = None, *, now: float = 0.0) -> bool:
    """Return whether nothing in a job, or in a part with these counts, can move by itself."""
    return find(store, job, part, now=now) is not None


def find(store: Store, job: int, part: Counts | None = None, *, now: float) -> Standstill | None:
    """Return the standstill of a job, or of a part with these counts; None if it can move."""
    whole = counts_of(store, job)
    counts = whole if part is None else part
    is_held = store.row("is_held", job=job) is not None
    moving = MOVING - {Phase.HELD} - (IDLE_WHEN_HELD if is_held else set())
    reason = None
    if whole.get("ready") and not is_held and not _moves(store, job, whole, moving - {Phase.READY}):
        reason = _no_node(store, demands(store, job), now)
        moving -= {Phase.READY} if reason else set()
    if _moves(store, job, whole, moving) and any(counts.get(phase) for phase in moving):
        return None
    if counts.get(Phase.HELD) and not is_held and store.row("releases_to_come", job=job):
        return None
    if not counts.get("waiting") and not any(counts.get(phase) for phase in moving):
        return Standstill(reason)
    if _moves(store, job, whole, moving):
        return None
    others = _others(store, job, now)
    return None if others is None else Standstill(reason or others.reason)


def _others(store: Store, job: int, now: float) -> Standstill | None:
    """Return the standstill of packages of other jobs that a job waits for; None if one can move.

    If there are none, nothing comes from outside either.
    """
    needed.find(store, job)
    rows = store.rows("needed_phases")
    for row in rows:
        is_idle = row["is_held"] and row["phase"] in IDLE_WHEN_HELD
        if row["phase"] in MOVING - {Phase.HELD, Phase.READY} and not is_idle:
            return None
        if row["phase"] == Phase.HELD and row["releases"]:
            return None
    if ready := needed.demands(store):
        reason = _no_node(store, ready, now)
        return Standstill(reason) if reason else None
    if kept := sorted({row["job"] for row in rows if row["is_held"]}):
        names = listed(f"`{name}`" for name in kept[:MOST_NAMED])
        are = "is" if len(kept) == 1 else "are"
        return Standstill(f"it waits for files of {names}, which {are} held or paused")
    return Standstill()


def _no_node(store: Store, asked: Iterable[Demand], now: float) -> str | None:
    """Return why no node takes any of these ready packages; None if one may."""
    nodes = Nodes(store, now=now)
    packages = 0
    reasons: dict[str, str] = {}
    for demand in asked:
        absences = nodes.absences(demand)
        if absences is None:
            return None
        packages += demand.ready
        reasons.update(absences)
    if not reasons:
        return "there is no node at all"
    named = [f"`{name}` {why}" for name, why in list(reasons.items())[:MOST_NAMED]]
    more = len(reasons) - MOST_NAMED
    told = listed([*named, f"{more:,} more nodes"] if more > 0 else named)
    are = count(packages, "package is", "packages are")
    return f"{are} ready, and no node can take them: {told}"


def _moves(store: Store, job: int, counts: Counts, moving: _Phases) -> bool:
    """Return whether anything of a job moves; a package that only awaits inputs does not."""
    total = sum(counts.get(phase, 0) for phase in moving)
    return total > 0 and total > int(store.value("count_open", job=job))
