"""Decide whether work can move by itself, and what stops it first; pure."""

import enum
from collections.abc import Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from d0ctl.model import STATUS_OF, Counts, Phase, Status
from d0ctl.schedule.node_state import NodeState, fits, serves
from d0ctl.schedule.resources import Requirement


class Cause(enum.StrEnum):
    """The cause of a standstill of a job or the whole production, the most important first."""

    NO_DAEMON = "no-daemon"
    """No process drives packages."""
    OTHER_RUN = "other-run"
    """No daemon runs, and a `run` drives only another job."""
    NO_NODE = "no-node"
    """No node is registered."""
    NO_NODE_UP = "no-node-up"
    """Every node is down or drained, or its disk is full."""
    SUSPENDED = "suspended"
    """Packages that a person suspended have the CPUs that ready or queued packages need."""
    NO_FITTING_NODE = "no-fitting-node"
    """Every node that could take the ready packages is down or drained."""
    IMPOSSIBLE = "impossible"
    """No node can ever take the ready packages."""
    NO_SPACE = "no-space"
    """The caches of the nodes that could take the ready packages are full, and stay so."""
    NO_INPUT = "no-input"
    """Launched packages wait for inputs that will never be produced."""
    NO_COPY = "no-copy"
    """Packages wait for inputs whose only copies are on nodes that have been down for too long."""
    HELD = "held"
    """The job is held, or all its remaining packages are."""
    PAUSED = "paused"
    """A person paused the job."""
    OTHER_JOB = "other-job"
    """It waits for packages of other jobs, none of which can move."""
    NEXT_TRY = "next-try"
    """After failures, only packages are left that are tried again at a later time."""


DELIBERATE = frozenset({Cause.HELD, Cause.PAUSED})
"""Causes that a person chose, or the policy, whose held packages count as failures."""


def is_alarming(cause: Cause | None) -> bool:
    """Return whether nothing moves, and not only because jobs or packages are held or paused."""
    return cause is not None and cause not in DELIBERATE


UNDRIVEN = frozenset({Cause.NO_DAEMON, Cause.OTHER_RUN})
"""Causes by which no process starts packages of a job."""

LACKS_NODE = frozenset({Cause.NO_NODE_UP, Cause.NO_FITTING_NODE, Cause.NO_SPACE})
"""Causes that end when another node comes back."""

SITEWIDE = frozenset({Cause.NO_DAEMON, Cause.NO_NODE, Cause.NO_NODE_UP})
"""Causes that stop every job."""

BUSY = frozenset(
    phase for phase, status in STATUS_OF.items() if status in (Status.SCHEDULED, Status.LAUNCHED)
) - {Phase.UNREACHABLE, Phase.SUSPENDED}
"""Phases in which something happens for a package."""


class Work(Struct, frozen=True):
    """A job, or a part of one: its counts, and the requirements of ready packages.

    With `releases` the policy will release held packages, with `resumes` its pause ends by itself;
    `awaiting` counts launched packages that only wait for inputs, assigned ones that lack them, and
    those whose results can't be copied,
    `suspended` those that a person suspended, `behind` those queued on nodes that were asked to
    pause or wait for CPUs of suspended ones, `stuck` ready ones with inputs that can't be copied;
    `outside` is the work that it waits for.
    """

    counts: Counts
    requirements: Sequence[Requirement] = ()
    held: bool = False
    paused: bool = False
    releases: bool = False
    awaiting: Counts = field(default_factory=dict)
    outside: "Work | None" = None
    resumes: bool = False
    suspended: int = 0
    behind: int = 0
    stuck: int = 0

    @property
    def ready(self) -> int:
        """How many packages wait for a node."""
        return self.counts.get(Phase.READY, 0)

    @property
    def busy(self) -> int:
        """How many packages are in a phase in which something happens."""
        return self._moving(*BUSY) - self.behind

    @property
    def lacking(self) -> int:
        """How many packages lack CPUs: ready ones, and those queued behind suspended ones."""
        return self.ready + self.behind

    @property
    def silent(self) -> int:
        """How many packages are on nodes that do not answer; after a time they count as lost."""
        return self._moving(Phase.UNREACHABLE)

    @property
    def stranded(self) -> int:
        """How many packages wait for files of nodes that are down for too long."""
        awaiting = self.awaiting
        on_nodes = awaiting.get(Phase.ASSIGNED, 0) + awaiting.get(Phase.TRANSFERRING, 0)
        return on_nodes + min(self.stuck, self.ready)

    @property
    def open(self) -> int:
        """How many packages could move, if nothing stopped them."""
        waiting = self.silent + self.retrying + self._moving(Phase.SUSPENDED)
        return self.busy + self.lacking + waiting

    @property
    def retrying(self) -> int:
        """How many packages wait for a later try: cooling off, or held by the policy."""
        return self._moving(Phase.COOLOFF) + self.releases * self.counts.get(Phase.HELD, 0)

    def _moving(self, *phases: Phase) -> int:
        return sum(self.counts.get(phase, 0) - self.awaiting.get(phase, 0) for phase in phases)


