"""Changes of phases: a set-based function for each, over the selected packages."""

import enum
import json
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from d0ctl.store import input_stream
from d0ctl.store.connection import Row, Selection, Store


class PackageRequest(enum.StrEnum):
    """What a package was asked to do, until it has done it: its column `request`."""

    PAUSE = "pause"
    RESUME = "resume"
    RESUBMIT = "resubmit"
    KILL = "kill"
    KILL_PARTIAL = "kill partial"
    """End, and keep the outputs so far."""
    KILL_NOW = "kill now"
    DROP = "drop"
    DROP_NOW = "drop now"


DROPS = frozenset({PackageRequest.DROP, PackageRequest.DROP_NOW})
AT_ONCE = frozenset({PackageRequest.KILL_NOW, PackageRequest.DROP_NOW})
"""The requests that leave a package no time to end by itself."""


class UnreadFiles(NamedTuple):
    """A number of files that no package is to read, and the first ones, as JOB:NAME."""

    number: int
    first: tuple[str, ...]


NONE_UNREAD = UnreadFiles(0, ())


def choose_launched(store: Store, jobs: Iterable[int]) -> Selection:
    """Select the launched packages of jobs."""
    selected = store.select()
    for job in jobs:
        selected.change("choose_launched", job=job)
    return selected


def paths(selected: Selection, limit: int) -> list[tuple[str, str]]:
    """Return path and phase of the first selected packages."""
    return [(row["path"], row["phase"]) for row in selected.rows("selected_paths", limit=limit)]


def paths_in(selected: Selection, phases: Iterable[str], limit: int) -> list[str]:
    """Return the paths of the first selected packages in some phases."""
    wanted = json.dumps([*phases])
    rows = selected.rows("selected_paths_in_phases", phases=wanted, limit=limit)
    return [row["path"] for row in rows]


def phases(selected: Selection) -> dict[str, int]:
    """Count the selected packages by phase."""
    return {row["phase"]: row["n"] for row in selected.rows("selected_by_phase")}


def lines(selected: Selection) -> Row:
    """Return whether a line of the selected packages is dropped, and whether one is not."""
    row = selected.row("selected_lines")
    assert row is not None
    return row


def paths_of_lines(selected: Selection, *, dropped: bool) -> list[str]:
    """Return the paths of the lines of the selected packages that are dropped, or are not."""
    rows = selected.rows("positions_of_lines", dropped=int(dropped))
    return [f"{row['job']}/{row['stage']}/{row['line']}" for row in rows]


def hold_job(store: Store, job: int, *, actor: str, note: str | None, now: float) -> bool:
    """Keep a whole job from being scheduled: one flag, whatever its size."""
    store.change("unassign_job", job=job, actor=actor, note=note, now=now)
    return bool(store.change("hold_job", job=job, actor=actor, note=note, now=now))


def release_job(store: Store, job: int, *, now: float) -> bool:
    """Remove the flag of `hold_job`; its failures are counted from zero again."""
    store.change("forget_alike_of_job", job=job)
    store.change("excuse_failures_of_job", job=job)
    store.change("keep_hold", job=job, now=now)
    return bool(store.change("release_job", job=job))


def hold(
    selected: Selection, *, actor: str, note: str | None, now: float, parked: bool = False
) -> int:
    """not launched -> held, if they are `parked` until they are resumed; return how many."""
    return selected.change("hold_packages", actor=actor, note=note, now=now, parked=int(parked))


def release(selected: Selection, *, actor: str, note: str | None, now: float) -> int:
    """held -> ready or waiting, or back to its cool-off; return how many."""
    released = selected.change("release_held_packages", actor=actor, note=note, now=now)
    selected.change("name_cooloff_again")
    selected.change("reopen_jobs")
    return released


def set_priority(store: Store, job: int, priority: int) -> None:
    """Set the priority of a job; the scheduler follows it."""
    store.change("set_priority", job=job, priority=priority)


def priorities(selected: Selection) -> list[int]:
    """Return the different priorities of the selected packages."""
    return [row[0] for row in selected.rows("priorities_of_selected")]


def give_priority(selected: Selection, priority: int) -> None:
    """Give the selected packages a priority of their own."""
    for row in selected.rows("selected_requirements"):
        same = {name: row[name] for name in ("memory", "avoid", "boost", "failed_on", "stay")}
        wanted = {"requirement": row["id"], "priority": priority, **same}
        new = selected.value("requirement_like", **wanted)
        new = new or selected.value("make_requirement_like", **wanted)
        selected.change("change_requirement", old=row["id"], new=new)


def kill(
    selected: Selection, *, actor: str, note: str | None, now: float, partial: bool = False
) -> int:
    """not launched -> canceled, launched -> killing; return how many. Ended ones stay as they are.

    With `partial` usable outputs are kept. Without it, packages that are being killed end sooner.
    """
    # First, or packages that this call kills would lose their grace.
    hastened = 0 if partial else selected.change("hasten_killing")
    idle = selected.change("kill_idle_packages", actor=actor, note=note, now=now)
    request = PackageRequest.KILL_PARTIAL if partial else PackageRequest.KILL
    launched = selected.change(
        "kill_launched_packages", actor=actor, note=note, now=now, request=request
    )
    selected.change("end_canceled_attempts", now=now)
    selected.change("cancel_transfers")
    if idle + launched:
        selected.change("reopen_jobs")
    return idle + launched + hastened


def cancel_failed(selected: Selection, *, actor: str, note: str | None, now: float) -> None:
    """failed -> canceled."""
    selected.change("cancel_failed_packages", actor=actor, note=note, now=now)


