"""Input files that were replaced by others of the same name after packages had processed them."""

from d0ctl.policy.remarks import Remark
from d0ctl.store import lifecycle
from d0ctl.store.connection import Selection, Store
from d0ctl.store.jobs import retry
from d0ctl.store.tasks import content_follower
from d0ctl.store.tasks.state import Task


def is_any(store: Store, task: Task) -> bool:
    """Return whether an input file of a task was replaced."""
    return store.value("has_replaced", task=task.id) is not None


def make_again(store: Store, task: Task, *, now: float) -> None:
    """Make the packages of replaced files again, and those that merged their outputs.

    So their outputs have each file once, in its new version. In a transaction.
    """
    store.empty("needed")
    store.change("choose_failed_replaced", task=task.id)
    store.change("leave_replaced")
    content_follower.drop_repackaged(store, now=now)
    selected = _choose(store, task)
    selected.change("keep_mergers")
    lifecycle.kill(selected, actor="d0ctl", note=Remark.INPUT_REPLACED, now=now)
    selected = _choose(store, task)
    retry.make_again(selected, actor="d0ctl", note=Remark.INPUT_REPLACED, now=now)
    selected.change("choose_live_replaced", task=task.id)
    selected.change("pick_replaced")


def _choose(store: Store, task: Task) -> Selection:
    selected = store.select()
    selected.change("choose_replaced", task=task.id)
    selected.change("choose_mergers")
    return selected
