"""The card of a task and its job: its progress by files, why, datasets, history, packages."""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from d0ctl.model import Counts, Phase
from d0ctl.show import card_contents
from d0ctl.show.card_contents import About
from d0ctl.show.cards import part as job_part
from d0ctl.show.cards.part import Part
from d0ctl.show.drawing import signs
from d0ctl.show.drawing.sheet import Sheet
from d0ctl.show.explanation import explain
from d0ctl.show.tasks import task_card, task_why
from d0ctl.show.why.common import Explanation
from d0ctl.store.connection import Store
from d0ctl.store.tasks import views
from d0ctl.store.tasks.views import DatasetView, TaskChange, TaskJob, TaskSummary
from d0ctl.store.views.shapes import JobSummary
from d0ctl.units import count, duration, percent

PHASE_OF: Mapping[str, Phase] = {
    "finished": Phase.DONE, "running": Phase.RUNNING, "picked": Phase.ASSIGNED,
    "failed": Phase.FAILED, "partial": Phase.FAILED, "broken": Phase.FAILED,
    "missing": Phase.FAILED,
}  # fmt: skip
"""The phase as which a file is drawn in a bar; those that are lost don't count."""

UNREMARKABLE = ("ready", "running", "finishing", "prepared", "done", "finished", "scouting")
"""The statuses in which a task tells why only if it waits."""

MOST_CHANGES = 12
"""How many changes of its status are shown."""


def progress(files: Mapping[str, int]) -> Counts:
    """Return the files of a task as if each were a package, for a bar."""
    counts: dict[str, int] = {}
    for status, number in files.items():
        if status != "lost":
            phase = PHASE_OF.get(status, Phase.WAITING)
            counts[phase] = counts.get(phase, 0) + number
    return counts


def counts(row: TaskJob) -> Counts:
    """Return what the bar of a task shows: its files; packages as long as they are scouts, and in
    the past, of which files are not known.
    """
    return progress(row.task.files) if has_files(row) else row.counts


def has_files(row: TaskJob) -> bool:
    """Return whether its bar shows files."""
    return row.task.status != "scouting" and bool(row.task.files)


def reason(task: TaskSummary) -> str:
    """Return why a task does not go on; empty if it does."""
    return task.waits or ("" if task.status in UNREMARKABLE else task.note or "")


class TaskPart(Struct, frozen=True):
    """Everything on the card, read at one moment."""

    task: TaskSummary
    why: Explanation
    datasets: Sequence[DatasetView]
    changes: Sequence[TaskChange]
    part: Part


def about(store: Store, selector: str, now: float) -> "About | TaskPart":
    """Read the card of a path; that of a job has its task."""
    card = card_contents.about(store, selector, now)
    if isinstance(card, Part) and isinstance(card.row, JobSummary):
        for task in views.of_jobs(store, [card.job.id]).values():
            why, datasets = task_why.why(store, task.id, now), views.datasets(store, task.id)
            return TaskPart(task, why, datasets, views.log(store, task.id), card)
    return card


def draw(sheet: Sheet, card: TaskPart, now: float) -> None:
    """Draw the card."""
    task = card.task
    sheet.add((task.name, "strong"), f"  task  {task.title}")
    since = duration(now - task.since)
    sheet.add(signs.mark(task.status, sheet.glyphs), f" for {since} · {task_card.progress(task)}")
    goal = f"; goal {percent(task.goal)}" if task.goal is not None else ""
    sheet.add((f"{count(task.made, 'package')} made{goal}", "faint"))
    if seen := task_card.seen(task, now):
        sheet.say(seen, "faint")
    if task.files:
        columns = min(job_part.BAR, sheet.columns)
        sheet.add(signs.bar(progress(task.files), columns, sheet.glyphs))
    explain(sheet, card.why)
    task_card.put_datasets(sheet, card.datasets)
    sheet.head("changes of its status")
    task_card.put_history(sheet, card.changes[-MOST_CHANGES:], now, indent=2)
    if card.part.job.packages:
        sheet.head("its packages")
        job_part.draw(sheet, card.part, now)
