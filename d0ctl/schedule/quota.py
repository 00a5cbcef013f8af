"""How many more packages may start, by job files, by shares and by throttles."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from itertools import pairwise, takewhile

from msgspec import Struct, field

UNBOUNDED = 10**9
"""More packages than any node can take."""

STEPS = 60
"""Launches are counted in steps of this fraction of the time of their throttle."""


class Throttle(Struct, frozen=True):
    """A rule for each node, researcher or job with a name that matches a pattern."""

    kind: str
    pattern: str
    max_running: int | None = None
    launches: int | None = None
    per_s: float = 0.0

    @property
    def name(self) -> str:
        """Its name in the site file."""
        return f"{self.kind} {self.pattern}"

    @property
    def step_s(self) -> float:
        """For how long launches are counted together."""
        return self.per_s / STEPS


class Allowance(Struct):
    """How much a throttle still allows one node, researcher or job."""

    throttle: Throttle
    name: str
    running: int
    launched: int = 0
    """How many packages were sent to nodes within its time."""
    taken: int = 0
    """How many more in this pass."""

    @property
    def left(self) -> int:
        """How many more packages may start now."""
        throttle, left = self.throttle, UNBOUNDED
        if throttle.max_running is not None:
            left = throttle.max_running - self.running - self.taken
        if throttle.launches is not None:
            left = min(left, throttle.launches - self.launched - self.taken)
        return max(0, left)


class Allowances(Struct):
    """What all throttles allow, by the ids of nodes and jobs; jobs of one researcher share."""

    nodes: dict[int, Sequence[Allowance]] = field(default_factory=dict)
    jobs: dict[int, Sequence[Allowance]] = field(default_factory=dict)

    def spent(self) -> Iterable[Allowance]:
        """Yield those that count launches and have been used."""
        seen: set[int] = set()
        for of_one in (*self.nodes.values(), *self.jobs.values()):
            for allowance in of_one:
                if (
                    allowance.taken
                    and allowance.throttle.launches is not None
                    and id(allowance) not in seen
                ):
                    seen.add(id(allowance))
                    yield allowance


def least(allowances: Sequence[Allowance]) -> int:
    """Return how many packages may start if each of some throttles has to allow it."""
    return min((allowance.left for allowance in allowances), default=UNBOUNDED)


def allowances_of(
    throttles: Iterable[Throttle],
    kind: str,
    name: str,
    running: int,
    launched: Callable[[Throttle, str], int],
) -> list[Allowance]:
    """Return what the throttles that match a node, researcher or job still allow it."""
    return [
        Allowance(
            throttle,
            name,
            running,
            launched(throttle, name) if throttle.launches is not None else 0,
        )
        for throttle in throttles
        if throttle.kind == kind and fnmatchcase(name, throttle.pattern)
    ]


class Limit(Struct, frozen=True):
    """How many packages may be on nodes at once, and how many may be sent there in a second.

    Jobs of one researcher share an equal one.
    """

    name: str
    most: int | None = None
    rate: float | None = None

    def power(self, cpus: float, seconds: float, speed: float) -> float:
        """Return the CPUs times speed that packages with these CPUs and CPU seconds may use."""
        number = math.inf if self.most is None else self.most * cpus * speed
        return number if self.rate is None else min(number, self.rate * seconds)


class LimitedNode(Struct, frozen=True):
    """A node with throttles."""

    cpus: float
    speed: float
    limits: Sequence[Limit]

    def lost(self, cpus: float, seconds: float) -> float:
        """Return the CPUs times speed that packages can't use because of its limits."""
        power = self.cpus * self.speed
        return power - min([power, *(of.power(cpus, seconds, self.speed) for of in self.limits)])


