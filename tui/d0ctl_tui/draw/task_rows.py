"""What the row of a task says besides what that of a job does, and the lines of a list of tasks."""

from collections.abc import Sequence
from pathlib import Path

from d0ctl.model import Counts, by_status
from d0ctl.show.cards.jobs import STANDS_STILL
from d0ctl.show.cards.part import status_of
from d0ctl.show.drawing import signs
from d0ctl.show.drawing.signs import Glyphs
from d0ctl.show.drawing.spans import Line, Span, fit, foreign, pad, width
from d0ctl.show.tasks import task_card, task_part
from d0ctl.show.tasks.task_why import MEANING
from d0ctl.store.nodes.site import IN_VAIN
from d0ctl.store.tasks.views import TaskJob, TaskSummary
from d0ctl.store.views.shapes import JobSummary, LineSummary, StageSummary

BAR, LONGEST_NAME = 8, 18
"""How many columns the bar of a task takes, and its name at most, in the list of tasks."""

WORST = ("broken", "exhausted", "failed", "pending", "paused")
"""Statuses of tasks that may need a person, the worst first."""

Group = JobSummary | StageSummary | LineSummary


def status(row: Group, job_hold: str) -> str:
    """Return the word for a task, job, stage or line."""
    if isinstance(row, TaskJob):
        return row.task.status
    if isinstance(row, JobSummary) and row.is_open and job_hold:
        return job_hold
    return job_hold if job_hold == STANDS_STILL else status_of(row, job_hold)


def counts(row: Group) -> Counts:
    """Return what its bar shows: packages, or of a task its files."""
    return task_part.counts(row) if isinstance(row, TaskJob) else row.counts


def has_files(row: Group) -> bool:
    """Return whether its bar shows files, not packages."""
    return isinstance(row, TaskJob) and task_part.has_files(row)


def grows(row: Group) -> bool:
    """Return whether a task has files of which it makes more packages."""
    return isinstance(row, TaskJob) and bool(row.task.files.get("ready"))


def earned(row: Group, percents: float) -> float:
    """Return the finished parts of its running packages, in what its bar shows.

    Of a task each package counts as many files as its running ones have on average.
    """
    if not has_files(row):
        return percents / 100
    assert isinstance(row, TaskJob)
    launched = by_status(row.counts)["launched"]
    return percents / 100 * row.task.files.get("running", 0) / max(1, launched)


def kind(row: JobSummary) -> list[Span]:
    """Return the word that tells a task from other jobs."""
    return [("  task", "faint")] if isinstance(row, TaskJob) else []


def about(row: Group) -> str:
    """Return how far a task that does not go on is, and why; empty if it does."""
    if not isinstance(row, TaskJob) or not (why := task_part.reason(row.task)):
        return ""
    whole = sum(row.task.files.values())
    done = signs.short(row.task.files.get("finished", 0))
    why = foreign(without_folder(why))
    return f"{done}/{signs.short(whole)}  {why}" if whole else why


def is_in_vain(row: Group) -> bool:
    """Return whether it is a task that has ended in vain, which nobody has acknowledged."""
    return isinstance(row, TaskJob) and row.task.status in IN_VAIN and row.task.acknowledged is None


def fault(row: Group) -> str:
    """Return what is wrong with a broken task; empty for others."""
    if not isinstance(row, TaskJob) or row.task.status != "broken":
        return ""
    return without_folder(row.task.note or "")


def without_folder(why: str) -> str:
    """Return a fault at a position of a file without the file's folder, which fills a row."""
    file, colon, rest = why.partition(":")
    return Path(file).name + colon + rest if file.startswith("/") else why


def tally(row: Group) -> list[Span]:
    """Return how many files of a task have each status; nothing for others."""
    if not isinstance(row, TaskJob):
        return []
    if row.task.status == "scouting":
        return [("scouts", "faint")]
    return [(task_card.files(row.task.files), "faint")]


def urgency(task: TaskSummary) -> int:
    """Sort tasks: those that may need a person, those that go on, those that have ended."""
    if task.status in WORST and task.acknowledged is None:
        return WORST.index(task.status)
    return len(WORST) + (0 if task.waits else 1 if task.ended is None else 2)


def listed(tasks: Sequence[TaskSummary], columns: int, glyphs: Glyphs) -> list[Line]:
    """Return each task as a line: its status, how many files were processed, and why."""
    if not tasks:
        return [((f" {task_card.NO_TASKS}", "faint"),)]
    longest = min(LONGEST_NAME, max(len(foreign(task.name)) for task in tasks))
    states = max(width(signs.mark(task.status, glyphs)) for task in tasks)
    numbers = max(len(_files(task)) for task in tasks)
    lines = []
    for task in tasks:
        state = signs.mark(task.status, glyphs)
        why = task_card.why(task) or MEANING.get(task.status, "")
        spans = [(" ", ""), (pad(foreign(task.name), longest), "strong"), ("  ", ""),
                 *state, (" " * (states - width(state) + 2), ""),
                 *signs.bar(task_part.progress(task.files), BAR, glyphs),
                 (f"  {_files(task).rjust(numbers)}  ", "plain"),
                 (foreign(without_folder(why)), signs.role(task.status))]  # fmt: skip
        lines.append(fit(spans, columns, ellipsis=glyphs.ellipsis))
    return lines


def _files(task: TaskSummary) -> str:
    whole = sum(task.files.values())
    return f"{signs.short(task.files.get('finished', 0))}/{signs.short(whole)}"
