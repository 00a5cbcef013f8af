"""Why a file of a dataset of a task has its status."""

from d0ctl.show.tasks.task_card import ranges
from d0ctl.show.why.common import Explanation
from d0ctl.store.tasks.views import FileView
from d0ctl.units import count, moment

MOST_RANGES = 5
"""How many ranges of events are named; the others are counted."""


def why(task: str, file: FileView, now: float) -> Explanation:
    """Explain the status of a file."""
    answer = f"file `{file.name}` of dataset `{file.dataset}` is {file.status}: {file.meaning}"
    explanation = Explanation(f"{task} {file.name}", file.status, answer)
    if file.events is not None:
        explanation.facts.append(f"it has {count(file.events, 'event')}")
    if file.ranges:
        rest = "" if file.rest is None else f"; no packages yet from event {file.rest:,} on"
        explanation.facts.append(f"ranges of its events: {ranges(file.ranges)}{rest}")
    for events in file.open_ranges[:MOST_RANGES]:
        package = f", package `{events['path']}`" if events["path"] else ""
        explanation.facts.append(
            f"events {events['first']:,} to {events['last']:,} are {events['status']} at attempt"
            f" {events['attempts']}{package}"
        )
    for row in file.attempts:
        ended = f"{row['outcome']} {moment(row['ended'], now)}" if row["outcome"] else "not ended"
        explanation.facts.append(f"attempt {row['number']}: package `{row['path']}`, {ended}")
    paths = [row["path"] for row in (*file.open_ranges, *file.attempts) if row["path"]]
    explanation.commands += [f"d0ctl why {path}" for path in dict.fromkeys(paths[-1:])]
    explanation.commands.append(f"d0ctl task status {task}")
    explanation.details.update(dataset=file.dataset, events=file.events, ranges=dict(file.ranges))
    return explanation
