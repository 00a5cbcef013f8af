"""Tasks: what can be read, as the command line prints it with `--json`; and their submission."""

import time
from pathlib import Path
from typing import Annotated, Any

from litestar import Request, get, post
from litestar.datastructures import State
from msgspec import Meta, Struct

from d0ctl.cli import documents
from d0ctl.cli.commands.looking.pages.explanation import document
from d0ctl.cli.commands.rest.bearer import only
from d0ctl.cli.commands.rest.http_errors import RESPONSES
from d0ctl.cli.schemas import reports, tasks
from d0ctl.show.tasks import task_why
from d0ctl.store import opening
from d0ctl.store.tasks import submission, views
from d0ctl.store.views.job_files.known_names import known_names
from d0ctl.taskfile import reader


class TaskFile(Struct, kw_only=True, forbid_unknown_fields=True):
    """A task file to submit; its relative paths start where `d0ctl serve` was started."""

    text: Annotated[str, Meta(min_length=1, description="The task file, YAML or JSON.")]
    name: str | None = None
    parameters: dict[str, str] | None = None
    reason: str | None = None
    """Recorded in the history."""
    dry_run: bool | None = False
    """Only say what would be submitted."""


@get("/tasks", summary="All tasks", operation_id="all_tasks", responses=RESPONSES,
     sync_to_thread=True)  # fmt: skip
def all_tasks(state: State) -> tasks.Tasks:
    """Return every task, as `d0ctl task list --json`."""
    with opening.reader(state.home) as store, store.reading():
        return {"tasks": [documents.task_document(task) for task in views.tasks(store)]}


@get("/tasks/{task:str}", summary="A task", operation_id="one_task", responses=RESPONSES,
     sync_to_thread=True)  # fmt: skip
def one_task(state: State, task: str) -> tasks.TaskCard:
    """Return a task with its datasets, as `d0ctl task status TASK --json`."""
    with opening.reader(state.home) as store, store.reading():
        found = views.task(store, task)
        datasets, remains = views.datasets(store, found.id), views.remains(store, found.id)
        return documents.task_card(found, datasets, remains)


@get("/tasks/{task:str}/why", summary="Why a task has its status", operation_id="why_task",
     responses=RESPONSES, sync_to_thread=True)  # fmt: skip
def why_task(state: State, task: str) -> reports.Explanation:
    """Say why a task has its status, as `d0ctl task why TASK --json`."""
    with opening.reader(state.home) as store, store.reading():
        return document(task_why.why(store, views.task(store, task).id, time.time()))


@get("/tasks/{task:str}/history", summary="Changes of a task", operation_id="task_history",
     responses=RESPONSES, sync_to_thread=True)  # fmt: skip
def task_history(state: State, task: str) -> tasks.TaskHistory:
    """Return each change of the status of a task, as `d0ctl task history TASK --json`."""
    with opening.reader(state.home) as store, store.reading():
        found = views.task(store, task)
        changes = [documents.task_change(change) for change in views.log(store, found.id)]
        return {"task": found.name, "changes": changes}


@post("/tasks", summary="Submit a task file", operation_id="submit_task",
      guards=[only("operator")], responses=RESPONSES, status_code=200,
      sync_to_thread=True)  # fmt: skip
def submit_task(data: TaskFile, request: Request[Any, Any, State]) -> tasks.TaskSubmitted:
    """Submit a task, as `d0ctl task submit` does; with `dry_run`, check its file."""
    with opening.writer(request.app.state.home) as store:
        spec = reader.read_text(data.text, data.name or "task", Path.cwd(), data.parameters or {},
                                known_names(store), is_new=True,
                                submitter=request.user.name)  # fmt: skip
        if data.dry_run:
            name = data.name or spec.name
            return {"task": name, "datasets": len(spec.datasets), "dry_run": True}
        name, _ = submission.submit(store, spec, now=time.time(), actor=request.user.actor,
                                    name=data.name, note=data.reason)  # fmt: skip
        return {"task": name, "datasets": len(spec.datasets)}


HANDLERS: list[Any] = [all_tasks, one_task, why_task, task_history, submit_task]
