"""Stages that continue with a part of their inputs, by `require` (InGrid).

Once a stage has stopped, its lines that did not succeed are dropped, if every stage that
reads from them requires no more than was reached. Dropped packages do not count.
"""

from collections.abc import Mapping

from d0ctl.model import ACTOR, MOVING
from d0ctl.store import lifecycle
from d0ctl.store.connection import Row, Selection, Store
from d0ctl.store.views import browse

_Counts = Mapping[str, int]


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
        if any(counts.get(phase) for phase in MOVING):
            store.change("forget_weight", stage=stage["id"])
            moves_before = True
        elif (
            stage["weighed"] is None
            and not _may_move(store, job, stage, counts, moves_before)
            and _weigh(store, job, stage, counts, now)
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
    if part < 1.0 and part >= job["least"]:
        selected = store.select()
        selected.change("choose_unsuccessful", job=job["id"], stage=stage["id"])
        while selected.change("spare_lines", reached=part) > 0:
            pass
        if lines := int(selected.value("count_selected_lines")):
            _drop(selected, job, stage, lines, part, now)
            return True
    store.change("weigh_stage", stage=stage["id"], now=now)
    return False


def _drop(selected: Selection, job: Row, stage: Row, lines: int, part: float, now: float) -> None:
    requested = lifecycle.line_ids(selected)
    lifecycle.choose_without_inputs(selected)
    note = (
        f"{part:.1%} of stage `{stage['name']}` is successful, and that is enough for its readers"
    )
    packages = sum(n for phase, n in lifecycle.phases(selected).items() if phase != "done")
    lifecycle.drop(selected, requested, actor=None, note=note, now=now)
    path = f"{job['name']}/{stage['seq']}"
    lifecycle.keep_action(
        selected.store, verb="require", target=path, actor=ACTOR, packages=packages, now=now,
        note=f"{note}: {lines} line{'s' if lines > 1 else ''} dropped",
        undo=f"d0ctl restore-line '{path}/*'",
    )  # fmt: skip
