"""Actions that no command undoes any more: changed values of packages that have ended, and stops of
jobs that something else has ended, such as a retry.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache

from msgspec.structs import replace

from d0ctl.model import Phase
from d0ctl.show.history.undo_commands import is_priority_of_jobs, stops_jobs, undo_targets
from d0ctl.store.connection import Store
from d0ctl.store.views import browse
from d0ctl.store.views.shapes import ActionView, JobSummary

ENDED: Mapping[str, frozenset[Phase]] = {
    "edit": frozenset(Phase) - {Phase.WAITING, Phase.READY, Phase.COOLOFF, Phase.HELD},
    "priority": frozenset({Phase.DONE, Phase.CANCELED, Phase.DROPPED}),
}
"""The phases in which these actions change nothing of a package."""


def without_spent(store: Store, actions: Sequence[ActionView]) -> list[ActionView]:
    """Return actions, those without a command that undoes them whose jobs have nothing left for it,
    or are not held or paused any more, or have another priority than they were given.

    The priority of a whole job can be changed at any time.
    """

    @cache
    def jobs(name: str) -> list[JobSummary]:
        return browse.jobs(store, name)

    return [replace(action, undo=None) if _is_spent(action, jobs) else action
            for action in actions]  # fmt: skip


def _is_spent(action: ActionView, jobs: Callable[[str], list[JobSummary]]) -> bool:
    parts = action.target.split(" ")
    if action.undo is None:
        return False
    if stops_jobs(action):
        return not any(getattr(job, action.verb) for name in undo_targets(action)
                       for job in jobs(name))  # fmt: skip
    if is_priority_of_jobs(action):
        value = (action.note or "").rpartition("; ")[2]
        return not any(str(job.priority) == value for part in parts for job in jobs(part))
    if action.verb not in ENDED or (
        action.verb == "priority" and not all("/" in part for part in parts)
    ):
        return False
    names = {part.partition("/")[0].partition(":")[0] for part in parts}
    return not any(number and phase not in ENDED[action.verb] for name in names
                   for job in jobs(name) for phase, number in job.counts.items())  # fmt: skip