SHORT_WAIT_S = 60.0
"""For up to how long a package may cool off while its job counts as one that moves."""


class NextTry(Struct, frozen=True):
    """A package that waits for a try: its phase and since when, the time of it, the failure."""

    path: str
    phase: str
    since: float
    at: float
    note: str | None


class Standing(Struct, frozen=True):
    """Whether work moves; if not, why, and whether that may end without a person.

    Work that has ended neither `moves` nor has a `cause`; work that waits for other work
    `returns` without one. `unfit` counts ready packages that no node can ever take; `why_unfit`
    has the reasons by node for one of them, or what full caches lack.
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

    @property
    def is_settled(self) -> bool:
        """Whether nothing of it can move without a person."""
        return not self.moves and not self.returns


def standing(work: Work, nodes: Sequence[NodeState], *, driven: bool) -> Standing:
    """Decide whether work moves; if not, name the first cause."""
    own = alone(work, nodes, driven=driven)
    if not own.is_settled or work.outside is None or own.cause is Cause.NO_DAEMON:
        return own
    other = standing(work.outside, nodes, driven=driven)
    if not other.is_settled:
        return replace(own, returns=True)
    if own.stands_still or not other.stands_still:
        return own
    return replace(own, cause=other.cause if other.cause in SITEWIDE else Cause.OTHER_JOB)


def alone(work: Work, nodes: Sequence[NodeState], *, driven: bool) -> Standing:
    """Decide by the packages of the work itself, without those of other jobs."""
    unfit, why = _unfit(work, nodes)
    if not work.open:
        if work.counts.get(Phase.HELD):
            return Standing(False, Cause.HELD)
        if work.stranded:
            return Standing(False, Cause.NO_COPY)
        return Standing(False, Cause.NO_INPUT if any(work.awaiting.values()) else None)
    cause = _cause(work, nodes, unfit, driven=driven)
    if cause is Cause.NO_SPACE:
        why = why or _lacks(work, nodes)
    if cause is None:
        return Standing(True, unfit=unfit, why_unfit=why)
    return Standing(False, cause, driven and _returns(work, nodes, cause), unfit, why)


def _cause(work: Work, nodes: Sequence[NodeState], unfit: int, *, driven: bool) -> Cause | None:
    if not driven:
        return Cause.NO_DAEMON
    is_any_up = any(node.takes or node.is_coming for node in nodes)
    if work.busy and (is_any_up or any(node.state == "up" for node in nodes)):
        return None
    if work.held or work.paused:
        return Cause.HELD if work.held else Cause.PAUSED
    if not nodes:
        return Cause.NO_NODE
    if not is_any_up and not work.behind:
        return Cause.NO_NODE_UP
    stopped = work.silent + work.retrying + (work.suspended if work.lacking else 0)
    if work.open > work.lacking + stopped:
        return None
    if not work.lacking:
        return Cause.NEXT_TRY if work.retrying and not work.silent else None
    serving = [(requirement, node) for requirement in work.requirements
               for node in nodes if serves(node, requirement)]  # fmt: skip
    if serving and not work.behind and work.stuck >= work.ready:
        return Cause.NO_COPY
    if serving or work.behind:
        return None if any(node.leaves(need) for need, node in serving) else Cause.SUSPENDED
    if unfit >= work.ready:
        return Cause.IMPOSSIBLE
    return Cause.NO_SPACE if _lacks(work, nodes) else Cause.NO_FITTING_NODE


def _returns(work: Work, nodes: Sequence[NodeState], cause: Cause) -> bool:
    """Return whether work that is stopped may move again without a person."""
    if work.busy or work.silent:
        return True
    if work.held or work.paused:
        return work.resumes and not work.held
    may_return = cause in LACKS_NODE and any(_could_serve(node, work) for node in nodes)
    return may_return or work.open > work.ready or cause is Cause.SUSPENDED


def _could_serve(node: NodeState, work: Work) -> bool:
    able = (fits(node, requirement) for requirement in work.requirements)
    return node.returns and (not work.requirements or any(able))


def _lacks(work: Work, nodes: Sequence[NodeState]) -> dict[str, str]:
    """Return what the caches of nodes that could take ready packages lack, by node."""
    return {
        node.room.name: lack for requirement in work.requirements for node in nodes
        if (node.takes or node.is_coming) and node.misfit(requirement) is None
        and (lack := node.lack(requirement))
    }  # fmt: skip


def until(first: NextTry, state: Standing) -> Standing:
    """Return the standing of work that waits for a try: it moves if that is soon."""
    is_soon = first.at - first.since <= SHORT_WAIT_S
    return replace(state, moves=True, cause=None) if is_soon else state


def _unfit(work: Work, nodes: Sequence[NodeState]) -> tuple[int, dict[str, str]]:
    """Return how many ready packages no node can ever take, and the reasons for the first."""
    number = 0
    why: dict[str, str] = {}
    for requirement in work.requirements:
        found = {node.room.name: node.misfit(requirement) for node in nodes}
        if nodes and None not in found.values():
            number += requirement.ready
            why = why or {name: str(reason) for name, reason in found.items()}
    return number, why
