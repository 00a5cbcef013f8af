"""How much of a task is queued, and how much should be: by its share and what its packages request.

Tasks of the same share whose packages request the same are a partition. The nodes that could run
them decide how many packages its tasks keep in the queue together, so that a large task leaves the
packages of another share, or of another class of nodes, their place.
"""

import json
from collections.abc import Mapping
from typing import NamedTuple

from d0ctl.policy.remarks import NodeFailing, read
from d0ctl.schedule.resources import NodeRoom, Requirement, shape
from d0ctl.store.attempts.history import share_usage
from d0ctl.store.connection import Store
from d0ctl.store.nodes.catalogue import Catalogue, names_of, requirement_of
from d0ctl.store.nodes.site import setting
from d0ctl.store.nodes.standstill import NodeView, node_views
from d0ctl.store.rows import make
from d0ctl.store.tasks.state import Task
from d0ctl.store.views.shapes.node_choice import NodeChoiceView

LEAST_QUEUED, PER_SLOT = 50, 4
"""The tasks of a partition have enough packages in the queue if they have so many for each slot;
a task of its own has at least so many."""

SHORT_S, MOST_SHORT = 2.0, 2_000
"""Of short packages they have enough for these seconds, but no more than this number: agents look
at a task a few times a second, and nodes that have nothing left would wait for them each time."""


class Queue(NamedTuple):
    """How much of a task is still to be launched, how much is on nodes, and what could run it."""

    queued: int
    launched: int
    slots: int
    """How many of its packages the nodes could run at once."""
    sharers: int
    """How many tasks of its partition make packages."""
    nodes: Mapping[str, str | None]
    """Why each node takes none of its packages; None if it does. Empty before there are any."""
    pace: float | None = None
    """The recent run time of its packages in seconds, None if unknown."""

    @property
    def most(self) -> int:
        """How many packages its queue should have."""
        together = PER_SLOT * self.slots
        if self.pace is not None:
            short = int(min(MOST_SHORT, self.slots * SHORT_S / max(self.pace, 0.001)))
            together = max(together, short)
        return max(LEAST_QUEUED, together // max(1, self.sharers))

    @property
    def is_enough(self) -> bool:
        """Whether no more packages are needed yet."""
        return self.queued > self.most // 2

    @property
    def able(self) -> list[str]:
        """The nodes that take its packages."""
        return [name for name, why in self.nodes.items() if why is None]


def queue(store: Store, task: Task) -> Queue:
    """Return how much of a task waits and runs, and what could run more of it."""
    counted = store.row("queued_packages", stage=task.stage_id)
    assert counted is not None
    requirement = _requirement(store, task)
    views = [] if requirement is None else node_views(store)
    against = (
        {} if requirement is None else {view.name: _against(view, requirement) for view in views}
    )
    slots = 0 if requirement is None else sum(
        _slots(view.node.room, requirement) for view in views if against[view.name] is None
    )  # fmt: skip
    sharers = store.value("sharers_of_task", task=task.id)
    pace = None if requirement is None else requirement.pace
    return Queue(counted["queued"], counted["launched"], slots, sharers, against, pace)


def _requirement(store: Store, task: Task) -> Requirement | None:
    """Return what the last package of a task requests; None if there is none yet."""
    row = store.row("last_requirement", stage=task.stage_id)
    return None if row is None else requirement_of(row, Catalogue(store), ready=0)


def _against(view: NodeView, requirement: Requirement) -> str | None:
    """Return why a node takes no packages with a requirement now; None if it does."""
    if view.node.state == "down":
        return "it is down"
    if view.node.drained:
        if isinstance(read(view.drain_note), NodeFailing):
            return "it is drained by d0ctl"
        return f"it is drained{f': {view.drain_note}' if view.drain_note else ''}"
    return view.node.misfit(requirement)


def _slots(room: NodeRoom, requirement: Requirement) -> int:
    """Return how many packages with a requirement a node could run at once."""
    asked = ((room.cpus, requirement.cpus), (room.memory, requirement.memory),
             (room.gpus, requirement.gpus))  # fmt: skip
    return max(1, min(has // wants for has, wants in asked if has and wants))


def keep_partition(store: Store, task: Task) -> None:
    """Record the partition of a task that has packages, in a transaction."""
    requirement = _requirement(store, task)
    if requirement is None:
        return
    shares = share_usage.tree(store)
    names = names_of(task.originator, setting(store, "researchers") or {})
    path = "" if shares is None else shares.path_of(names, task.name)
    store.change("keep_partition", task=task.id, partition=json.dumps([path, *shape(requirement)]))


def node_choices(store: Store, task: Task, limit: int) -> list[NodeChoiceView]:
    """Return why nodes got packages of a task lately, the last ones first."""
    found = store.rows("choices_of_stage", job=task.job_id, stage=task.stage_id, limit=limit)
    return [make(NodeChoiceView, row) for row in found]
