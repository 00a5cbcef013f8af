"""Pausing and resuming jobs and packages."""

from collections.abc import Iterable
from typing import NamedTuple

from d0ctl.store import lifecycle
from d0ctl.store.connection import Store


class Pausable(NamedTuple):
    """A number of selected packages in the same phase."""

    phase: str
    is_parked: bool
    """Whether a pause holds them."""
    is_asked: bool
    """Whether they were asked to pause and have not answered."""
    number: int


def pausable(store: Store) -> list[Pausable]:
    """Count the selected packages by the effect of pause and resume on them."""
    return [
        Pausable(row["phase"], bool(row["parked"]), bool(row["asked"]), row["n"])
        for row in store.rows("chosen_pausable")
    ]


def pause_jobs(
    store: Store, jobs: Iterable[int], *, running: bool, actor: str, note: str | None, now: float
) -> None:
    """Set the flag of jobs; `running` asks their running packages to suspend."""
    ids = list(jobs)
    for job in ids:
        store.change("pause_job", job=job, running=int(running), actor=actor, note=note, now=now)
        store.change("unassign_job", job=job, actor=actor, note=note, now=now)
    lifecycle.choose_launched(store, ids)
    if running:
        store.change("ask_to_pause", actor=actor, note=note, now=now)


def pause(store: Store, *, running: bool, actor: str, note: str | None, now: float) -> None:
    """Pause the selected packages; `running` asks running ones to suspend."""
    store.change("park_packages", actor=actor, note=note, now=now)
    if running:
        store.change("ask_to_pause", actor=actor, note=note, now=now)


def resume_jobs(
    store: Store, jobs: Iterable[int], *, actor: str, note: str | None, now: float
) -> None:
    """Clear the flag of jobs, and ask their suspended packages to continue."""
    ids = list(jobs)
    for job in ids:
        store.change("resume_job", job=job)
    lifecycle.choose_launched(store, ids)
    store.change("ask_to_resume", actor=actor, note=note, now=now)


def resume(store: Store, *, actor: str, note: str | None, now: float) -> None:
    """Release the selected packages that a pause holds, and ask suspended ones to continue."""
    store.change("unpark_packages", actor=actor, note=note, now=now)
    store.change("reopen_jobs")
    store.change("ask_to_resume", actor=actor, note=note, now=now)
