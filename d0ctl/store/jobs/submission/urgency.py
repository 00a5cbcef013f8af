"""Which packages of a job come first: those with which the longest chains begin."""

import statistics
from collections.abc import Iterator
from itertools import islice

from msgspec import Struct, field

from d0ctl.jobfile.spec import JobSpec, LineSpec, PackageSpec
from d0ctl.schedule import critical_path
from d0ctl.store.connection import Store
from d0ctl.store.nodes.catalogue import Catalogue

MOST_EXACT = 10_000
"""Up to so many packages each has a rank of its own; in larger jobs those of a stage share it."""

SAMPLE = 50
"""How many lines of each stage of a large job are looked at."""


class Urgency(Struct):
    """Rank and run time of each package, by the numbers of its stage and line and its own.

    In large jobs the line is 0.
    """

    found: dict[tuple[int, int, int], tuple[float, float | None]] = field(default_factory=dict)
    is_exact: bool = True

    def of(self, stage: int, line: int, seq: int) -> tuple[float, float | None]:
        """Return the rank of a package, and its seconds on a standard node, None if not known."""
        return self.found.get((stage, line if self.is_exact else 0, seq), (0.0, None))


class Steps(Struct):
    """The packages of a job, and marks that some of them come after, which take no time."""

    seconds: list[float | None] = field(default_factory=list)
    before: list[set[int]] = field(default_factory=list)
    packages: dict[tuple[int, int, int], int] = field(default_factory=dict)

    def add(self, seconds: float | None) -> int:
        """Add a step; return its number."""
        self.seconds.append(seconds)
        self.before.append(set())
        return len(self.seconds) - 1


def urgency(store: Store, spec: JobSpec) -> Urgency:
    """Return the rank of each package of a job, from the run times that are expected."""
    is_exact = spec.packages <= MOST_EXACT
    steps = steps_of(store, spec, None if is_exact else SAMPLE)
    known = [one for one in steps.seconds if one is not None and one > 0]
    usual = statistics.median(known) if known else 1.0
    ranks = critical_path.ranks(
        [usual if one is None else one for one in steps.seconds], steps.before
    )
    pairs = {at: (ranks[step], steps.seconds[step]) for at, step in steps.packages.items()}
    if not is_exact:
        return Urgency(_by_stage(pairs), is_exact=False)
    rounded = critical_path.classes([stage for stage, _, _ in pairs], list(pairs.values()))
    return Urgency(dict(zip(pairs, rounded, strict=True)))


def _by_stage(
    pairs: dict[tuple[int, int, int], tuple[float, float | None]],
) -> dict[tuple[int, int, int], tuple[float, float | None]]:
    """Return the largest rank and the mean run time for each place in the lines of a stage."""
    groups: dict[tuple[int, int, int], list[tuple[float, float | None]]] = {}
    for (stage, _, seq), pair in pairs.items():
        groups.setdefault((stage, 0, seq), []).append(pair)
    found = {}
    for at, members in groups.items():
        known = [seconds for _, seconds in members if seconds is not None]
        found[at] = max(rank for rank, _ in members), statistics.fmean(known) if known else None
    return found


def steps_of(store: Store, spec: JobSpec, sample: int | None) -> Steps:
    """Return the packages of a job, or those of the first lines of each stage, and their order."""
    steps, makers, runtimes = Steps(), dict[str, int](), _Runtimes(store)
    ends: dict[tuple[int, int], int] = {}
    """The last package of each line."""
    waits: list[tuple[int, LineSpec]] = []
    begins = [steps.add(0.0) for _ in spec.stages]
    closes = [steps.add(0.0) for _ in spec.stages]
    reads: list[tuple[int, PackageSpec]] = []
    for number, stage in enumerate(spec.stages, 1):
        for seq, line in enumerate(islice(stage.lines, sample), 1):
            previous = begins[number - 1]
            for place, package in enumerate(line.packages, 1):
                step = steps.add(runtimes.of(package))
                steps.packages[number, seq, place] = step
                steps.before[step].add(previous)
                makers.update((output.file, step) for binary in package.binaries
                              for output in binary.outputs)  # fmt: skip
                reads.append((step, package))
                if place == 1:
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


def _names(package: PackageSpec) -> Iterator[str]:
    """Yield the names of the files that packages make for a package."""
    for binary in package.binaries:
        yield from (one.file for one in binary.inputs if one.made)


class _Runtimes:
    """What job file and catalogue say of run times."""

    def __init__(self, store: Store) -> None:
        self._catalogue = Catalogue(store)

    def of(self, package: PackageSpec) -> float | None:
        """Return how long a package takes on a standard node; None unless all binaries say it."""
        total = 0.0
        for binary in package.binaries:
            seconds = binary.runtime
            if seconds is None and binary.software is not None:
                seconds = self._catalogue.runtime(binary.software)
            if seconds is None:
                return None
            total += seconds
        return total
