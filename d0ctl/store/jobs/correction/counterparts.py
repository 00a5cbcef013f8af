"""The packages of a job in its job file, which is read again with its parameters or others.

The numbers of a line in its job and in the job file differ after an update, which appends lines.
So a line is matched by what it is, as an update does it.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from d0ctl.jobfile.spec import JobSpec, Lines, LineSpec, PackageSpec, StageSpec
from d0ctl.store.connection import Store
from d0ctl.store.jobs.correction import matching, standing
from d0ctl.store.jobs.correction.definitions import Definition, of_line
from d0ctl.store.jobs.correction.matching import LineFeatures
from d0ctl.store.jobs.correction.pairing.new_lines import match_lines
from d0ctl.store.jobs.scripts import Position
from d0ctl.store.views import browse


class Entry(NamedTuple):
    """The numbers of a package in a job file, from 1."""

    stage: int
    line: int
    package: int


class _Lines(Struct, frozen=True):
    """The lines of a stage, with other priorities of some packages."""

    lines: Lines
    priorities: Mapping[int, Mapping[int, int]]
    """Those of packages, by the numbers of their lines and their own."""

    def __iter__(self) -> Iterator[LineSpec]:
        for number, line in enumerate(self.lines, 1):
            own = self.priorities.get(number, {})
            packages = (replace(package, priority=own[seq]) if seq in own else package
                        for seq, package in enumerate(line.packages, 1))  # fmt: skip
            yield replace(line, packages=tuple(packages)) if own else line

    def __len__(self) -> int:
        return len(self.lines)


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


def with_own_priorities(
    store: Store, job: int, spec: JobSpec, previous: Callable[[], JobSpec | None]
) -> JobSpec:
    """Return a job file with the priorities that people gave to packages of the job.

    Packages to which it or the `previous` job file gives one are left out.
    """
    if not browse.stages_with_priority(store, job):
        return spec
    own, positions = dict[int, int](), list[Position]()
    for row in store.rows("own_priorities", job=job, stages=json.dumps(_unset_in(spec))):
        own[row["id"]] = row["priority"]
        positions.append(
            Position(row["id"], row["stage"], row["line"], row["seq"], row["stage_name"])
        )
    entries = _unset(spec, in_own(store, job, spec, positions))
    before = previous() if entries else spec
    if before is not None and before is not spec:
        of = [position for position in positions if position.package in entries]
        known = in_own(store, job, before, of)
        for package in known.keys() - _unset(before, known).keys():
            del entries[package]
    return _changed(spec, own, entries)


def _unset_in(spec: JobSpec) -> list[str]:
    """Return the stages with packages to which a job file gives no priority."""
    kinds = {stage.name: stage.lines if stage.kinds is None else stage.kinds
             for stage in spec.stages}  # fmt: skip
    return [name for name, lines in kinds.items()
            if any(of.priority is None for line in lines for of in line.packages)]  # fmt: skip


def _unset(spec: JobSpec, entries: Mapping[int, Entry]) -> dict[int, Entry]:
    """Return the entries of packages to which a job file gives no priority."""
    return {package: entries[package] for package, of in specs(spec, entries)
            if of.priority is None}  # fmt: skip


def _changed(spec: JobSpec, own: Mapping[int, int], entries: Mapping[int, Entry]) -> JobSpec:
    priorities: dict[int, dict[int, dict[int, int]]] = {}
    for package, entry in entries.items():
        lines = priorities.setdefault(entry.stage, {})
        lines.setdefault(entry.line, {})[entry.package] = own[package]
    stages = [*spec.stages]
    for number, of_lines in priorities.items():
        stage = spec.stages[number - 1]
        stages[number - 1] = replace(stage, lines=_Lines(stage.lines, of_lines))
    return replace(spec, stages=tuple(stages)) if priorities else spec
