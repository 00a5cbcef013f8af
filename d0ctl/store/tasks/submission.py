"""The submission of a task: its rows, those of its datasets, and its job, without lines yet."""

import zlib
from pathlib import Path

import msgspec

from d0ctl.errors import NotFound, Refused
from d0ctl.store.connection import Store, as_json
from d0ctl.store.jobs import results
from d0ctl.store.jobs.submission.submit import free_name, job_columns
from d0ctl.store.lifecycle import keep_action
from d0ctl.store.nodes.holder import holder
from d0ctl.store.tasks import content_follower, state
from d0ctl.store.views import browse
from d0ctl.taskfile.spec import MERGE_STAGE, STAGE, DatasetSpec, TaskSpec


def submit(
    store: Store,
    spec: TaskSpec,
    *,
    now: float,
    actor: str,
    name: str | None = None,
    note: str | None = None,
) -> tuple[str, Path | None]:
    """Make the rows of a task in one transaction; return its name, and where older results are.

    Raises Refused if the name is in use, and NotFound without a task that it names.
    """
    job = spec.job
    with store.writing():
        if name is None:
            name = job.name if job.named else free_name(store, job.name)
        if browse.has_job(store, name):
            raise _in_use(store, name)
        if spec.parent is not None:
            _known(store, spec.parent)
        number = store.value(
            "make_job", name=name, hold=0, hold_actor=None, hold_note=None, hold_since=None,
            submitter=holder(), now=now, **job_columns(job),
        )  # fmt: skip
        names = (STAGE, MERGE_STAGE) if spec.rules.merges else (STAGE,)
        for seq, stage in enumerate(names, 1):
            store.value("make_stage", job=number, seq=seq, name=stage, require=1.0,
                        max_running=None, final=0)  # fmt: skip
        if not state.any_at_all(store):
            content_follower.pass_over(store)
        task = store.value(
            "make_task", job=number, parent=spec.parent, text=zlib.compress(job.text.encode()),
            rules=msgspec.json.encode(spec.rules).decode(), now=now, actor=actor, note=note,
        )  # fmt: skip
        for seq, dataset in enumerate(spec.datasets, 1):
            store.change("make_dataset", task=task, seq=seq, type=dataset.type, name=dataset.name,
                         source=as_json(dataset.source), source_id=_source(store, dataset),
                         status="defined", now=now)  # fmt: skip
        keep_action(store, now=now, actor=actor, verb="task submit", target=name, note=note,
                    packages=0)  # fmt: skip
        store.change("show_job", job=number)
        aside = results.move_aside(store.home, name)
    return name, aside


def _in_use(store: Store, name: str) -> Refused:
    """Refuse a name; a broken task that has made no packages may be removed."""
    hint = f"--as {free_name(store, name)}"
    number = find(store, name)
    old = None if number is None else state.task(store, number)
    if old is not None and old.status == "broken" and not old.made:
        return Refused(f"task `{name}` already exists, and is broken",
                       hint=f"d0ctl remove {name}, or {hint}")  # fmt: skip
    return Refused(f"job `{name}` already exists", hint=hint)


def _known(store: Store, name: str) -> int:
    if (found := find(store, name)) is None:
        raise NotFound(f"there is no task `{name}`", hint="d0ctl task list")
    return found


def _source(store: Store, dataset: DatasetSpec) -> int | None:
    """Return the dataset of another task whose files a dataset takes; None with another source."""
    source = dataset.source or {}
    if "task" not in source:
        return None
    task, name = source["task"], source.get("dataset", "output")
    found = store.value("output_dataset", task=_known(store, task), name=name)
    if found is None:
        raise NotFound(f"task `{task}` has no output dataset `{name}`",
                       hint=f"d0ctl task status {task}")  # fmt: skip
    return int(found)


def find(store: Store, name: str) -> int | None:
    """Return the task of a name; None if there is none."""
    found = [row["id"] for row in store.rows("tasks", pattern=name) if row["name"] == name]
    return found[0] if found else None
