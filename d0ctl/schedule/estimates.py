"""Estimates, each a middle value and a range that holds eight of ten, and what is left of jobs."""

import json
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct, field

if TYPE_CHECKING:
    from d0ctl.schedule.quota import Limit

GUESSED = 2.0
"""Without measurements, the range goes from a value divided by this to its multiple."""

LEAST_WORK = 10**6
"""With fewer bytes of work files, a run counts as one without any."""


class Range(Struct, frozen=True):
    """A middle value; one in ten is below `low`, and one above `high`."""

    low: float
    middle: float
    high: float

    def __add__(self, other: "Range") -> "Range":
        return Range(self.low + other.low, self.middle + other.middle, self.high + other.high)

    def times(self, factor: float) -> "Range":
        """Return its multiple."""
        return Range(self.low * factor, self.middle * factor, self.high * factor)

    def sum_of(self, number: int, runs: int) -> "Range":
        """Return the sum of so many values, based on `runs`, which varies less than each."""
        part = 1.0 / math.sqrt(min(number, runs + 1))
        low, high = (self.middle - self.low) * part, (self.high - self.middle) * part
        return Range(self.middle - low, self.middle, self.middle + high).times(number)

    def at_least(self, least: float) -> "Range":
        """Return the same values, but none below this."""
        return Range(max(self.low, least), max(self.middle, least), max(self.high, least))

    def no_earlier(self, *others: "Range") -> "Range":
        """Return when this and the others have ended."""
        all_of = (self, *others)
        return Range(
            max(of.low for of in all_of), max(of.middle for of in all_of),
            max(of.high for of in all_of),
        )  # fmt: skip

    def no_later(self, end: "Range") -> "Range":
        """Return the same values, but none above the other's."""
        return Range(min(self.low, end.low), min(self.middle, end.middle), min(self.high, end.high))

    def around(self, middle: float) -> "Range":
        """Return another middle value with the same range, as a multiple."""
        if not self.middle or middle == math.inf:
            return Range(middle, middle, middle)
        return self.times(middle / self.middle)

    @property
    def known(self) -> "Range | None":
        """Itself; None if it is infinite."""
        return self if self.middle < math.inf else None


class Sizes(Struct, frozen=True):
    """Bytes that a package is expected to take: memory, outputs, and files that it removes again.

    None if nothing is known about them.
    """

    memory: Range | None = None
    output: Range | None = None
    work: Range | None = None

    @property
    def space(self) -> int | None:
        """The disk that it takes in most cases; None if nothing is known."""
        known = [estimate.high for estimate in (self.output, self.work) if estimate]
        return round(sum(known)) or None

    def largest(self, other: "Sizes") -> "Sizes":
        """Return the larger of each."""
        return Sizes(_larger(self.memory, other.memory), _larger(self.output, other.output),
                     _larger(self.work, other.work))  # fmt: skip


def _larger(bounds: Range | None, other: Range | None) -> Range | None:
    if bounds is None or other is None:
        return bounds or other
    return bounds if bounds.high >= other.high else other


NO_SIZES = Sizes()

NOTHING = Range(0.0, 0.0, 0.0)


class StageLeft(Struct, frozen=True):
    """What is left of a stage: its packages that have not begun, and the CPU seconds of each on a
    standard node. `runs` is how many packages that is based on; if it is unknown,
    `seconds` is None.
    """

    seq: int
    packages: int
    seconds: Range | None
    runs: int = 0
    rank: float = 0.0
    """Seconds of the longest chain that begins in it."""
    sizes: Sizes = NO_SIZES
    """The memory and disk of one of its packages."""
    unmeasured: str | None = None
    """A package at a position of its chains at which none has succeeded, while others have; empty
    if that is in later lines."""
    stuck: int = 0
    """How many more of its packages wait for failed, canceled or held ones."""
    held: int = 0
    """How many more of its packages are held: only a release runs them."""
    running: float = 0.0
    """In how many seconds the last of its packages on nodes that take more ends."""
    cpus: float = 1.0
    """The most CPUs that one of its packages takes."""
    limits: Sequence["Limit"] = ()
    """Limits for its packages alone."""
    cooling: float = 0.0
    """Seconds until its packages that cool off, or wait for such, could have ended."""
    alone: Range = NOTHING
    """In how many seconds its packages on nodes that take no more have ended."""
    blind: int = 0
    """How many of its packages run of which nothing is known: neither a run time nor progress."""
    unfit: int = 0
    """How many of its packages are ready, and no node takes them."""
    queued: int = 0
    """How many more of its packages are on nodes and have not begun."""
    after: Range = NOTHING
    """In how many seconds its packages could have ended that wait for files of other jobs, or for
    such packages; infinite if nobody knows."""
    made: Range = NOTHING
    """In how many seconds the stages of its job have ended at the soonest that it reads."""

    most_rest: float = math.inf
    """The rest of the chains of these stages, which is no less than its own."""

    @property
    def rest(self) -> float:
        """Seconds of the longest chain that begins after it."""
        own = self.rank if self.seconds is None else self.rank - self.seconds.middle
        return min(max(0.0, own), self.most_rest)

    @property
    def is_one(self) -> bool:
        """Whether one package of it is left, which has not begun and can."""
        others = self.queued + self.stuck + self.held + self.unfit + self.running
        return self.packages == 1 and not others and not self.alone.high

    @property
    def last_end(self) -> Range:
        """In how many seconds its packages on nodes have ended."""
        spread = self.seconds or Range(1.0, 1.0, 1.0)
        return spread.around(self.running).no_earlier(self.alone)

    @property
    def work(self) -> Range:
        """CPU seconds of its packages together, which vary less than those of one."""
        if self.seconds is None or not self.packages:
            return NOTHING
        return self.seconds.sum_of(self.packages, self.runs)


