"""What to type for a task that has ended in vain: submit or try it again, or acknowledge it."""

from pathlib import Path
from shlex import quote

from d0ctl.show.why.common import Explanation, GroupPart
from d0ctl.store.connection import Store
from d0ctl.store.jobs.submission.submit import free_name
from d0ctl.store.nodes.site import IN_VAIN
from d0ctl.store.tasks import merging, state, views
from d0ctl.store.tasks.state import Task
from d0ctl.store.tasks.views import TaskSummary
from d0ctl.store.views.shapes import JobSummary


def add(store: Store, task: Task | TaskSummary, explanation: Explanation) -> None:
    """Add the commands for a task that has ended in vain."""
    whole = state.task(store, task.id)
    if whole is None or whole.status not in IN_VAIN:
        return
    if whole.status == "broken":
        _submit_again(store, whole, explanation)
    elif whole.status == "exhausted" and merging.unprocessed(store, whole):
        explanation.commands.append(f"d0ctl task retry {whole.name}")
    if views.task(store, whole.name).acknowledged is None:
        explanation.commands.append(f"d0ctl task acknowledge {whole.name}")


def of_job(store: Store, job: JobSummary, explanation: Explanation) -> None:
    """Add the commands for the task of a job; most jobs have none."""
    for task in views.of_jobs(store, [job.id]).values():
        add(store, task, explanation)


def without_packages(store: Store, part: GroupPart, explanation: Explanation) -> None:
    """Say that a task has made no packages yet, or never will."""
    explanation.answer = f"{part.title} has no packages"
    if task := views.of_jobs(store, [part.job.id]).get(part.job.id):
        explanation.answer += f": its task is {task.status}{f': {task.note}' if task.note else ''}"
        explanation.commands.append(f"d0ctl task why {task.name}")


def _submit_again(store: Store, whole: Task, explanation: Explanation) -> None:
    """Add the commands for a broken task; one that has made packages stays, with its results."""
    file = quote(whole.source) if Path(whole.source).is_absolute() else "FILE"
    submit = f"d0ctl task submit {file}"
    explanation.facts.append("correct its file, then submit it again")
    explanation.commands += (
        [f"{submit} --as {free_name(store, whole.name)}"]
        if whole.made
        else [f"d0ctl remove {whole.name}", submit]
    )
