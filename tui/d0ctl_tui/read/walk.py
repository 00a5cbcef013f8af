"""From one package or task that needs a person to the next, in the order of the tree."""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from d0ctl.model import Phase
from d0ctl.store.connection import Store
from d0ctl.store.views import outline
from d0ctl.store.views.job_files.eta import Straggler
from d0ctl.store.views.shapes import PackageRow
from d0ctl.store.views.shapes.of_package import BinaryView
from d0ctl_tui.read.outline import Path
from d0ctl_tui.read.snapshot import Snapshot
from d0ctl_tui.read.tree_source import Row, Source

RUNNING = Phase.RUNNING
"""The phase of stragglers."""

FAR = 1 << 62


class Needs(Struct, frozen=True):
    """What needs a person in a job: packages in some phases, and its stragglers by id."""

    phases: Sequence[Phase]
    stragglers: Mapping[int, Straggler]


class WalkStart(Struct, frozen=True):
    """Where the walk begins: the selected row, and its position in the tree."""

    path: Path | None
    row: Row | None


def next_problem(
    source: Source, snapshot: Snapshot, here: WalkStart, *, forward: bool, by_group: bool = False
) -> Path | None:
    """Return the next one, across the end to the beginning; None if nothing needs a person.

    By group, it is the first of the next stage, phase, reason or message. The row of a task, by its
    job, is one of its own, as is that of a job whose files can't be transferred.
    """
    rows = {*snapshot.tasks, *snapshot.untransferred}
    package = _next_package(source, snapshot, here, forward=forward, by_group=by_group)
    found: list[Path] = [(at,) for at, job in enumerate(source.jobs) if job in rows]
    found += [package] if package else []
    begin = here.path or ()
    if forward:
        return min(found, key=lambda path: (path <= begin, path), default=None)
    return max(found, key=lambda path: (path < begin, path), default=None)


def _next_package(
    source: Source, snapshot: Snapshot, here: WalkStart, *, forward: bool, by_group: bool
) -> Path | None:
    """Return the next package, or the first of the next group."""
    needing, late = snapshot.needing_phases, snapshot.stragglers
    order = [job for job in source.jobs if job in needing or late.of(job)]
    if not order:
        return None
    job = source.jobs[here.path[0]] if here.path else order[0]
    at = _package_before(source, here, forward) if job in order else 0
    needs = {job: Needs(needing.get(job, ()), {each.id: each for each in late.of(job)})
             for job in order}  # fmt: skip
    search = _search_groups if by_group else _search
    found = source.ask(lambda store: search(store, needs, job, at, forward), None)
    return source.path_of(found) if found else None


def _package_before(source: Source, here: WalkStart, forward: bool) -> int:
    """Return the package after which the search begins, or before which."""
    if isinstance(here.row, PackageRow):
        return here.row.id
    if here.path and isinstance(here.row, BinaryView):
        parent = source.row(here.path[:-1])
        return parent.id if isinstance(parent, PackageRow) else 0
    first = source.ask(lambda store: _first(store, source, here.path or ()), None)
    if first is not None:
        return first - 1 if forward else first
    return 0 if forward else FAR


def _first(store: Store, source: Source, here: Path) -> int | None:
    """Return the first package below a row."""
    if len(here) < 2:
        return None
    job = source.jobs[here[0]]
    line = here[2] + 1 if len(here) > 2 else 1
    return outline.first_of_line(store, job, here[1] + 1, line)


def _search(
    store: Store, needs: Mapping[int, Needs], job: int, at: int, forward: bool
) -> outline.Place | None:
    """Search the rest of this job, the other jobs, and this one from its other end."""
    order = list(needs)
    start = order.index(job) if job in order else 0
    step = 1 if forward else -1
    edge = 0 if forward else FAR
    begin = at if job in order else edge
    round_trip = [order[(start + step * i) % len(order)] for i in range(len(order) + 1)]
    for index, id in enumerate(round_trip):
        after = begin if index == 0 else edge
        found = _beside(store, id, needs[id], after, forward)
        if found is not None:
            return outline.position(store, found)
    return None


def _beside(store: Store, job: int, needs: Needs, at: int, forward: bool) -> int | None:
    """Return the next package of a job after one, or the last one before it."""
    in_phase = outline.beside(store, job, needs.phases, at, forward=forward)
    found = [id for id in needs.stragglers if (id > at if forward else id < at)]
    found += [] if in_phase is None else [in_phase]
    return min(found, default=None) if forward else max(found, default=None)


def _search_groups(
    store: Store, needs: Mapping[int, Needs], job: int, at: int, forward: bool
) -> outline.Place | None:
    """Search the other groups of this job, the other jobs, and this one from its other end."""
    order = list(needs)
    start, step = order.index(job) if job in order else 0, 1 if forward else -1
    here = outline.group_of(store, at)
    for index in range(len(order) + 1):
        id = order[(start + step * index) % len(order)]
        groups = _groups(store, id, needs[id])
        firsts = sorted(groups.values())[::step]
        if index == 0 and job in order:
            is_usual = here is not None and here[1] == RUNNING and at not in needs[id].stragglers
            begin = at if here is None or is_usual else groups.get(here, at)
            firsts = [first for first in firsts if (first - begin) * step > 0]
        if firsts:
            return outline.position(store, firsts[0])
    return None


def _groups(store: Store, job: int, needs: Needs) -> dict[outline.Alike, int]:
    """Return the first package of each group; stragglers of a stage are one."""
    firsts: dict[outline.Alike, int] = {}
    for package in sorted(needs.stragglers.values(), key=lambda each: each.id):
        firsts.setdefault((package.stage, RUNNING, None, ""), package.id)
    return outline.groups(store, job, needs.phases) | firsts
