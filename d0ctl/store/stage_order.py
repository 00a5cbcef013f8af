"""Stages that begin after others: their lines are released, a few at a time."""

import json
from collections.abc import Mapping, Sequence

from d0ctl.model import Phase
from d0ctl.store.connection import Row, Selection, Store

STILL = frozenset({Phase.WAITING, Phase.DONE, Phase.FAILED, Phase.CANCELED, Phase.DROPPED})
"""The phases of packages in a job in which nothing moves."""

MOST = 20_000
"""The most lines that are released in one transaction."""


def open_stages(store: Store, *, now: float) -> None:
    """waiting -> ready, for stages that come after others which have succeeded."""
    for row in store.rows("openable_stages"):
        store.change("open_stage", stage=row["stage_id"], after=row["after_id"])
    if _release(store):
        store.change("release_packages", now=now)


def open_final(store: Store, job: int, *, now: float) -> bool:
    """waiting -> ready, for the final stages of a job of which nothing else can move.

    Return whether there are any that had not begun. Inputs that do not exist are omitted.
    """
    stages = store.rows("final_stages", job=job)
    for row in stages:
        store.change("open_stage", stage=row["stage_id"], after=row["after_id"])
        store.change("leave_out_absent", stage=row["stage_id"])
    if stages:
        _release(store)
        store.change("release_packages", now=now)
    return bool(stages)


def begin_final(selected: Selection, *, now: float) -> None:
    """waiting -> ready, for final stages of the jobs of selected packages if nothing else moves."""
    store = selected.store
    for row in selected.rows("jobs_with_closed_final"):
        counts = {each["phase"]: each["n"] for each in store.rows("job_counts", job=row["job_id"])}
        if begins_final(store, row["job_id"], counts):
            open_final(store, row["job_id"], now=now)


def begins_final(store: Store, job: int, counts: Mapping[str, int]) -> bool:
    """Return whether a job with these counts of phases is about to begin a final stage."""
    return (
        STILL.issuperset(phase for phase, number in counts.items() if number)
        and bool(store.rows("final_stages", job=job))
        and store.row("waits_for_outside", job=job) is None
    )


def goes_on(store: Store, job: int) -> bool:
    """Return whether a job in which nothing moves waits for other jobs, or begins a final stage."""
    about = {"job": job}
    return bool(store.row("waits_for_outside", **about) or store.row("final_stages", **about))


def close_final(selected: Selection, phases: Sequence[Phase]) -> None:
    """Let the final stages of selected packages in these phases, which run again, wait as before.

    They read again what did not exist when they began.
    """
    says = json.dumps(list(phases))
    selected.change("read_absent_again", phases=says)
    selected.change("hold_back_final_lines", phases=says)
    selected.change("close_final_stages", phases=says)


def _release(store: Store) -> int:
    """Release lines of the stages that may begin; return how many."""
    number = 0
    for row in store.rows("opening_stages"):
        upto = min(row["lines"], row["released"] + MOST - number)
        part = {"stage": row["stage_id"], "upto": upto}
        store.change("release_lines", released=row["released"], **part)
        store.change("keep_released", after=row["after_id"], **part)
        number += upto - row["released"]
    return number


def final_counts(store: Store, job: int | None = None) -> dict[int, dict[str, int]]:
    """Return how many packages of the final stages of jobs, or of one, are in each phase."""
    counts: dict[int, dict[str, int]] = {}
    for row in store.rows("final_counts", job=job):
        counts.setdefault(row["job_id"], {})[row["phase"]] = row["n"]
    return counts


def jobs_with_open_lines(store: Store, job: int | None = None) -> list[Row]:
    """Return the jobs, or this one, that wait for lines of late groups which can be made now."""
    return store.rows("jobs_with_open_lines", job=job)
