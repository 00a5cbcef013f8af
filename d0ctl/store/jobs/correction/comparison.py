"""The changes of a corrected job file to a submitted job."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence, Set

from msgspec import Struct, field

from d0ctl.jobfile.spec import JobSpec, PackageSpec
from d0ctl.model import Phase
from d0ctl.store.connection import Store
from d0ctl.store.files import edited_files
from d0ctl.store.jobs.correction import matching, standing
from d0ctl.store.jobs.correction.definitions import Definition, of_line
from d0ctl.store.jobs.correction.pairing import dropped_inputs, lacked_inputs
from d0ctl.store.jobs.correction.pairing.new_lines import NewStage, match_lines
from d0ctl.store.jobs.correction.standing import (
    LAUNCHED,
    StandingLine,
    StandingPackage,
    StandingStage,
)
from d0ctl.store.views.job_files import forecast


class Place(Struct, frozen=True):
    """A package by the numbers in its path, and its phase; empty if it is new."""

    stage: int
    line: int
    package: int
    phase: str = ""

    @property
    def path(self) -> str:
        """Its path within the job."""
        return f"{self.stage}/{self.line}/{self.package}"


class Comparison(Struct):
    """The differences between a job file and a job; packages are sorted by what happens to them."""

    stages: list[NewStage]
    lost: list[StandingLine] = field(default_factory=list)
    """Lines that are missing in the job file, and will be dropped."""
    back: list[StandingLine] = field(default_factory=list)
    """Lines that an earlier job file lacked, and this one has."""
    restored: dict[int, Place] = field(default_factory=dict)
    """The packages of these lines."""
    follow: list[int] = field(default_factory=list)
    """Such lines that stay dropped, because their inputs are, by their ids."""
    without: list[Place] = field(default_factory=list)
    """Packages that have not begun and are dropped, because their inputs are."""
    rewritten: dict[int, Place] = field(default_factory=dict)
    """Packages that have not begun, or have failed, and get another definition."""
    outdated: dict[int, Place] = field(default_factory=dict)
    """Those that ran, or failed, with another definition than the job file has now."""
    returned: dict[int, Place] = field(default_factory=dict)
    """Those whose results were accepted for another recipe, and that ran what it says now."""
    redefined: set[int] = field(default_factory=set)
    """Those that failed, or are dropped, and get another recipe."""
    failed_with_it: set[int] = field(default_factory=set)
    """Those that failed with the definition of the job file, and have another one now."""
    edited: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    """Packages that have read earlier contents of files, and the names of these; not those that
    never run again.
    """
    failed_earlier: dict[int, Place] = field(default_factory=dict)
    """Those of them that failed, and have the definition of the job file."""
    cut: Set[int] = frozenset()
    """Packages that have succeeded with files of lines dropped since."""
    short: Set[int] = frozenset()
    """Packages that have succeeded without files of lines restored since."""
    earlier: set[int] = field(default_factory=set)
    """The outdated ones whose definition is that of the job file."""
    lacking: Mapping[int, frozenset[str]] = field(default_factory=dict)
    """Packages that were launched, and differ only by inputs that they lack, with their names."""
    complete: set[int] = field(default_factory=set)
    """Those of them that have succeeded, and lack only dropped files: they are up to date."""
    other: dict[str, set[int]] = field(default_factory=lambda: defaultdict(set))
    """Those that have succeeded, and have other `dispositions`, `guards` or `requests` now, by
    these words; by `whole` all of them.
    """
    reading: int = 0
    """How many launched packages may have read earlier contents of files."""
    busy: dict[int, Place] = field(default_factory=dict)
    """Those that are running with another definition, or are missing in the job file."""
    added: list[Place] = field(default_factory=list)
    removed: list[Place] = field(default_factory=list)
    unlisted: set[int] = field(default_factory=set)
    """Packages of lines that have succeeded and are missing in the job file."""
    leaving: set[int] = field(default_factory=set)
    """Those of `busy` of lines that are missing in the job file."""
    dropped: list[int] = field(default_factory=list)
    """Dropped lines that are missing in the job file."""
    moved: set[int] = field(default_factory=set)
    """The stages of lines of these three kinds that the job file has lost now, or has again."""
    added_lines: int = 0
    unchanged: int = 0
    makes: set[str] = field(default_factory=set)
    """The outputs in the job file."""

    @property
    def other_lines(self) -> set[int]:
        """The stages that get or lose lines."""
        changed = (*self.added, *self.removed, *self.restored.values())
        return self.moved | {package.stage for package in changed}


class Sides(Struct):
    """A job in its present state and its job file, ready to be compared."""

    old: list[StandingStage]
    new: list[list[tuple[str, list[Definition]]]]
    """For each stage the names of its lines, and the definitions of their packages."""
    left: set[str]
    """The stages that are not compared."""
    reads: set[str]
    """The files of the job that the packages of the others read."""
    edited: Mapping[int, tuple[str, ...]]
    """The packages that have read earlier contents of files, and the names of these."""
    cut: Set[int]
    """The packages that have succeeded with files of lines dropped since."""
    short: Set[int]
    """The packages that have succeeded without files of lines restored since."""
    gone: Set[str] = frozenset()
    """The files of other jobs, `JOB:NAME`, that the job file reads and that are dropped."""


def read(store: Store, job: int, spec: JobSpec, *, only_late: bool = False) -> Sides:
    """Read a job and a job file, or only the stages that depend on groups of late outputs."""
    left = {stage.name for stage in spec.stages if only_late and not stage.is_late}
    new: list[list[tuple[str, list[Definition]]]] = []
    reads: set[str] = set()
    for stage in spec.stages:
        new.append([])
        for line in () if stage.name in left else stage.lines:
            new[-1].append((line.name, of_line(line)))
            reads.update(name for package in line.packages for name in made_inputs(package))
    edited = {} if only_late else edited_files.readers_of_earlier(store, job)
    cut = frozenset[int]() if only_late else standing.readers_of_dropped(store, job)
    short = frozenset[int]() if only_late else standing.lacking_restored(store, job)
    gone = frozenset[str]() if only_late else forecast.dropped_inputs(store, spec.others)
    return Sides(standing.read(store, job, left), new, left, reads, edited, cut, short, gone)


def made_inputs(package: PackageSpec) -> Iterator[str]:
    """Iterate over the files that a package reads and packages make."""
    for binary in package.binaries:
        yield from (entry.file for entry in binary.inputs if entry.made)
    if package.wrapper is not None and package.wrapper.made:
        yield package.wrapper.file


def compare(sides: Sides, spec: JobSpec) -> Comparison:
    """Compare a job file with a job."""
    old = sides.old
    pairs = matching.stages([stage.name for stage in spec.stages], [stage.name for stage in old])
    count = len(old)
    comparison = Comparison([], edited=sides.edited, cut=sides.cut, short=sides.short)
    for of, pair, lines in zip(spec.stages, pairs, sides.new, strict=True):
        if pair is None:
            count += 1
        same = None if pair is None else old[pair]
        seq = same.seq if same else count
        is_left = of.name in sides.left
        comparison.stages.append(
            NewStage(seq, [], same, True) if is_left else match_lines(lines, same, seq)
        )  # fmt: skip
    for stage in comparison.stages:
        comparison.makes.update(name for line in stage.lines
                                for of in line.definitions for name in of.makes)  # fmt: skip
    dropped_inputs.mark(comparison.stages, spec, sides.gone)
    comparison.lacking = lacked_inputs.find(comparison.stages, spec, comparison.makes)
    dropped = lacked_inputs.dropped(comparison.stages)
    whole = {package for package, names in comparison.lacking.items() if names <= dropped}
    for stage in comparison.stages:
        _sort_stage(comparison, stage, whole)
    taken = {line.old.id for stage in comparison.stages for line in stage.lines if line.old}
    for there in old:
        for line in [each for each in there.lines if each.id not in taken]:
            _sort_lost(comparison, there, line)
    ended = comparison.unlisted | {
        package.id for there in old for line in there.lines if line.is_dropped
        for package in line.packages
        if package.phase == Phase.DONE and package.id not in comparison.restored
    }  # fmt: skip
    comparison.edited = {id: names for id, names in sides.edited.items() if id not in ended}
    return comparison


def _sort_stage(comparison: Comparison, stage: NewStage, whole: Set[int]) -> None:
    for line in stage.lines:
        old = line.old
        comparison.added_lines += old is None
        comparison.moved |= {stage.seq} if old and (old.is_left or old.is_unlisted) else set()
        is_back = line.is_back
        comparison.back += [old] if old and is_back else []
        comparison.follow += [old.id] if old and old.is_dropped and line.is_lost(0) else []
        before = old.packages if old else []
        for number, definition in enumerate(line.definitions, 1):
            if number > len(before):
                comparison.added.append(Place(stage.seq, line.seq, number))
            else:
                package = before[number - 1]
                position = Place(stage.seq, line.seq, number, package.phase)
                unchanged = comparison.unchanged
                if old and old.is_dropped and not is_back and package.phase == Phase.DONE:
                    comparison.unchanged += 1  # it never runs again
                else:
                    _sort(comparison, package, definition, position, package.id in whole)
                if is_back or line.is_lost(number - 1):
                    comparison.unchanged = unchanged
                if is_back and not line.is_lost(number - 1):
                    comparison.restored[package.id] = position
            if line.is_lost(number - 1):
                phase = before[number - 1].phase if number <= len(before) else ""
                comparison.without.append(Place(stage.seq, line.seq, number, phase))


def _sort(
    comparison: Comparison,
    package: StandingPackage,
    definition: Definition,
    position: Place,
    is_whole: bool,
) -> None:
    has_recipe = is_whole or definition.recipe in (package.definition.recipe, package.left)
    is_returned = not has_recipe and package.ran == definition.recipe
    has_recipe |= is_returned
    if package.phase in LAUNCHED:
        comparison.reading += has_recipe and package.id in comparison.edited
        if has_recipe:
            comparison.unchanged += 1
        else:
            comparison.busy[package.id] = position
    elif package.phase == Phase.DONE:
        is_earlier = package.id in comparison.edited or package.id in comparison.cut
        is_earlier |= package.id in comparison.short
        if has_recipe and is_earlier:
            comparison.earlier.add(package.id)
        if is_returned and not is_earlier:
            comparison.returned[package.id] = position
        elif has_recipe and not is_earlier:
            comparison.unchanged += 1
            if is_whole:
                comparison.complete.add(package.id)
        else:
            comparison.outdated[package.id] = position
        if has_recipe:
            _sort_keys(comparison, package, definition)
    elif package.definition.whole == definition.whole:
        comparison.unchanged += 1
        if package.phase == Phase.FAILED and package.id in comparison.edited:
            comparison.failed_earlier[package.id] = position
    else:
        comparison.rewritten[package.id] = position
        has_ended = package.phase in (Phase.FAILED, Phase.DROPPED)
        if has_ended and not has_recipe:
            comparison.redefined.add(package.id)
        elif has_ended and is_returned:
            comparison.failed_with_it.add(package.id)
        if package.phase == Phase.FAILED and not has_recipe:
            comparison.outdated[package.id] = position


def _sort_keys(comparison: Comparison, package: StandingPackage, new: Definition) -> None:
    for name in ("whole", "dispositions", "guards", "requests"):
        if getattr(package.definition, name) != getattr(new, name):
            comparison.other[name].add(package.id)


def _sort_lost(comparison: Comparison, stage: StandingStage, line: StandingLine) -> None:
    places = {
        package.id: Place(stage.seq, line.seq, package.seq, package.phase)
        for package in line.packages
    }
    if line.is_dropped:
        comparison.dropped.append(line.id)
    elif any(package.phase in LAUNCHED for package in line.packages):
        comparison.busy.update(places)
        comparison.leaving.update(places)
    elif all(package.phase == Phase.DONE for package in line.packages):
        comparison.unlisted.update(places)
    else:
        comparison.lost.append(line)
        comparison.removed += [of for of in places.values() if of.phase != Phase.DONE]
        return
    comparison.moved |= set() if line.is_left or line.is_unlisted else {stage.seq}


def line_numbers(
    stages: Sequence[NewStage],
) -> Callable[[tuple[int, int]], tuple[int, int]]:
    """Return a function from numbers of a stage and a line in the job file to those in the job."""

    def number(of: tuple[int, int]) -> tuple[int, int]:
        stage, line = stages[of[0] - 1], of[1]
        return stage.seq, line if stage.is_left else stage.lines[line - 1].seq

    return number
