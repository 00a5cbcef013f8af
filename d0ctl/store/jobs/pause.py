"""Pausing and resuming jobs and packages."""

import json
from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from d0ctl.model import ACTOR
from d0ctl.policy.remarks import Remark
from d0ctl.store import lifecycle
from d0ctl.store.connection import Selection, Store
from d0ctl_wrapper.protocol.text import PAUSED


class Pausable(NamedTuple):
    """A number of selected packages in the same phase."""

    phase: str
    is_parked: bool
    """Whether a pause holds them."""
    is_asked: bool
    """Whether they were asked to pause."""
    number: int


def pausable(selected: Selection) -> list[Pausable]:
    """Count the selected packages by the effect of pause and resume on them."""
    return [
        Pausable(row["phase"], bool(row["parked"]), bool(row["asked"]), row["n"])
        for row in selected.rows("selected_pausable", paused=PAUSED)
    ]


def keep(selected: Selection, kinds: Iterable[Pausable]) -> None:
    """Keep only packages of these kinds in the selection."""
    named = [[kind.phase, int(kind.is_parked), int(kind.is_asked)] for kind in kinds]
    selected.change("keep_pausable", kinds=json.dumps(named), paused=PAUSED)


def guarded(selected: Selection) -> Counter[str]:
    """Count the selected packages that stay suspended after a resume, by the cause on their node.

    A wrapper reports its causes, and at the end how it suspended the package.
    """
    found: Counter[str] = Counter()
    for row in selected.rows("suspended_notes"):
        for cause in [text for text in row["note"].split("; ")[:-1] if text != PAUSED][:1]:
            found[cause] += row["n"]
    return found


def left_suspended(store: Store) -> dict[str, int]:
    """Count by job the packages that a person suspended, in jobs that are not paused."""
    return {row["name"]: row["n"] for row in store.rows("left_suspended")}


def pause_jobs(
    store: Store,
    jobs: Iterable[int],
    *,
    running: bool,
    actor: str,
    note: str | None,
    now: float,
    until: float | None = None,
) -> None:
    """Set the flag of jobs, perhaps until a time; `running` asks running packages to suspend."""
    ids = list(jobs)
    for job in ids:
        if store.value("adds_to_pause", job=job, running=int(running), until=until):
            store.change("keep_pause", job=job, now=now)
            store.change(
                "pause_job",
                job=job,
                running=int(running),
                actor=actor,
                note=note,
                until=until,
                now=now,
            )
        store.change("unassign_job", job=job, actor=actor, note=note, now=now)
    selected = lifecycle.choose_launched(store, ids)
    if running:
        selected.change("ask_to_pause", actor=actor, note=note, now=now)


def pause(selected: Selection, *, running: bool, actor: str, note: str | None, now: float) -> None:
    """Pause the selected packages; `running` asks running ones to suspend."""
    lifecycle.hold(selected, actor=actor, note=note, now=now, parked=True)
    if running:
        selected.change("ask_to_pause", actor=actor, note=note, now=now)


def resume_jobs(
    store: Store, jobs: Iterable[int], *, actor: str, note: str | None, now: float
) -> None:
    """Clear the flag of jobs, and ask their suspended packages to continue."""
    ids = list(jobs)
    for job in ids:
        store.change("keep_pause", job=job, now=now)
        store.change("resume_job", job=job)
    selected = lifecycle.choose_launched(store, ids)
    selected.change("ask_to_resume", actor=actor, note=note, now=now)


def resume_due(store: Store, *, now: float) -> list[str]:
    """Resume the jobs whose pause is over; return their names."""
    names, note = [], Remark.PAUSE_OVER.value
    for row in store.rows("pauses_over", now=now):
        resume_jobs(store, [row["id"]], actor=ACTOR, note=note, now=now)
        lifecycle.keep_action(
            store,
            verb="resume",
            target=row["name"],
            actor=ACTOR,
            note=note,
            packages=0,
            now=now,
            undo=f"d0ctl pause {row['name']}{' --running' * row['pause_running']}",
        )
        names.append(row["name"])
    return names


def resume(selected: Selection, *, actor: str, note: str | None, now: float) -> None:
    """Release the selected packages that a pause holds, and ask suspended ones to continue."""
    selected.change("unpark_packages", actor=actor, note=note, now=now)
    selected.change("name_cooloff_again")
    selected.change("reopen_jobs")
    selected.change("ask_to_resume", actor=actor, note=note, now=now)
