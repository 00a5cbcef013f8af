"""Values of packages that a person changed before they ended: no command changes them back."""

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from d0ctl.model import Counts, Phase
from d0ctl.store.connection import Store
from d0ctl.store.views import browse
from d0ctl.store.views.shapes import ActionView

ENDED: Mapping[str, frozenset[Phase]] = {
    "edit": frozenset(Phase) - {Phase.WAITING, Phase.READY, Phase.COOLOFF, Phase.HELD},
    "priority": frozenset({Phase.DONE, Phase.CANCELED, Phase.DROPPED}),
}
"""The phases in which these actions change nothing of a package."""


def without_spent(store: Store, actions: Sequence[ActionView]) -> list[ActionView]:
    """Return actions, those without a command that undoes them whose jobs have nothing left for it.

    The priority of a whole job can be changed at any time.
    """
    known: dict[str, Counts] = {}
    return [replace(action, undo=None) if _is_spent(store, action, known) else action
            for action in actions]  # fmt: skip


def _is_spent(store: Store, action: ActionView, known: dict[str, Counts]) -> bool:
    parts = action.target.split(" ")
    if action.verb not in ENDED or action.undo is None:
        return False
    if action.verb == "priority" and not all("/" in part for part in parts):
        return False
    for name in {part.partition("/")[0].partition(":")[0] for part in parts}:
        if name not in known:
            known[name] = {phase: number for job in browse.jobs(store, name)
                           for phase, number in job.counts.items()}  # fmt: skip
        if any(number and phase not in ENDED[action.verb] for phase, number in known[name].items()):
            return False
    return True