def hastenable(selected: Selection) -> int:
    """Count the selected packages that are being killed and could end sooner."""
    return int(selected.value("count_hastenable"))


def cancel_idle(selected: Selection, *, actor: str, note: str | None, now: float) -> int:
    """not launched -> canceled; return how many. Launched packages continue."""
    selected.change("keep_idle")
    canceled = selected.change("kill_idle_packages", actor=actor, note=note, now=now)
    if canceled:
        selected.change("reopen_jobs")
    return canceled


def line_ids(selected: Selection) -> tuple[int, ...]:
    """Return the lines of the selection by their ids."""
    return tuple(row[0] for row in selected.rows("lines_of_selected"))


def choose_without_inputs(selected: Selection) -> None:
    """Add to the selection, repeatedly, the packages that a drop leaves without inputs."""
    while selected.change("choose_without_inputs") > 0:
        pass


def is_awaited(selected: Selection) -> bool:
    """Return whether packages outside the selection wait for it."""
    return bool(selected.value("is_selection_awaited"))


def losing(selected: Selection) -> list[Row]:
    """Return the packages that lose an input by a drop and may continue without it."""
    return selected.rows("choose_losing")


def launched_readers(selected: Selection) -> list[Row]:
    """Return the first launched packages that go on with files that a drop removes."""
    return selected.rows("launched_readers")


def left_unread(selected: Selection) -> UnreadFiles:
    """Return the inputs that are removed if the selected packages are dropped."""
    rows = selected.rows("left_unread")
    return UnreadFiles(rows[0]["number"] if rows else 0, tuple(row["name"] for row in rows))


def files(selected: Selection, limit: int, *, dropped: bool) -> tuple[str, ...]:
    """Return the first outputs of the selected packages that are dropped, or that are not.

    A drop removes these from all inputs, and `restore-line` brings those back.
    """
    rows = selected.rows("files_of_selected", limit=limit, dropped=int(dropped))
    return tuple(row[0] for row in rows)


def count_files(selected: Selection, *, dropped: bool) -> int:
    """Count the outputs of the selected packages that are dropped, or that are not."""
    return int(selected.value("count_files_of_selected", dropped=int(dropped)))


def drop(selected: Selection, requested: Sequence[int] = (), *, actor: str | None,
         note: str | None, now: float) -> None:  # fmt: skip
    """Drop the selected packages with their outputs (D0 Job Definition, section 5).

    Successful packages stay successful; only their outputs are removed from the lists, and packages
    that have succeeded with these are out of date. The
    `requested` lines are dropped by name, others because an input of theirs is missing.
    """
    # Assigned packages become ready first: a list of inputs is cut only before it is launched.
    selected.change("unassign_readers_of_selected", actor=actor, note=note, now=now)
    selected.change("drop_inputs")
    if selected.change("drop_open_inputs"):
        input_stream.close_input_lists(selected)
    # The lists are cut by now, so `missing` says which packages have lost all existing ones.
    selected.change("wait_for_first", actor=actor, note=note, now=now)
    selected.change("drop_files")
    selected.change("outdate_readers")
    excused = selected.change("excuse_lacking") + selected.change("excuse_lacking_elsewhere")
    if excused:
        while selected.change("forget_outdated_by_makers"):
            pass
    selected.change("drop_lines", requested=json.dumps(requested), now=now)
    selected.change("drop_idle_packages", actor=actor, note=note, now=now)
    selected.change("kill_launched_packages", actor=actor, note=note, now=now,
                    request=PackageRequest.DROP)  # fmt: skip
    selected.change("drop_killing_packages")
    # Of packages that are dropped by now, attempts out of contact no longer count.
    selected.change("end_canceled_attempts", now=now)
    # Packages that waited only for dropped files can start.
    selected.change("release_packages", now=now)
    weigh_again(selected)
    selected.change("reopen_jobs")


def weigh_again(selected: Selection) -> None:
    """Have `require` compared again in the jobs of packages that were dropped or restored."""
    selected.change("weigh_again")


def drop_with_lines(selected: Selection, *, actor: str | None, note: str | None,
                    now: float) -> None:  # fmt: skip
    """Drop those of the selected packages whose lines are dropped."""
    selected.change("keep_of_dropped_lines")
    if selected.count():
        drop(selected, actor=actor, note=note, now=now)


def drop_without_inputs(selected: Selection, *, actor: str | None, note: str | None,
                        now: float) -> None:  # fmt: skip
    """Drop selected packages that have not begun and need dropped files, and what needs theirs."""
    selected.change("keep_without_inputs")
    if selected.count():
        choose_without_inputs(selected)
        drop(selected, actor=actor, note=note, now=now)


def reopen_readers(store: Store) -> None:
    """Let jobs go on that wait for files of jobs that go on, and jobs that wait for theirs."""
    while rows := store.rows("resumed_jobs"):
        store.change("forget_resumed_jobs")
        for row in rows:
            store.change("reopen_readers", job=row["job_id"])
            store.change("weigh_readers", job=row["job_id"])


def keep_action(
    store: Store,
    *,
    verb: str,
    target: str,
    actor: str,
    note: str | None,
    packages: int,
    now: float,
    undo: str | None = None,
) -> None:
    """Record who did what, when, to what, why, and the command that undoes it."""
    store.change("keep_action", now=now, actor=actor, verb=verb, target=target, note=note,
                 packages=packages, undo=undo)  # fmt: skip


def attribute(store: Store, verb: str, actor: str, *, since: float) -> None:
    """Name the person who asked d0ctl for an action, if d0ctl has recorded it since then."""
    with store.writing():
        store.change("attribute_action", verb=verb, actor=actor, since=since)
