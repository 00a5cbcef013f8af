"""Locks and statuses of tasks and datasets; each function is part of a transaction or makes one."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import msgspec
from msgspec import Struct

from d0ctl.store.connection import Selection, Store, as_json
from d0ctl.store.jobs import pause
from d0ctl.store.nodes.holder import holder, is_dead
from d0ctl.store.nodes.site import setting
from d0ctl.store.rows import make_all
from d0ctl.taskfile.spec import USUAL_TIMEOUTS, Rules

LONGEST_HOLD_S = 600.0
"""After this time another process may take a task from one that hangs."""


class Task(Struct, frozen=True):
    """A task with what its job says."""

    id: int
    job_id: int
    stage_id: int
    merge_stage_id: int | None
    merges: int | None
    """How many packages that merge were made; None if the task does not merge."""
    name: str
    title: str
    originator: str
    priority: int
    status: str
    previous: str | None
    since: float
    actor: str | None
    note: str | None
    waits: str | None
    next_look: float
    made: int
    ended: float | None
    submitted: float
    directory: str
    source: str
    parameters: dict[str, Any]
    text: bytes
    rules: Rules
    measured: dict[str, Any]
    generates: bool
    is_ended: bool
    is_held: bool
    parent_id: int | None
    destination: str | None
    destination_nodes: str | None


def task(store: Store, number: int) -> Task | None:
    """Return a task; None if there is none of that number."""
    row = store.row("task_row", task=number)
    if row is None:
        return None
    values: dict[str, Any] = {key: row[key] for key in Task.__struct_fields__ if key in row.keys()}  # noqa: SIM118
    values.update(
        rules=msgspec.json.decode(row["rules"], type=Rules),
        parameters=msgspec.json.decode(row["parameters"]),
        measured=msgspec.json.decode(row["measured"] or "{}"),
        generates=bool(row["generates"]),
        is_ended=bool(row["is_ended"]),
        is_held=bool(row["hold"] or row["pause"]),
    )
    return Task(**values)


@contextmanager
def locked(store: Store, number: int, *, now: float) -> Iterator[Task | None]:
    """Lock a task for this process; yield None if another process works on it.

    The lock of a process that is dead, or has had it for too long, is taken over.
    """
    mine = holder()
    row = store.row("task_holder", task=number)
    previous = row["holder"] if row is not None else None
    is_free = row is not None and (
        previous in (None, mine) or row["held_until"] <= now or is_dead(previous)
    )
    taken = 0
    if is_free:
        with store.writing():
            taken = store.change("take_task", task=number, holder=mine, previous=previous or mine,
                                 until=now + LONGEST_HOLD_S, now=now)  # fmt: skip
    if not taken:
        yield None
        return
    try:
        yield task(store, number)
    finally:
        with store.writing():
            store.change("give_task", task=number, holder=mine)


def is_mine(store: Store, number: int) -> bool:
    """Return whether this process still has the lock of a task, in a transaction."""
    row = store.row("task_holder", task=number)
    return row is not None and row["holder"] == holder()


def is_unchanged(store: Store, before: Task) -> bool:
    """Return whether no user has given a task another status, rules or values; in a transaction."""
    now = task(store, before.id)
    return now is not None and (
        (now.status, now.rules, now.parameters) == (before.status, before.rules, before.parameters)
    )


def move(
    store: Store, task: Task, new: str, *, now: float, actor: str | None = None,
    note: str | None = None,
) -> bool:  # fmt: skip
    """Give a task a status, in a transaction; return whether it still had its old one.

    Its job is resumed with it: whatever a paused task does next, its packages have to go on.
    Raises Refused, by the database, for a change that is not in the table of transitions.
    """
    has_moved = bool(store.change("move_task", task=task.id, old=task.status, new=new, now=now,
                                  actor=actor, note=note))  # fmt: skip
    if has_moved and task.status == "paused":
        pause.resume_jobs(store, [task.job_id], actor=actor or "d0ctl", note=note, now=now)
    return has_moved


def look_when_resumed(store: Store, task: Task) -> None:
    """Let a paused task look its inputs up when it is resumed; in a transaction."""
    store.change("look_when_resumed", task=task.id)


def acknowledge(store: Store, number: int, *, actor: str, note: str | None, now: float) -> None:
    """Record who has seen that a task ended in vain, in a transaction."""
    store.change("acknowledge_task", task=number, actor=actor, note=note, now=now)


def withdraw(store: Store, number: int) -> None:
    """Let a task that ended in vain need a person again, in a transaction."""
    store.change("acknowledge_task", task=number, actor=None, note=None, now=0.0)


def wait(store: Store, task: Task, why: str | None, *, until: float) -> None:
    """Leave a task alone for a time, in a transaction; `why` is shown to people."""
    store.change("let_task_wait", task=task.id, why=why, until=until)


def change_rules(store: Store, task: Task, rules: Rules) -> None:
    """Give a task other rules, in a transaction."""
    store.change("change_task_rules", task=task.id, rules=msgspec.json.encode(rules).decode())


def keep_measured(store: Store, task: Task, measured: Mapping[str, Any]) -> None:
    """Record what the scouts of a task needed, in a transaction."""
    store.change("keep_measured", task=task.id, measured=as_json(dict(measured)))


def say(store: Store, task: Task, note: str, *, now: float) -> None:
    """Record something about a task once for each time that it gets its status."""
    store.change("say_of_task", task=task.id, note=note, now=now)


def was_said(store: Store, task: Task) -> bool:
    """Return whether something was recorded since the task got its status."""
    return bool(store.value("said_of_task", task=task.id, since=task.since))


def choose_packages(store: Store, task: Task) -> Selection:
    """Select all packages of a task."""
    selected = store.select()
    selected.change("choose_packages_of_task", job=task.job_id)
    return selected


def unassign(store: Store, task: Task, *, actor: str, note: str | None, now: float) -> None:
    """assigned -> ready: take the packages of a task from their nodes, if not launched."""
    store.change("unassign_job", job=task.job_id, actor=actor, note=note, now=now)


def timeout(store: Store, task: Task) -> Mapping[str, Any] | None:
    """Return how long a task may have its status, and what happens `after` that.

    It is that of its task file, else that of the site file, else the usual one.
    """
    usual = USUAL_TIMEOUTS.get(task.status)
    of_site = (setting(store, "tasks") or {}).get("timeouts", {})
    limit: Mapping[str, Any] | None = task.rules.timeouts.get(task.status) or of_site.get(
        task.status
    )
    return limit or (None if usual is None else {"after": usual})


def may_move(store: Store, old: str, new: str) -> bool:
    """Return whether a task may get a status, by the table of transitions."""
    return bool(store.value("task_may_move", old=old, new=new))


def change_parameters(store: Store, task: Task, parameters: Mapping[str, Any]) -> None:
    """Give the parameters of a task other values, in a transaction."""
    store.change("change_task_parameters", job=task.job_id, parameters=as_json(dict(parameters)))


def move_dataset(
    store: Store, dataset: int, new: str, *, now: float, note: str | None = None
) -> None:
    """Give a dataset a status, in a transaction."""
    store.change("move_dataset", dataset=dataset, new=new, now=now, note=note)


def in_status(store: Store, statuses: Iterable[str], *, now: float) -> list[int]:
    """Return the tasks with one of these statuses that are due, the most urgent first."""
    return [row[0] for row in store.rows("tasks_in", statuses=as_json(list(statuses)), now=now)]


def next_look(store: Store, *, now: float) -> float | None:
    """Return when the first task that waits is due."""
    found = store.value("next_task_look", now=now)
    return None if found is None else float(found)


def any_at_all(store: Store) -> bool:
    """Return whether there is a task."""
    return bool(store.value("has_tasks"))


class Dataset(Struct, frozen=True):
    """A dataset of a task."""

    id: int
    task_id: int
    seq: int
    type: str
    output: int
    name: str
    source: str | None
    """Where the files of an input come from, as JSON."""
    source_id: int | None
    status: str
    since: float
    note: str | None
    looked: float | None
    tries: int
    next_look: float
    asked: int
    merged: int | None


def datasets(store: Store, number: int) -> list[Dataset]:
    """Return the datasets of a task."""
    return make_all(Dataset, store.rows("datasets_of_task", task=number))


def size_of(store: Store, dataset: int) -> int:
    """Return how many files a dataset has."""
    return int(store.value("size_of_dataset", dataset=dataset))


def counts(store: Store, number: int, kind: str = "input") -> dict[str, int]:
    """Return how many files of the datasets of a type have each status."""
    found: dict[str, int] = {}
    for row in store.rows("dataset_counts", task=number):
        if row["type"] == kind:
            found[row["status"]] = found.get(row["status"], 0) + row["n"]
    return found
