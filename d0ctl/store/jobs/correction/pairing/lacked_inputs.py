"""Packages that differ from their job file only by inputs that they lack, as these were added."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set

from msgspec.structs import replace

from d0ctl.jobfile.spec import JobSpec, LineSpec, PackageSpec
from d0ctl.model import Phase
from d0ctl.store.connection import Store
from d0ctl.store.jobs.correction.definitions import of_spec
from d0ctl.store.jobs.correction.pairing.new_lines import NewLine, NewStage
from d0ctl.store.jobs.correction.standing import LAUNCHED

MOST = 10_000
"""At most this many packages of a stage are looked at, as other writers wait: 0.05 ms for each."""


def find(stages: Sequence[NewStage], spec: JobSpec, makes: Set[str]) -> dict[int, frozenset[str]]:
    """Return these packages by their ids, with the names of these inputs, which the job makes.

    They have succeeded, or are launched.
    """
    found: dict[int, frozenset[str]] = {}
    for stage, of in zip(stages, spec.stages, strict=True):
        added = {number: dict(_added(line)) for number, line in enumerate(stage.lines) if line.old}
        if 0 < sum(map(len, added.values())) <= MOST:
            for number, line in enumerate(of.lines):
                if names := added.get(number):
                    found.update(_confirmed(stage.lines[number], line, names, makes))
    return found


def _added(line: NewLine) -> Iterator[tuple[int, frozenset[str]]]:
    """Iterate over its packages that have all their inputs in the job file, beside more."""
    for number, new in enumerate(line.definitions):
        package = line.standing(number)
        if package is None or not (package.phase == Phase.DONE or package.phase in LAUNCHED):
            continue
        if new.recipe not in (package.definition.recipe, package.left):
            asked, had = frozenset(new.reads), frozenset(package.definition.reads)
            if asked - had and (package.left is not None or had <= asked):
                yield number, asked - had


def _confirmed(
    line: NewLine, of: LineSpec, added: Mapping[int, frozenset[str]], makes: Set[str]
) -> Iterator[tuple[int, frozenset[str]]]:
    for number, names in added.items():
        package = line.standing(number)
        if package is not None and names <= makes:
            recipe = of_spec(_without(of.packages[number], names), is_early=False).recipe
            if recipe in (package.definition.recipe, package.left):
                yield package.id, names


def _without(package: PackageSpec, names: Set[str]) -> PackageSpec:
    """Return a package without these inputs."""
    return replace(package, binaries=tuple(
        replace(binary, inputs=tuple(each for each in binary.inputs if each.file not in names))
        for binary in package.binaries
    ))  # fmt: skip


def dropped(stages: Iterable[NewStage]) -> frozenset[str]:
    """Return the files of lines that stay dropped."""
    return frozenset(
        name
        for stage in stages
        for line in stage.lines
        if line.stays_dropped
        for definition in line.definitions
        for name in definition.makes
    )


def record(store: Store, job: int, lacking: Mapping[int, Collection[str]]) -> None:
    """Record which files packages of a job lack; if all are dropped, they are not out of date."""
    store.change("forget_lacked_inputs", job=job)
    store.change_many("record_lacked_input", (
        (package, job, name) for package, names in lacking.items() for name in names
    ))  # fmt: skip
