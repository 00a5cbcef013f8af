"""The merger: makes packages that merge the outputs of others, as soon as a group is full."""

import zlib
from collections.abc import Iterator, Sequence
from itertools import groupby

from msgspec.structs import replace

from d0ctl.agents import broker
from d0ctl.agents.agent import Clock
from d0ctl.agents.generator import texts
from d0ctl.agents.splitter import split
from d0ctl.errors import BadJobFile, Refused
from d0ctl.jobfile.language.placeholders import LoopGroup
from d0ctl.show.tasks import task_notes
from d0ctl.store.connection import Store
from d0ctl.store.tasks import merging, state
from d0ctl.store.tasks.event_ranges import Content
from d0ctl.store.tasks.state import Dataset, Task
from d0ctl.store.views.job_files.known_names import known_names
from d0ctl.taskfile.batch import Rule
from d0ctl.taskfile.merge_section import SUFFIX
from d0ctl.taskfile.spec import MERGE_STAGE, Rules

STATUSES = ("ready", "scouting", "running", "finishing", "prepared")
"""The statuses of tasks that it works on."""

BATCH = 500
"""How many packages one transaction adds."""

USUAL_MOST = 1_000
"""How many files a package merges at most, if only their size is given."""

WINDOW = 20_000
"""How many files are read at once."""


def act(store: Store, task: Task, clock: Clock) -> bool:
    """Make packages of the next files to merge; return whether there are any."""
    found = _next(store, task)
    if found is None:
        return False
    dataset, groups = found
    first = (task.merges or 0) + 1
    loop = [
        LoopGroup(str(first + at), tuple(f"{task.name}:{row.name}" for row in group))
        for at, group in enumerate(groups)
    ]
    known = replace(known_names(store), produced=_is_known)
    rule = Rule(zlib.decompress(task.text).decode(), task.source, task.directory, texts(task),
                known, MERGE_STAGE)  # fmt: skip
    name = dataset.name.removesuffix(SUFFIX)
    try:
        spec = rule.packages(loop, [], first, [name] * len(groups))
        spec = broker.placed(store, task, spec, [row.id for group in groups for row in group],
                             clock())  # fmt: skip
        return bool(merging.append(store, task, spec, groups, now=clock()))
    except (BadJobFile, Refused) as error:
        fault = error.faults[0] if isinstance(error, BadJobFile) else str(error)
        with store.writing():
            return state.move(store, task, "broken", now=clock(), note=task_notes.of_merge(fault))


def wants(store: Store, task: Task, now: float) -> bool:
    """Return whether a task has files to merge now."""
    return _next(store, task) is not None


def _is_known(job: str, name: str) -> bool:
    """Say that a job makes a file: the names come from the database."""
    return True


def _next(store: Store, task: Task) -> tuple[Dataset, list[Sequence[Content]]] | None:
    """Return a dataset, and groups of its files that are merged now; None without any."""
    rules = task.rules
    is_last = task.status == "prepared"
    if not rules.merges or task.is_held or (rules.merge_at_end and not is_last):
        return None
    waiting = merging.counts(store, task).get("prepared", 0)
    if not waiting or (not is_last and not rules.bytes_per_merge and waiting < least(rules)):
        return None
    for dataset in merging.datasets(store, task):
        rows = merging.mergeable(store, dataset.id, min(WINDOW, BATCH * largest(rules)))
        if groups := list(grouped(rows, rules, is_last=is_last)):
            return dataset, groups[:BATCH]
    return None


def largest(rules: Rules) -> int:
    """Return how many files a package merges at most."""
    asked = [limit for limit in (rules.files_per_merge, rules.max_files_per_merge) if limit]
    return min(asked, default=USUAL_MOST)


def least(rules: Rules) -> int:
    """Return how few files may be a full group: a group that failed is divided."""
    return 1 if rules.attempts > 1 else largest(rules)


def grouped(rows: Sequence[Content], rules: Rules, *, is_last: bool) -> Iterator[Sequence[Content]]:
    """Put files into groups, in their order; those that were tried as often go together.

    A group that is not full waits for more files unless it is the last.
    """
    limits = Rules(bytes_per_package=rules.bytes_per_merge)
    in_order = sorted(rows, key=lambda row: -row.attempts)
    for _, alike in groupby(in_order, key=lambda row: row.attempts):
        for group in split(list(alike), limits, largest(rules), is_growing=not is_last):
            yield group.contents
