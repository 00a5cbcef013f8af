"""Which packages of a job come first: those that begin the longest chains."""

import json
import statistics
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from msgspec import Struct, field

from d0ctl.jobfile.spec import JobSpec, LineSpec, PackageSpec
from d0ctl.schedule import critical_path, estimates
from d0ctl.schedule.estimates import NO_SIZES, NOTHING, Range, Sizes
from d0ctl.store.attempts.history import earlier_runs
from d0ctl.store.attempts.history.estimates import Histories
from d0ctl.store.connection import Store
from d0ctl.store.nodes.catalogue import Catalogue

MOST_EXACT = 10_000
"""Up to this many packages each has a rank of its own; in larger jobs those of a stage share it."""

SAMPLE = 50
"""How many lines of each stage of a large job are considered."""


class Expected(NamedTuple):
    """The estimates for a package.

    They are the seconds of the longest chain that begins with it, its own seconds on a standard
    node (None if unknown), the value that is assumed then, and the chain as JSON, by the numbers of
    stages.
    """

    rank: float = 0.0
    seconds: float | None = None
    assumed: float = 1.0
    chain: str = "{}"


UNKNOWN = Expected()


class Urgency(Struct):
    """The estimates for each package, by the numbers of its stage, its line and its own.

    In large jobs the line is 0.
    """

    found: dict[tuple[int, int, int], Expected] = field(default_factory=dict)
    is_exact: bool = True
    ranges: dict[int, Range] = field(default_factory=dict)
    """The run times of the packages of each stage together, if all are known."""
    sizes: dict[int, Sizes] = field(default_factory=dict)
    """The needs of the largest package of each stage."""

    def of(self, stage: int, line: int, seq: int) -> Expected:
        """Return the estimates for a package."""
        return self.found.get((stage, line if self.is_exact else 0, seq), UNKNOWN)


class Steps(Struct):
    """The packages of a job, and marks between them, which take no time."""

    seconds: list[float | None] = field(default_factory=list)
    before: list[set[int]] = field(default_factory=list)
    packages: dict[tuple[int, int, int], int] = field(default_factory=dict)
    ranges: dict[int, Range | None] = field(default_factory=dict)
    """The run times of the packages of each stage together; None if one is unknown."""
    sizes: dict[int, Sizes] = field(default_factory=dict)
    """The needs of the largest package of each stage, among those in its first lines."""

    def add(self, seconds: float | None) -> int:
        """Add a step; return its number."""
        self.seconds.append(seconds)
        self.before.append(set())
        return len(self.seconds) - 1

    def add_package(self, stage: int, line: int, seq: int, took: Range | None) -> int:
        """Add a package with its run time on a standard node, None if unknown."""
        step = self.packages[stage, line, seq] = self.add(took.middle if took else None)
        sum_before = self.ranges.get(stage, NOTHING)
        self.ranges[stage] = sum_before + took if sum_before and took else None
        return step


def urgency(store: Store, spec: JobSpec) -> Urgency:
    """Return the estimates for each package of a job."""
    is_exact = spec.packages <= MOST_EXACT
    steps = steps_of(store, spec, None if is_exact else SAMPLE)
    known = [seconds for seconds in steps.seconds if seconds is not None and seconds > 0]
    usual = statistics.median(known) if known else 1.0
    seconds = [usual if step_s is None else step_s for step_s in steps.seconds]
    ranks, following = critical_path.longest(seconds, steps.before)
    stages = {step: stage for (stage, _, _), step in steps.packages.items()}
    pairs = {at: (ranks[step], steps.seconds[step]) for at, step in steps.packages.items()}
    if is_exact:
        places = list(pairs)
        rounded = critical_path.classes([stage for stage, _, _ in pairs], list(pairs.values()))
    else:
        of_stage = _by_stage(pairs)
        places, rounded = list(of_stage), list(of_stage.values())
        steps.packages.update({at: max(
            (step for (stage, _, seq), step in steps.packages.items() if (stage, 0, seq) == at),
            key=lambda step: ranks[step],
        ) for at in places})  # fmt: skip
    classes: dict[tuple[int, float, float | None], Expected] = {}
    chains = {}
    for at, (rank, took) in zip(places, rounded, strict=True):
        expected = classes.get((at[0], rank, took))
        if expected is None:
            chain = critical_path.chain(steps.packages[at], following, stages, seconds)
            part = rank / max(sum(chain.values()), 1e-9)
            text = json.dumps({stage: round(part * taken, 3) for stage, taken in chain.items()})
            assumed = usual if took is None else took
            expected = classes[at[0], rank, took] = Expected(rank, took, assumed, text)
        chains[at] = expected
    ranges = {stage: took for stage, took in steps.ranges.items() if took}
    return Urgency(chains, is_exact, ranges, steps.sizes)


def _by_stage(
    pairs: dict[tuple[int, int, int], tuple[float, float | None]],
) -> dict[tuple[int, int, int], tuple[float, float | None]]:
    """Return the largest rank and the mean run time for each position in the lines of a stage."""
    groups: dict[tuple[int, int, int], list[tuple[float, float | None]]] = {}
    for (stage, _, seq), pair in pairs.items():
        groups.setdefault((stage, 0, seq), []).append(pair)
    stages = {}
    for at, members in groups.items():
        known = [seconds for _, seconds in members if seconds is not None]
        stages[at] = max(rank for rank, _ in members), statistics.fmean(known) if known else None
    return stages


