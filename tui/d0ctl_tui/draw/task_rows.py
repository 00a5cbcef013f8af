"""What the row of a task says besides what that of a job does."""

from d0ctl.model import Counts
from d0ctl.show.cards.part import status_of
from d0ctl.show.drawing import signs
from d0ctl.show.drawing.spans import Span, foreign
from d0ctl.show.tasks import task_card, task_part
from d0ctl.store.tasks.views import TaskJob
from d0ctl.store.views.shapes import JobSummary, LineSummary, StageSummary

Group = JobSummary | StageSummary | LineSummary


def status(row: Group, kept: str) -> str:
    """Return the word for a task, job, stage or line."""
    return row.task.status if isinstance(row, TaskJob) else status_of(row, kept)


def counts(row: Group) -> Counts:
    """Return what its bar shows: packages, or of a task its files."""
    return task_part.counts(row) if isinstance(row, TaskJob) else row.counts


def name(row: JobSummary) -> list[Span]:
    """Return the name of a job or task."""
    kind = [("  task", "faint")] if isinstance(row, TaskJob) else []
    return [(foreign(row.name), "strong"), *kind]


def about(row: Group) -> str:
    """Return how far a task that does not go on is, and why; empty if it does."""
    if not isinstance(row, TaskJob) or not (why := task_part.reason(row.task)):
        return ""
    whole = sum(row.task.files.values())
    done = signs.short(row.task.files.get("finished", 0))
    return f"{done}/{signs.short(whole)}  {foreign(why)}" if whole else foreign(why)


def tally(row: Group) -> list[Span]:
    """Return how many files of a task have each status; nothing for others."""
    if not isinstance(row, TaskJob):
        return []
    if row.task.status == "scouting":
        return [("scouts", "faint")]
    return [(task_card.files(row.task.files), "faint")]
