"""Decide whether work can move by itself, and what stops it first; pure."""

import enum
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from d0ctl.model import STATUS_OF, Counts, Phase, Status
from d0ctl.schedule.place import Demand, NodeRoom, misfit


class Cause(enum.StrEnum):
    """What stops a job or the whole production, the weightiest first."""

    NO_DAEMON = "no-daemon"
    """No process drives packages."""
    NO_NODE = "no-node"
    """No node is registered."""
    NO_NODE_UP = "no-node-up"
    """Every node is down or drained."""
    HELD = "held"
    """The job is held, or all that is left of it."""
    PAUSED = "paused"
    """A person paused the job."""
    NO_FITTING_NODE = "no-fitting-node"
    """Every node that could take what is ready is down or drained."""
    IMPOSSIBLE = "impossible"
    """No node could ever take what is ready."""


DELIBERATE = frozenset({Cause.HELD, Cause.PAUSED})
"""Causes that a person chose, so nobody has to be alarmed."""

BUSY = frozenset(
    phase for phase, status in STATUS_OF.items() if status in (Status.SCHEDULED, Status.LAUNCHED)
) - {Phase.UNREACHABLE, Phase.SUSPENDED}
"""Phases in which something is under way for a package."""


@dataclass(frozen=True, slots=True)
class NodeState:
    """A node as it bears on whether work moves.

    `retries` tells that d0ctl drained it and tries it again by itself. A node that was never
    `reached` is ruled out only by what is known of it: its name, its services, its cpus if it is
    `sized`, and what the site file says.
    """

    room: NodeRoom
    state: str
    drained: bool = False
    retries: bool = False
    reached: bool = True
    sized: bool = False

    @property
    def takes(self) -> bool:
        """Whether it takes packages now."""
        return self.state == "up" and not self.drained

    @property
    def returns(self) -> bool:
        """Whether it may take packages again without a person."""
        return not self.takes and (self.retries or not self.drained)

    def misfit(self, demand: Demand) -> str | None:
        """Why packages of a demand can never run on it; None when they can."""
        if not self.reached and not self.sized:
            demand = replace(demand, cpus=1)
        if not self.reached and self.room.platform is None:
            demand = replace(demand, platform=None, software={})
        return misfit(demand, self.room)


@dataclass(frozen=True, slots=True)
class Work:
    """A job, or a part of one: its counts, and the demands of what is ready.

    `releases` tells that the policy will release some of its held packages.
    """

    counts: Counts
    demands: Sequence[Demand] = ()
    held: bool = False
    paused: bool = False
    releases: bool = False

    @property
    def ready(self) -> int:
        """How many packages wait for a node."""
        return self.counts.get(Phase.READY, 0)

    @property
    def open(self) -> int:
        """How many packages could move, if nothing stopped them."""
        return (
            sum(self.counts.get(phase, 0) for phase in BUSY)
            + self.ready
            + self.counts.get(Phase.COOLOFF, 0)
            + self.counts.get(Phase.SUSPENDED, 0)
            + self.counts.get(Phase.UNREACHABLE, 0)
            + (self.counts.get(Phase.HELD, 0) if self.releases else 0)
        )


@dataclass(frozen=True, slots=True)
class Standing:
    """Whether work moves; if not, why, and whether that may end without a person.

    Work that has ended, or waits for other work, neither `moves` nor has a `cause`. `unfit` counts
    ready packages that no node can ever take, and `why_unfit` says why of each node for one.
    """

    moves: bool
    cause: Cause | None = None
    returns: bool = False
    unfit: int = 0
    why_unfit: dict[str, str] = field(default_factory=dict)

    @property
    def stands_still(self) -> bool:
        """Whether something stops it."""
        return self.cause is not None


def standing(work: Work, nodes: Sequence[NodeState], *, driven: bool) -> Standing:
    """Decide whether work moves, and what stops it first if it does not."""
    unfit, why = _unfit(work, nodes)
    if not work.open:
        return Standing(False, Cause.HELD if work.counts.get(Phase.HELD) else None)
    cause = _cause(work, nodes, unfit, driven=driven)
    if cause is None:
        return Standing(True, unfit=unfit, why_unfit=why)
    lacks_node = cause in (Cause.NO_NODE_UP, Cause.NO_FITTING_NODE)
    returns = driven and lacks_node and any(_could_serve(node, work) for node in nodes)
    return Standing(False, cause, returns, unfit, why)


def _cause(work: Work, nodes: Sequence[NodeState], unfit: int, *, driven: bool) -> Cause | None:
    if not driven:
        return Cause.NO_DAEMON
    if not nodes:
        return Cause.NO_NODE
    if not any(node.takes or (node.state == "unknown" and node.returns) for node in nodes):
        return Cause.NO_NODE_UP
    if any(work.counts.get(phase) for phase in BUSY):
        return None
    if work.held:
        return Cause.HELD
    if work.paused:
        return Cause.PAUSED
    if work.open > work.ready + work.counts.get(Phase.UNREACHABLE, 0):
        return None
    if not work.ready or any(_is_served(demand, nodes) for demand in work.demands):
        return None
    return Cause.IMPOSSIBLE if unfit >= work.ready else Cause.NO_FITTING_NODE


def _is_served(demand: Demand, nodes: Sequence[NodeState]) -> bool:
    """Whether a node takes, or is about to take, packages of a demand."""
    return any(
        (node.takes or (node.state == "unknown" and node.returns)) and node.misfit(demand) is None
        for node in nodes
    )


def _could_serve(node: NodeState, work: Work) -> bool:
    if not node.returns:
        return False
    return not work.demands or any(node.misfit(demand) is None for demand in work.demands)


def _unfit(work: Work, nodes: Sequence[NodeState]) -> tuple[int, dict[str, str]]:
    """How many ready packages no node can ever take, and why not, of the first of them."""
    number = 0
    why: dict[str, str] = {}
    for demand in work.demands:
        found = {node.room.name: node.misfit(demand) for node in nodes}
        if nodes and None not in found.values():
            number += demand.ready
            why = why or {name: str(reason) for name, reason in found.items()}
    return number, why
