"""What a rehearsal is about, under which conditions it runs, and what it finds."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct, field

from d0ctl.schedule.costs import Links
from d0ctl.schedule.quota import Throttle
from d0ctl.schedule.resources import NO_BOUNDS, Rooms


class File(Struct, frozen=True):
    """A file: its size, and in which cluster it is before all else; None if a package makes it."""

    size: int
    cluster: int | None = None
    stays: bool = False
    """Whether it stays when its last reader has ended, or its maker if nobody reads it."""


class Task(Struct, frozen=True):
    """A package: the requirement it has, its run time on a standard node, and its files.

    Files, and the tasks that it comes after, are positions in lists. One without a requirement is
    a mark that only comes between others.
    """

    requirement: int
    seconds: float
    inputs: Sequence[int] = ()
    outputs: Sequence[int] = ()
    after: Sequence[int] = ()


class Failure(Struct, frozen=True):
    """An attempt that fails: why, after how many seconds, and after how many more its package is
    ready again, None if it fails for good; `elsewhere` if it leaves out the node.
    """

    reason: str
    lasts_s: float
    again_s: float | None = None
    elsewhere: bool = False


class NodePause(Struct):
    """A drained node: the stage that it failed since `began`, and when a package may try it."""

    stage: int
    began: float
    until: float


class Trust:
    """What ended attempts say about nodes; this one trusts all nodes always."""

    def __init__(self) -> None:
        self.resting: dict[int, NodePause] = {}
        """The drained nodes."""
        self.drained: Counter[int] = Counter()
        """How often nodes were drained, or stayed drained after a trial."""
        self.excluded: set[int] = set()
        """The nodes that packages left out which had failed there."""

    def suspects(self, now: float, in_hand: Callable[[int, int], int]) -> Rooms:
        """Return how many more packages of a stage nodes may take; `in_hand` counts those there."""
        return NO_BOUNDS

    def count(
        self, task: int, stage: int, node: int, reason: str | None, began: float, now: float
    ) -> Sequence[int]:
        """Count an attempt that ends; return the tasks whose failures are blamed on its node."""
        return ()

    def excludes(self, node: int) -> bool:
        """Return whether a package that failed on a node leaves it out."""
        return False

    def wakes(self, stage: int, node: int) -> float | None:
        """Return when a node may take packages again after a failure; None if it may now."""
        return None


class Conditions(Struct):
    """The conditions of a rehearsal.

    `limits` is how many packages of stages may run at once; that of stage 0 applies to all. `fails`
    says whether the next attempt of a task on a node fails. As many packages of a stage as
    `excused` says may fail for good, and their readers continue without their files.
    """

    links: Links = Links()
    limits: Mapping[int, int] = field(default_factory=dict)
    throttles: Sequence[Throttle] = ()
    job: str = ""
    researcher: str = ""
    fails: Callable[[int, int], Failure | None] = lambda task, node: None
    excused: Mapping[int, int] = field(default_factory=dict)
    trust: Trust = field(default_factory=Trust)


class Outcome(Struct):
    """What a rehearsal found; times in seconds from its begin."""

    makespan_s: float = 0.0
    starts: list[float] = field(default_factory=list)
    ends: list[float] = field(default_factory=list)
    nodes: list[int] = field(default_factory=list)
    """The node of each task, by its id; 0: it never ran; -1: it is a mark."""
    busy_s: dict[int, float] = field(default_factory=dict)
    """CPU seconds in use, by node."""
    peaks: Counter[int] = field(default_factory=Counter)
    """The most bytes of files at a time, by cluster."""
    carried: int = 0
    """Bytes that went from one cluster to another."""
    retried: Counter[str] = field(default_factory=Counter)
    """Attempts that failed and were followed by another, by reason."""
    failed: Counter[str] = field(default_factory=Counter)
    """Packages that failed for good, by reason."""
    left: int = 0
    """Packages whose inputs exist, and for whose files no cache has room at the end."""
    wasted_s: float = 0.0
    """CPU seconds of attempts that failed."""
    drained: Counter[int] = field(default_factory=Counter)
    """How often nodes were drained because of their failures."""
    excluded: set[int] = field(default_factory=set)
    """The nodes that packages left out which had failed there."""

    @property
    def stuck(self) -> int:
        """How many tasks never ran."""
        return sum(node == 0 for node in self.nodes)
