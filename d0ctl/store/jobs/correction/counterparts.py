"""The packages of a job in its job file, which is read again with its parameters or others.

The numbers of a line in its job and in the job file differ after an update, which appends lines.
So a line is matched by what it is, as an update does it.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from d0ctl.jobfile.spec import JobSpec, LineSpec, PackageSpec, StageSpec
from d0ctl.store.connection import Store
from d0ctl.store.jobs.correction import matching, standing
from d0ctl.store.jobs.correction.definitions import Definition, of_line
from d0ctl.store.jobs.correction.matching import LineFeatures
from d0ctl.store.jobs.correction.pairing.new_lines import match_lines
from d0ctl.store.jobs.scripts import Position


class Entry(NamedTuple):
    """The numbers of a package in a job file, from 1."""

    stage: int
    line: int
    package: int


def in_own(
    store: Store, job: int, spec: JobSpec, positions: Sequence[Position]
) -> dict[int, Entry]:
    """Return the entries of packages in the job file of their job, without those it lacks."""
    named = {position.stage_name for position in positions}
    others = {stage.name for stage in spec.stages} - named
    old = standing.read(store, job, others)
    pairs = matching.stages([stage.name for stage in spec.stages], [stage.name for stage in old])
    lines: dict[tuple[int, int], Entry] = {}
    for number, (stage, pair) in enumerate(zip(spec.stages, pairs, strict=True), 1):
        if pair is None or stage.name not in named:
            continue
        new = [(line.name, of_line(line)) for line in stage.lines]
        matched = match_lines(new, old[pair], old[pair].seq)
        for at, line in enumerate(matched.lines, 1):
            if line.old:
                lines[matched.seq, line.old.seq] = Entry(number, at, len(line.definitions))
    found = {}
    for position in positions:
        entry = lines.get((position.stage, position.line))
        if entry is not None and position.seq <= entry.package:
            found[position.package] = entry._replace(package=position.seq)
    return found


def in_other(own: JobSpec, other: JobSpec, entries: Mapping[int, Entry]) -> dict[int, Entry]:
    """Return the entries of packages in the same job file with other parameters.

    `entries` are those in `own`. Packages that the other lacks are left out.
    """
    lines = {
        number: _lines(own.stages[number - 1], other.stages[number - 1])
        for number in {entry.stage for entry in entries.values()}
        if number <= len(other.stages)
    }
    found = {}
    for package, entry in entries.items():
        line = lines.get(entry.stage, {}).get(entry.line)
        if line is not None:
            found[package] = entry._replace(line=line)
    return found


def specs(spec: JobSpec, entries: Mapping[int, Entry]) -> Iterator[tuple[int, PackageSpec]]:
    """Yield packages with their specs in a job file, in its order."""
    wanted = sorted((entry, package) for package, entry in entries.items())
    number = at = 0
    lines: Iterator[LineSpec] = iter(())
    line: LineSpec | None = None
    for entry, package in wanted:
        if entry.stage != number:
            number, at, lines = entry.stage, 0, iter(spec.stages[entry.stage - 1].lines)
        if entry.line > at:
            line = next(islice(lines, entry.line - at - 1, None))
            at = entry.line
        assert line is not None
        yield package, line.packages[entry.package - 1]


def _lines(own: StageSpec, other: StageSpec) -> dict[int, int]:
    """Return the numbers of lines in a stage with other parameters, by their own numbers."""
    names = [line.name for line in own.lines]
    if names == [line.name for line in other.lines]:
        return {number: number for number in range(1, len(names) + 1)}
    old, new = ([of_line(line) for line in stage.lines] for stage in (own, other))
    matched = matching.matches(
        _features(other, new), _features(own, old), lambda at, of: len(old[of]) <= len(new[at])
    )
    found = {of: at for at, of in enumerate(matched) if of is not None}
    # A line that is named by a parameter, and makes no file, is the one at its position.
    for number in range(min(len(old), len(new))):
        if number not in found and matched[number] is None and len(old[number]) <= len(new[number]):
            found[number] = number
    return {of + 1: at + 1 for of, at in found.items()}


def _features(stage: StageSpec, definitions: Sequence[list[Definition]]) -> list[LineFeatures]:
    return [
        matching.features(line.name, each)
        for line, each in zip(stage.lines, definitions, strict=True)
    ]
