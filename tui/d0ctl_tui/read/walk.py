"""From one package that needs a person to the next, in the order of the tree."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from d0ctl.model import Phase
from d0ctl.store import outline
from d0ctl.store.connection import Store
from d0ctl.store.views import PackageRow
from d0ctl_tui.draw.outline import Path

if TYPE_CHECKING:
    from d0ctl_tui.app import Dashboard
    from d0ctl_tui.widgets.tree import Tree

PHASES = (Phase.FAILED, Phase.HELD, Phase.UNREACHABLE)

STALLED = (Phase.WAITING,)
"""Where the walk stops in a job in which nothing moves, and nothing has failed."""

FAR = 1 << 62


def next_trouble(board: "Dashboard", tree: "Tree", *, forward: bool) -> Path | None:
    """Where the next is, over the end to the beginning; None where nothing needs a person."""
    troubled = board.beat.troubled
    order = [job for job in board.source.jobs if job in troubled]
    if not order:
        return None
    here = tree.chosen
    row = tree.chosen_row
    job = board.source.jobs[here[0]] if here else order[0]
    at = _package_before(board, here, row, forward) if job in order else 0
    phases = {job: PHASES if troubled[job].keys() & set(PHASES) else STALLED for job in order}
    found = board.source.ask(lambda store: _search(store, phases, job, at, forward), None)
    return board.source.path_of(found) if found else None


def _package_before(board: "Dashboard", here: Path | None, row: object, forward: bool) -> int:
    """The package after which the search begins, or before which."""
    if isinstance(row, PackageRow):
        return row.id
    if here and len(here) == 5:
        parent = board.source.row(here[:4])
        return parent.id if isinstance(parent, PackageRow) else 0
    first = board.source.ask(lambda store: _first(store, board, here or ()), None)
    if first is not None:
        return first - 1 if forward else first
    return 0 if forward else FAR


def _first(store: Store, board: "Dashboard", here: Path) -> int | None:
    """The first package below a row."""
    if len(here) < 2:
        return None
    job = board.source.jobs[here[0]]
    line = here[2] + 1 if len(here) > 2 else 1
    found: int | None = store.value("outline_first_below", job=job, stage=here[1] + 1, line=line)
    return found


def _search(
    store: Store, phases: Mapping[int, Sequence[Phase]], job: int, at: int, forward: bool
) -> outline.Place | None:
    """In the rest of this job, in the other jobs, and in this one from its other end."""
    order = list(phases)
    start = order.index(job) if job in order else 0
    step = 1 if forward else -1
    edge = 0 if forward else FAR
    begin = at if job in order else edge
    round_trip = [order[(start + step * i) % len(order)] for i in range(len(order) + 1)]
    for index, one in enumerate(round_trip):
        after = begin if index == 0 else edge
        found = outline.beside(store, one, phases[one], after, forward=forward)
        if found is not None:
            return outline.place(store, found)
    return None
