"""Tasks in Python: submission, actions, status, and why they have it."""

import time
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any

from d0ctl.api.carry_out import actor
from d0ctl.api.methods import Named
from d0ctl.api.verbs import TaskVerbs
from d0ctl.config import find_home
from d0ctl.jobfile.source import text_of
from d0ctl.show.tasks import task_why
from d0ctl.store import opening
from d0ctl.store.tasks import submission, views
from d0ctl.store.tasks.views import DatasetView, TaskChange, TaskSummary
from d0ctl.store.views.job_files.known_names import known_names
from d0ctl.taskfile import reader

NOTHING: Mapping[str, Any] = {}


class Task(TaskVerbs, Named):
    """A task by its name; its packages are those of the job of the same name."""

    @classmethod
    def submit(
        cls,
        file: str | PathLike[str],
        parameters: Mapping[str, Any] = NOTHING,
        *,
        name: str | None = None,
        reason: str | None = None,
        home: str | PathLike[str] | None = None,
    ) -> "Task":
        """Submit a task file. Raises BadJobFile with every fault, and Refused."""
        path, found = Path(file), find_home(home)
        values = {key: str(value) for key, value in parameters.items()}
        with opening.open_or_create(found) as store:
            spec = reader.read_text(
                text_of(path, "task file"), str(path), path.parent, values, known_names(store),
                is_new=True,
            )  # fmt: skip
            submitted, _ = submission.submit(
                store, spec, now=time.time(), actor=actor(), name=name, note=reason
            )
        return cls(submitted, home=found.root)

    @property
    def summary(self) -> TaskSummary:
        """Its status, why it has it, and how many of its input files have each status."""
        with opening.reader(self.home) as store, store.reading():
            return views.task(store, self.name)

    @property
    def status(self) -> str:
        """Its status."""
        return self.summary.status

    @property
    def datasets(self) -> list[DatasetView]:
        """Its datasets, and how many of their files have each status."""
        with opening.reader(self.home) as store, store.reading():
            return views.datasets(store, views.task(store, self.name).id)

    @property
    def history(self) -> list[TaskChange]:
        """Each change of its status: when, by whom and why."""
        with opening.reader(self.home) as store, store.reading():
            return views.log(store, views.task(store, self.name).id)

    def why(self) -> str:
        """Say why it has its status, and what it waits for."""
        with opening.reader(self.home) as store, store.reading():
            found = task_why.why(store, views.task(store, self.name).id, time.time())
        return "\n".join([found.answer, *(f"- {fact}" for fact in found.facts)])


def tasks(pattern: str = "*", *, home: str | PathLike[str] | None = None) -> list[Task]:
    """Return the tasks whose names match, the newest first."""
    found = find_home(home)
    with opening.reader(found) as store, store.reading():
        return [Task(task.name, home=found.root) for task in views.tasks(store, pattern)]