class JobLeft(Struct, frozen=True):
    """What is left of a job. `begun` are the CPU seconds on a standard node of the packages that
    are on nodes that take more, `chain` is the longest chain that begins now, in seconds of a
    standard node.
    """

    name: str
    stages: Sequence[StageLeft] = ()
    begun: Range = NOTHING
    chain: float = 0.0
    is_halted: bool = False
    """Whether a person holds or pauses it."""
    nodes_down: Sequence[str] = ()
    """Nodes that are down and have its packages, or alone its files: nobody knows when it ends."""
    cooling: float = 0.0
    """Seconds until the packages that cool off have done so, with the chains that begin then."""
    stragglers: Mapping[int, int] = field(default_factory=dict)
    """How many packages of stages run much longer than expected: `begun` is without their rest."""
    limits: Sequence["Limit"] = ()
    suspended: int = 0
    """How many packages a person suspended, or a guard for long: nobody knows when it ends."""
    is_on_nodes: bool = False
    """Whether packages are on nodes, even if the ends that they reported have passed."""
    alone: float = 0.0
    """The CPU seconds of packages on nodes that take no more: they need no CPUs of others."""
    endless_makers: Sequence[int] = ()
    """Jobs without an estimated end that make files which it waits for: it has none either."""
    queue: float = 0.0
    """Seconds until its chains have ended that wait for CPUs; infinite if nobody knows."""

    @property
    def has_any(self) -> bool:
        """Whether packages are left that have not ended."""
        return bool(self.begun.middle or self.is_on_nodes or any(of.packages for of in self.stages))

    @property
    def needs_nodes(self) -> bool:
        """Whether packages are left that only nodes that take packages run."""
        return bool(self.begun.middle or any(of.packages for of in self.stages))

    @property
    def waits_for_nodes(self) -> bool:
        """Whether packages are left that are not on nodes: only these wait for other jobs."""
        return any(of.packages for of in self.stages)

    @property
    def occupied(self) -> tuple[float, float]:
        """Until when its packages on nodes keep CPUs, and how many standard ones on average."""
        until = max((of.running for of in self.stages), default=0.0)
        return (until, self.begun.middle / until) if 0.0 < until < math.inf else (0.0, 0.0)

    @property
    def held(self) -> int:
        """How many packages are held, so that nobody knows when it ends."""
        return sum(stage.held for stage in self.stages)

    @property
    def unfit(self) -> int:
        """How many packages no node takes, so that nobody knows when it ends."""
        return sum(stage.unfit for stage in self.stages)

    @property
    def stuck(self) -> int:
        """How many packages wait until a person retries or releases others."""
        return sum(stage.stuck for stage in self.stages)

    @property
    def stuck_chain(self) -> float:
        """The end of chains of which only a retry runs packages, in seconds."""
        return max((of.rank for of in self.stages if of.stuck and not of.packages), default=0.0)

    @property
    def longest_chain(self) -> float:
        """The longest chain that begins now, without stages of which only a retry runs packages."""
        return max(0.0, self.chain - self.stuck_chain)

    @property
    def unknown(self) -> list[int]:
        """The numbers of the stages without any estimate; not of those of which only a retry or a
        release runs packages.
        """
        return [stage.seq for stage in self.stages
                if (stage.packages + stage.queued and stage.seconds is None) or stage.blind
                or (stage.unmeasured is not None and (stage.packages or not stage.stuck))
                ]  # fmt: skip

    @property
    def unknown_packages(self) -> int:
        """How many packages of these stages have not begun."""
        unknown = self.unknown
        return sum(of.packages + of.queued for of in self.stages if of.seq in unknown)

    def is_known(self, rank: float = 0.0) -> bool:
        """Return whether all stages have an estimate whose chains are at least as long."""
        unknown = self.unknown
        return not any(stage.rank >= rank for stage in self.stages if stage.seq in unknown)

    @property
    def work(self) -> Range:
        """The CPU seconds on a standard node that it needs, as far as they are known."""
        total = self.begun
        for stage in self.stages:
            total += stage.work
        return total


def guess(value: float) -> Range:
    """Return the range of a value that was only expected."""
    return Range(value / GUESSED, value, value * GUESSED)


def work_of(peak: int, output: int) -> int:
    """Return the bytes of work files, from the largest disk usage and the outputs of a run."""
    work = peak - output
    return work if work >= LEAST_WORK else 0


def sizes_of(text: str) -> Sizes:
    """Return the expected needs of packages of a stage, from its row."""
    known = json.loads(text)
    memory, output, work = (
        Range(*known[key]) if known.get(key) else None for key in ("memory", "output", "work")
    )
    return Sizes(memory, output, work)
