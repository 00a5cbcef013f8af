"""From one package or task that needs a person to the next, in the order of the tree."""

from collections.abc import Collection, Mapping, Sequence

from msgspec import Struct

from d0ctl.model import Phase
from d0ctl.store.connection import Store
from d0ctl.store.views import outline
from d0ctl.store.views.shapes import PackageRow
from d0ctl.store.views.shapes.of_package import BinaryView
from d0ctl_tui.read.outline import Path
from d0ctl_tui.read.tree_source import Row, Source

STALLED = (Phase.WAITING,)
"""Phases at which the walk stops in a job if nothing moves, and nothing else needs a person."""

FAR = 1 << 62


class WalkStart(Struct, frozen=True):
    """Where the walk begins: the selected row, and its position in the tree."""

    path: Path | None
    row: Row | None


def next_problem(
    source: Source,
    needing: Mapping[int, Mapping[str, int]],
    tasks: Collection[int],
    here: WalkStart,
    *,
    forward: bool,
    by_group: bool = False,
) -> Path | None:
    """Return the next one, across the end to the beginning; None if nothing needs a person.

    By group, it is the first of the next stage, phase or reason. The row of a task, by its job, is
    one of its own.
    """
    package = _next_package(source, needing, here, forward=forward, by_group=by_group)
    found: list[Path] = [(at,) for at, job in enumerate(source.jobs) if job in tasks]
    found += [package] if package else []
    begin = here.path or ()
    if forward:
        return min(found, key=lambda path: (path <= begin, path), default=None)
    return max(found, key=lambda path: (path < begin, path), default=None)


def _next_package(
    source: Source,
    needing: Mapping[int, Mapping[str, int]],
    here: WalkStart,
    *,
    forward: bool,
    by_group: bool,
) -> Path | None:
    """Return the next package, or the first of the next group."""
    order = [job for job in source.jobs if job in needing]
    if not order:
        return None
    job = source.jobs[here.path[0]] if here.path else order[0]
    at = _package_before(source, here, forward) if job in order else 0
    phases = {job: _phases(needing[job]) for job in order}
    search = _search_groups if by_group else _search
    found = source.ask(lambda store: search(store, phases, job, at, forward), None)
    return source.path_of(found) if found else None


def _phases(needing: Mapping[str, int]) -> Sequence[Phase]:
    """Return at which phases the walk stops in a job."""
    found = [Phase(phase) for phase in needing if phase != Phase.WAITING]
    return found or STALLED


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
    store: Store, phases: Mapping[int, Sequence[Phase]], job: int, at: int, forward: bool
) -> outline.Place | None:
    """Search the rest of this job, the other jobs, and this one from its other end."""
    order = list(phases)
    start = order.index(job) if job in order else 0
    step = 1 if forward else -1
    edge = 0 if forward else FAR
    begin = at if job in order else edge
    round_trip = [order[(start + step * i) % len(order)] for i in range(len(order) + 1)]
    for index, id in enumerate(round_trip):
        after = begin if index == 0 else edge
        found = outline.beside(store, id, phases[id], after, forward=forward)
        if found is not None:
            return outline.position(store, found)
    return None


def _search_groups(
    store: Store, phases: Mapping[int, Sequence[Phase]], job: int, at: int, forward: bool
) -> outline.Place | None:
    """Search the other groups of this job, the other jobs, and this one from its other end."""
    order = list(phases)
    start, step = order.index(job) if job in order else 0, 1 if forward else -1
    here = outline.group_of(store, at)
    for index in range(len(order) + 1):
        id = order[(start + step * index) % len(order)]
        groups = outline.groups(store, id, phases[id])
        firsts = list(groups.values())[::step]
        if index == 0 and job in order:
            begin = groups.get(here, at) if here is not None else at
            firsts = [first for first in firsts if (first - begin) * step > 0]
        if firsts:
            return outline.position(store, firsts[0])
    return None
