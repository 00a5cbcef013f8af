"""Stages that continue with a part of their inputs, by `require` (InGrid).

Once a stage has stopped, its lines that did not succeed are dropped, if every stage that
reads from them requires no more than was reached. Dropped packages do not count.
"""

from collections.abc import Mapping
from typing import NamedTuple

from d0ctl.model import ACTOR, can_move
from d0ctl.select.condense import condense
from d0ctl.store import lifecycle
from d0ctl.store.connection import Row, Selection, Store
from d0ctl.store.views import browse

_Counts = Mapping[str, int]

MOST_NAMED = 20
"""How many selectors of lines a command names."""


def continue_stages(store: Store, *, now: float) -> None:
    """Check the stages that have stopped, or have fewer lines or readers, since the last time."""
    for job in store.rows("lenient_jobs"):
        while _drops(store, job, now):
            pass


def _drops(store: Store, job: Row, now: float) -> bool:
    """Check the stages of a job in order; return whether lines of one were dropped."""
    moves_before = False
    for stage in store.rows("weighable_stages", job=job["id"]):
        counts = browse.stage_counts(store, job["id"]).get(stage["id"], {})
        if can_move(counts):
            store.change("forget_weight", stage=stage["id"])
            moves_before = True
        elif stage["weighed"] is not None:
            if moves_before and counts.get("waiting"):  # for files of restored lines, perhaps
                store.change("forget_weight", stage=stage["id"])
        elif not _may_move(store, job, stage, counts, moves_before) and _weigh(
            store, job, stage, counts, now
        ):
            return True
    return False


def _may_move(store: Store, job: Row, stage: Row, counts: _Counts, moves_before: bool) -> bool:
    """Return whether something in a stage still waits for a file that may come."""
    if not counts.get("waiting"):
        return False
    if moves_before:
        return True
    return reached(counts) >= job["least"] and bool(
        store.row("stage_waits_for_outside", job=job["id"], stage=stage["id"])
    )


def reached(counts: _Counts) -> float:
    """Return the fraction of packages, without dropped ones, that has succeeded."""
    total = sum(counts.values()) - counts.get("dropped", 0)
    return (counts.get("done", 0) + counts.get("transferring", 0)) / total if total else 1.0


def _weigh(store: Store, job: Row, stage: Row, counts: _Counts, now: float) -> bool:
    """Return whether lines were dropped, so that each stage is compared again."""
    part = reached(counts)
    selected = _unneeded(store, job, stage, part)
    if selected is not None and (lines := int(selected.value("count_selected_lines"))):
        _drop(selected, job, stage, lines, part, now)
        return True
    store.change("weigh_stage", stage=stage["id"], now=now)
    return False


def _unneeded(store: Store, job: Row, stage: Row, part: float) -> Selection | None:
    """Select the lines of a stage without which all its readers continue; None if it has too few
    successes for any reader, or needs no drop.
    """
    if not job["least"] <= part < 1.0:
        return None
    selected = store.select()
    selected.change("choose_unsuccessful", job=job["id"], stage=stage["id"])
    while selected.change("spare_lines", reached=part) > 0:
        pass
    return selected


def _drop(selected: Selection, job: Row, stage: Row, lines: int, part: float, now: float) -> None:
    requested = lifecycle.line_ids(selected)
    lifecycle.choose_without_inputs(selected)
    note = _reason(part, stage)
    packages = sum(n for phase, n in lifecycle.phases(selected).items() if phase != "done")
    lifecycle.drop(selected, requested, actor=None, note=note, now=now)
    path = f"{job['name']}/{stage['seq']}"
    lifecycle.keep_action(
        selected.store, verb="require", target=path, actor=ACTOR, packages=packages, now=now,
        note=f"{note}: {lines} line{'s' if lines > 1 else ''} dropped",
        undo=f"d0ctl restore-line '{path}/*'",
    )  # fmt: skip


def _reason(part: float, stage: Row) -> str:
    name = stage["name"]
    return f"{part:.1%} of stage `{name}` is successful, and that is enough for its readers"


class Enough(NamedTuple):
    """A stage of which other lines are dropped after a drop, so that some packages can start."""

    reason: str
    lines: int
    starting: int
    paths: tuple[str, ...]
    """Selectors for exactly these lines, unless they are too many for a command."""


def enough_without(selected: Selection) -> tuple[Selection, tuple[Enough, ...]]:
    """Return the first such stage of each job if the selected packages are dropped, and the same
    selection, as the one before can't be used any more.
    """
    jobs = selected.rows("lenient_jobs_of_selected")
    if not jobs:
        return selected, ()
    store, packages = selected.store, {row[0] for row in selected.rows("selected_ids")}
    later = dict[int, dict[int, dict[str, int]]]()
    for job in jobs:
        later[job["id"]] = browse.stage_counts(store, job["id"])
        for row in selected.rows("selected_by_stage", job=job["id"]):
            later[job["id"]][row["stage_id"]][row["phase"]] -= row["n"]
    found = [_first_enough(store, job, packages, later[job["id"]]) for job in jobs]
    return store.select(packages), tuple(filter(None, found))


def _first_enough(
    store: Store, job: Row, packages: set[int], later: Mapping[int, _Counts]
) -> Enough | None:
    moves_before = False
    for stage in store.rows("weighable_stages", job=job["id"]):
        counts = later.get(stage["id"], {})
        if can_move(counts):
            moves_before = True
        elif not _may_move(store, job, stage, counts, moves_before):
            part = reached(counts)
            unneeded = _unneeded(store, job, stage, part)
            others = {row[0] for row in unneeded.rows("selected_ids")} if unneeded else set()
            if others := others - packages:
                dropped = store.select(others)
                lines = int(dropped.value("count_selected_lines"))
                paths = condense(lifecycle.paths_of_lines(dropped, dropped=False))
                named = tuple(map(str, paths)) if len(paths) <= MOST_NAMED else ()
                everything = store.select(packages | others)
                lifecycle.choose_without_inputs(everything)
                starting = sum(row["starts"] for row in lifecycle.losing(everything))
                return Enough(_reason(part, stage), lines, starting, named)
    return None
