"""The job generator: makes packages of the files of a task, as nodes need them."""

import zlib

from d0ctl.agents import splitter
from d0ctl.agents.agent import Clock
from d0ctl.agents.splitter import C
from d0ctl.errors import BadJobFile, Refused
from d0ctl.jobfile import local_files
from d0ctl.jobfile.collector import without_collector
from d0ctl.jobfile.language.placeholders import LoopGroup
from d0ctl.store.connection import Store
from d0ctl.store.tasks import children, feeding, generation, replaced, state, throttler
from d0ctl.store.tasks.event_ranges import Content
from d0ctl.store.tasks.state import Task
from d0ctl.store.views.job_files.known_names import known_names
from d0ctl.taskfile.batch import Rule

STATUSES = ("ready", "running")
"""The statuses of tasks that it works on."""

BATCH = 3_000
"""How many packages one transaction adds: it takes some 0.1 s."""


@without_collector()
def act(store: Store, task: Task, clock: Clock) -> bool:
    """Make the next packages of a task; return whether there are any."""
    if replaced.is_any(store, task):
        with store.writing():
            replaced.make_again(store, task, now=clock())
    number = room(store, task)
    if number < 1:
        return False
    is_scouting = scouts(task) > 0
    rule = Rule(zlib.decompress(task.text).decode(), task.source, task.directory,
                texts(task), known_names(store))  # fmt: skip
    groups = splitter.groups(
        store, task, number, 1 if is_scouting else splitter.largest(task),
        lambda rows: _present(store, task, rows), is_growing=bool(children.makers(store, task)),
    )  # fmt: skip
    if not groups:
        return False
    first = task.made + 1
    loop = [LoopGroup(str(at), tuple([row.name for row in group.contents]))
            for at, group in enumerate(groups, first)]  # fmt: skip
    events = [(group.first, group.events) for group in groups]
    try:
        spec = rule.packages(loop, events, first)
        status = "scouting" if is_scouting else "running"
        return bool(generation.append(store, task, spec, groups, status=status, now=clock()))
    except (BadJobFile, Refused) as error:
        fault = error.faults[0] if isinstance(error, BadJobFile) else str(error)
        with store.writing():
            return state.move(store, task, "broken", now=clock(), note=fault)


def wants(store: Store, task: Task, now: float) -> bool:
    """Return whether a task may get more packages now."""
    if task.is_held:
        return False
    return replaced.is_any(store, task) or (
        generation.has_pickable(store, task) and room(store, task) > 0
    )


def texts(task: Task) -> dict[str, str]:
    """Return the parameters of a task that are texts."""
    return {name: value for name, value in task.parameters.items() if isinstance(value, str)}


def room(store: Store, task: Task) -> int:
    """Return how many packages a task may add now."""
    if task.is_held:
        return 0
    most = BATCH
    if task.rules.max_packages is not None:
        most = min(most, task.rules.max_packages - task.made)
    if first := scouts(task):
        return min(most, first)
    if most > 0 and not task.rules.at_once:
        queue = throttler.queue(store, task)
        most = 0 if queue.is_enough else min(most, queue.most - queue.queued)
    return most


def scouts(task: Task) -> int:
    """Return how many scouts a task begins with; none once they were measured."""
    return task.rules.first_scouts if task.status == "ready" and not task.measured else 0


def _present(store: Store, task: Task, rows: list[C]) -> list[C]:
    """Return the files that are there; others are marked, unless packages process some events."""
    if not task.rules.takes_files:
        return rows
    there: list[C] = []
    marked: dict[str, list[int]] = {"missing": [], "broken": []}
    for row in rows:
        fault = _fault(row, task.directory)
        if fault is None:
            there.append(row)
        else:
            marked[fault].append(row.id)
    for status, contents in marked.items():
        if contents:
            with store.writing():
                feeding.mark(store, contents, status)
    return there


def _fault(row: Content, directory: str) -> str | None:
    """Return the status of a file that can't be processed; None if it can.

    A file is broken if its table or catalogue says another size. Of one without such a
    description, a look has found the size, and the next look finds another.
    """
    name = row.name
    if ":" in name:
        return None
    size = local_files.size_of(local_files.absolute(directory, name))
    if size is None:
        return "missing"
    is_described = row.size is not None and not (row.checksum or "").startswith("mtime:")
    return "broken" if is_described and row.size != size else None
