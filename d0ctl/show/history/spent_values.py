"""Actions that no command undoes any more: changed values of packages that have ended, and stops
and acknowledgements that something else has ended, such as a retry; or not yet: kills under way,
drops of files without which a package goes on, and lines that another job reads by now.
"""

import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from itertools import takewhile

from msgspec.structs import replace

from d0ctl.errors import NotFound
from d0ctl.model import LIVE, Counts, Phase
from d0ctl.select import parse, union
from d0ctl.show.history.undo_commands import (
    ENDS,
    STOPS,
    UPDATE,
    is_priority_of_jobs,
    stops_jobs,
    undo_targets,
    withdraws,
)
from d0ctl.store import lifecycle
from d0ctl.store.connection import Selection, Store
from d0ctl.store.jobs import acknowledge
from d0ctl.store.jobs.correction.texts import are_additions_read
from d0ctl.store.views import browse, selection
from d0ctl.store.views.shapes import ActionView, JobSummary

ENDED: Mapping[str, frozenset[Phase]] = {
    "edit": frozenset(Phase) - {Phase.WAITING, Phase.READY, Phase.COOLOFF, Phase.HELD},
    "priority": frozenset({Phase.DONE, Phase.CANCELED, Phase.DROPPED}),
}
"""The phases in which these actions change nothing of a package."""

KILLS = frozenset({"kill", "kill-line"})
"""Actions that can be undone once no package of their jobs is being killed."""

CHANGED: Mapping[str, frozenset[Phase]] = {
    "acknowledge": frozenset({Phase.FAILED}),
    "release": frozenset({Phase.HELD}),
    "resume": frozenset({Phase.HELD, Phase.SUSPENDED}),
    "retry": frozenset({Phase.FAILED, Phase.CANCELED}),
}
"""The phases in which these commands that undo an action change a package."""

PREVIOUS = " --previous"
"""With this option an update takes back the lines that the one before has added."""

RUNNING = "--running"
"""With this option packages that run are to be suspended, too, and may not be so yet."""

MOST_READ = 1_000
"""Up to how many packages of an action are read, except of one on their priority; of more it counts
what is left of their jobs.
"""


def without_spent(store: Store, actions: Sequence[ActionView]) -> list[ActionView]:
    """Return actions, those without a command that undoes them whose jobs have nothing left for it,
    or are not stopped any more, or have another priority than they were given, such as that of a
    job file since.

    The priority of a whole job can be changed at any time.
    """

    @cache
    def jobs(name: str) -> list[JobSummary]:
        return browse.jobs(store, name)

    return [replace(action, undo=None) if _is_spent(store, action, jobs)
            else _without_release(action, jobs) for action in actions]  # fmt: skip


def _without_release(action: ActionView, jobs: Callable[[str], list[JobSummary]]) -> ActionView:
    """Return an action, without the release that ends its undo if its job is not held any more."""
    back, release, name = (action.undo or "").rpartition(" && d0ctl release ")
    if not release or any(job.hold for job in jobs(name)):
        return action
    return replace(action, undo=back)


def _is_spent(store: Store, action: ActionView, jobs: Callable[[str], list[JobSummary]]) -> bool:
    parts = action.target.split(" ")
    if action.undo is None:
        return False
    names = {part.partition("/")[0].partition(":")[0] for part in parts}
    if action.verb in KILLS and any(
        job.counts.get(Phase.KILLING) for name in names for job in jobs(name)
    ):
        return True
    if stops_jobs(action):
        return not any(getattr(job, action.verb) for name in undo_targets(action)
                       for job in jobs(name))  # fmt: skip
    if action.verb == UPDATE and PREVIOUS in action.undo:
        return any(are_additions_read(store, job.id, since=action.at)
                   for name in names for job in jobs(name))  # fmt: skip
    value = (action.note or "").rpartition("; ")[2]
    if is_priority_of_jobs(action):
        return not any(str(job.priority) == value for part in parts for job in jobs(part))
    if action.verb in STOPS or action.verb in ENDS:
        return _is_over(store, action)
    if action.verb not in ENDED or (
        action.verb == "priority" and not all("/" in part for part in parts)
    ):
        return False
    counts = [job.counts for name in names for job in jobs(name)]
    if _is_ended(action, counts):
        return True
    if action.packages > MOST_READ and action.verb != "priority":
        return False
    selected = _selected(store, action)
    if action.verb == "priority" and value not in map(str, lifecycle.priorities(selected)):
        return True
    return _is_ended(action, [lifecycle.phases(selected)])


def _is_over(store: Store, action: ActionView) -> bool:
    """Return whether none of its packages are stopped any more, or failed as they were."""
    verb = (action.undo or "").split(" ")[1]
    if verb == "restore-line" and action.packages <= MOST_READ:
        return _is_read_without(_selected(store, action))
    changed = CHANGED.get(verb)
    if changed is None or action.packages > MOST_READ:
        return False
    if RUNNING in (action.note or ""):
        changed = changed.union(LIVE)
    selected = _selected(store, action)
    if action.verb in ENDS:
        acknowledge.narrow(selected, acknowledged=not withdraws(action))
    return changed.isdisjoint(lifecycle.phases(selected))


def _is_read_without(selected: Selection) -> bool:
    """Return whether a launched package goes on without files of dropped lines to restore."""
    from d0ctl.store.jobs import restore_line  # late: few actions drop lines

    if not restore_line.keep_named(selected):
        return False
    restore_line.choose_restored(selected)
    reader = restore_line.launched_without(selected)
    return reader is not None and reader["phase"] != Phase.DONE


def _is_ended(action: ActionView, counts: Iterable[Counts]) -> bool:
    return all(phase in ENDED[action.verb] for of in counts for phase, number in of.items()
               if number)  # fmt: skip


def _selected(store: Store, action: ActionView) -> Selection:
    """Select the packages that the undo of an action selects."""
    _, _, *arguments = shlex.split(action.undo or "")
    paths = [parse(word) for word in takewhile(lambda word: not word.startswith("-"), arguments)
             if not word.isdigit()]  # fmt: skip
    try:
        return selection.choose(store, union(paths), now=0.0, lenient=True)
    except NotFound:
        return store.select()