def steps_of(store: Store, spec: JobSpec, sample: int | None) -> Steps:
    """Return the packages of a job, or those of the first lines of each stage, and their order."""
    steps, makers, runtimes = Steps(), dict[str, int](), RunTimes(store, spec.source)
    ends: dict[tuple[int, int], int] = {}
    """The last package of each line."""
    waits: list[tuple[int, LineSpec]] = []
    begins = [steps.add(0.0) for _ in spec.stages]
    closes = [steps.add(0.0) for _ in spec.stages]
    reads: list[tuple[int, PackageSpec]] = []
    for number, stage in enumerate(spec.stages, 1):
        for seq, line in enumerate(islice(stage.lines, sample), 1):
            previous = begins[number - 1]
            for position, package in enumerate(line.packages, 1):
                took = runtimes.of(stage.name, position, package)
                step = steps.add_package(number, seq, position, took)
                if seq <= SAMPLE:
                    sizes = runtimes.sizes(stage.name, position, package)
                    steps.sizes[number] = steps.sizes.get(number, NO_SIZES).largest(sizes)
                steps.before[step].add(previous)
                makers.update((output.file, step) for binary in package.binaries
                              for output in binary.outputs)  # fmt: skip
                reads.append((step, package))
                if position == 1:
                    waits.append((step, line))
                previous = step
            steps.before[closes[number - 1]].add(previous)
            ends[number, seq] = previous
        steps.before[begins[number - 1]].update(closes[before - 1] for before in stage.after)
    for step, line in waits:
        steps.before[step].update(ends[at] for at in line.after if at in ends)
    for step, package in reads:
        steps.before[step].update(
            maker for name in _names(package) if (maker := makers.get(name, step)) != step
        )
    return steps


class BeyondRequest(NamedTuple):
    """A stage whose packages are expected to use more memory than any of them requests."""

    stage: str
    memory: Range
    request: int


def beyond_requests(store: Store, spec: JobSpec) -> Iterator[BeyondRequest]:
    """Yield such stages of a job that is not submitted yet; the memory is in bytes."""
    runtimes = RunTimes(store, spec.source)
    for stage in spec.stages:
        sizes = NO_SIZES
        for line in islice(stage.lines, SAMPLE):
            for position, package in enumerate(line.packages, 1):
                sizes = sizes.largest(runtimes.sizes(stage.name, position, package))
        if (memory := sizes.memory) is None:
            continue
        lines = stage.kinds or stage.lines
        most = max((package.memory or 0 for line in lines for package in line.packages), default=0)
        if 0 < most < memory.middle:
            yield BeyondRequest(stage.name, memory, most)


def learned_seconds(store: Store, spec: JobSpec) -> Iterator[tuple[str, float]]:
    """Yield the mean run time of packages of each stage, by runs of any job, if it is known."""
    runtimes = RunTimes(store, spec.source)
    for stage in spec.stages:
        took = [
            runtimes.of(stage.name, position, package)
            for line in islice(stage.lines, SAMPLE)
            for position, package in enumerate(line.packages, 1)
        ]
        known = [seconds.middle for seconds in took if seconds is not None]
        if known and len(known) == len(took):
            yield stage.name, statistics.fmean(known)


def _names(package: PackageSpec) -> Iterator[str]:
    """Yield the names of the files that packages make for a package."""
    for binary in package.binaries:
        yield from (entry.file for entry in binary.inputs if entry.made)


class RunTimes:
    """Run times by earlier runs, job file and catalogue."""

    def __init__(self, store: Store, source: str) -> None:
        self._catalogue = Catalogue(store)
        self._histories = Histories(store)
        self._source = source

    def of(self, stage: str, position: int, package: PackageSpec) -> Range | None:
        """Return a package's run time on a standard node; None unless all its binaries have one."""
        total = NOTHING
        for number, binary in enumerate(package.binaries, 1):
            histories = self._histories.of(self._source, stage, position, number, binary.software)
            usual = None
            if binary.runtime is None and binary.software is not None:
                usual = self._catalogue.runtime(binary.software)
            took = earlier_runs.run_time(binary.runtime, histories, usual)
            if took is None:
                return None
            total += took
        return total

    def sizes(self, stage: str, position: int, package: PackageSpec) -> Sizes:
        """Return the needs of a package: the memory of its largest binary, the outputs of all."""
        memory: list[Range] = []
        work: list[Range] = []
        output: Range | None = NOTHING
        for number, binary in enumerate(package.binaries, 1):
            histories = self._histories.of(self._source, stage, position, number, binary.software)
            if (rss := earlier_runs.first(histories, "rss")) is not None:
                memory.append(rss)
            scratch = earlier_runs.first(histories, "work")
            if scratch is None and binary.work_size:
                scratch = Range(0.0, binary.work_size, binary.work_size)
            if scratch is not None:
                work.append(scratch)
            made = earlier_runs.first(histories, "output")
            declared = sum(output.size or 0 for output in binary.outputs)
            made = made or (estimates.guess(declared) if declared else None)
            output = output + made if output is not None and made is not None else None
        largest = (
            max(known, key=lambda estimate: estimate.high, default=None) for known in (memory, work)
        )
        most_memory, most_work = largest
        return Sizes(most_memory, output, most_work)
