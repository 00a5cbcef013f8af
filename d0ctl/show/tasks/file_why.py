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
    found = Explanation(f"{task} {file.name}", file.status, answer)
    if file.events is not None:
        found.facts.append(f"it has {count(file.events, 'event')}")
    if file.ranges:
        rest = "" if file.rest is None else f"; no packages yet from event {file.rest:,} on"
        found.facts.append(f"ranges of its events: {ranges(file.ranges)}{rest}")
    for one in file.open_ranges[:MOST_RANGES]:
        package = f", package `{one['path']}`" if one["path"] else ""
        found.facts.append(
            f"events {one['first']:,} to {one['last']:,} are {one['status']} at attempt"
            f" {one['attempts']}{package}"
        )
    for one in file.attempts:
        ended = f"{one['outcome']} {moment(one['ended'], now)}" if one["outcome"] else "not ended"
        found.facts.append(f"attempt {one['number']}: package `{one['path']}`, {ended}")
    paths = [one["path"] for one in (*file.open_ranges, *file.attempts) if one["path"]]
    found.commands += [f"d0ctl why {path}" for path in dict.fromkeys(paths[-1:])]
    found.commands.append(f"d0ctl task status {task}")
    found.details.update(dataset=file.dataset, events=file.events, ranges=dict(file.ranges))
    return found