class Quota(Struct):
    """What is left of `max-running`, by the ids of the stages and jobs that have one."""

    stages: dict[int, int] = field(default_factory=dict)
    jobs: dict[int, int] = field(default_factory=dict)
    groups: dict[str, float] = field(default_factory=dict)
    """CPUs that each group may get before others may take the rest."""
    paths: Mapping[int, str] = field(default_factory=dict)
    """The group of each job."""
    throttled: Mapping[int, Sequence[Allowance]] = field(default_factory=dict)
    """What throttles allow jobs and their researchers, by job."""
    nodes: Mapping[int, Sequence[Allowance]] = field(default_factory=dict)
    """What they allow nodes."""

    def left(self, stage: int, job: int) -> int:
        """Return how many more packages of a stage of a job may start."""
        most = min(self.stages.get(stage, UNBOUNDED), self.jobs.get(job, UNBOUNDED))
        throttled = self.throttled.get(job)
        return (
            most if throttled is None else min(most, *(allowance.left for allowance in throttled))
        )

    def fair(self, job: int, load: float) -> int:
        """Return how many packages with a load the group of a job may get."""
        path = self.paths.get(job)
        if path is None or path not in self.groups:
            return UNBOUNDED
        # a fraction of a CPU entitles to a whole package: else small groups would get none
        return max(0, math.ceil(self.groups[path] / load - 1e-6))

    def take(self, stage: int, job: int, load: float = 0.0) -> None:
        """Count a package that starts."""
        path = self.paths.get(job)
        if path in self.groups:
            self.groups[path] -= load
        if stage in self.stages:
            self.stages[stage] -= 1
        if job in self.jobs:
            self.jobs[job] -= 1
        for throttle in self.throttled.get(job, ()):
            throttle.taken += 1


class Capacity(Struct, frozen=True):
    """The nodes that take packages: their CPUs, these times speed, and the highest speed.

    CPUs of packages that a person suspended are not among them; `suspended` counts these. Nodes
    with throttles are also listed one by one.
    """

    cpus: int
    power: float
    fastest: float
    limited: Sequence[LimitedNode] = ()
    suspended: float = 0.0

    @property
    def mean_speed(self) -> float:
        """The speed of a CPU on average; 1 without nodes."""
        return self.power / max(1, self.cpus) if self.power else 1.0

    def usable(self, cpus: float, seconds: float, limits: Iterable[Limit]) -> float:
        """Return the CPUs times speed that packages with limits may use together.

        They take these CPUs and CPU seconds each.
        """
        power = self.power - sum(node.lost(cpus, seconds) for node in self.limited)
        return min([power, *(limit.power(cpus, seconds, self.mean_speed) for limit in limits)])


LEAST_FREE = 1e-9
"""A smaller part is not free."""


class Load(Struct, frozen=True):
    """Which parts of all nodes, as None, and of limits work takes for how long, if it gets them."""

    parts: Mapping[Limit | None, float]
    seconds: float


class Free(Struct):
    """Which parts of all nodes and of limits are free from when until the next time.

    Those that are not named are free, and so is everything at the end.
    """

    times: Sequence[tuple[float, Mapping[Limit | None, float]]] = ((0.0, {}),)

    def after(self, loads: Iterable[Load]) -> float:
        """Take loads, one after another, and return when the last is done, or could begin."""
        end = self.times[0][0]
        for load in loads:
            end = self.take(load.parts, load.seconds, end)
        return end

    def beside(self, loads: Iterable[Load]) -> None:
        """Take loads of which each begins with those before it, and ends no earlier.

        So do stages of which a package of one needs files of only one of another.
        """
        begin = end = self.times[0][0]
        for load in loads:
            seconds = max(load.seconds, end - begin)
            parts = {of: part * load.seconds / seconds for of, part in load.parts.items()}
            end = max(end, self.take(parts, seconds))

    def take(
        self, parts: Mapping[Limit | None, float], seconds: float, since: float = 0.0
    ) -> float:
        """Take parts for so many seconds, longer if only less is free, and return until when."""
        times: list[tuple[float, Mapping[Limit | None, float]]] = []
        end = math.inf
        for (begin, free), (until, _) in pairwise((*self.times, (math.inf, {}))):
            start = min(max(begin, since), until)
            left = {of: free.get(of, 1.0) for of in parts}
            speed = min([1.0, *(left[of] / part for of, part in parts.items() if part)])
            stop = start if end < math.inf else until
            if end == math.inf and speed > LEAST_FREE and start + seconds / speed <= until:
                end = stop = start + seconds / speed
            seconds -= (stop - start) * speed
            after = {**free, **{of: left[of] - part * speed for of, part in parts.items()}}
            spans = ((begin, start, free), (start, stop, after), (stop, until, free))
            times += [(start, of) for start, stop, of in spans if start < stop]
        used = takewhile(lambda time: time[1].get(None, 1.0) <= LEAST_FREE, times)
        self.times = times[len([*used]) :] or ((math.inf, {}),)
        return end
