"""The stages and lines of a job file, with the matching ones of the submitted job."""

from collections.abc import Container, Iterable, Iterator, Sequence

from msgspec import Struct

from d0ctl.jobfile.spec import LineSpec, StageSpec
from d0ctl.store.jobs.correction import matching
from d0ctl.store.jobs.correction.definitions import Definition
from d0ctl.store.jobs.correction.standing import StandingLine, StandingPackage, StandingStage


class NewLine(Struct):
    """A line of the job file, and the matching line of the job; None if it is new."""

    seq: int
    definitions: list[Definition]
    old: StandingLine | None = None
    lost: int | None = None
    """The number from 0 of its first package that is dropped, because its inputs are."""

    @property
    def is_back(self) -> bool:
        """Whether it is dropped only as an earlier job file lacked it."""
        return self.old is not None and self.old.is_dropped and self.old.is_left

    @property
    def stays_dropped(self) -> bool:
        """Whether it is dropped, and not only as an earlier job file lacked it."""
        return self.old is not None and self.old.is_dropped and not self.old.is_left

    def is_lost(self, number: int) -> bool:
        """Return whether a package is dropped, because inputs of it or of one before it are."""
        return self.lost is not None and number >= self.lost

    def package(self, number: int) -> int | None:
        """Return the id of a package, by its number from 0; None if it is new."""
        there = self.standing(number)
        return there.id if there else None

    def standing(self, number: int) -> StandingPackage | None:
        """Return a package as it stands, by its number from 0; None if it is new."""
        there = self.old.packages if self.old else []
        return there[number] if number < len(there) else None


class NewStage(Struct):
    """A stage of the job file, and the matching stage of the job; None if it is new."""

    seq: int
    lines: list[NewLine]
    old: StandingStage | None = None
    is_left: bool = False
    """Whether its lines stay as they are, and are missing here."""
    rest: dict[int, LineSpec] | None = None
    """The lines that still have to be made or changed, by their numbers; None if all may be."""

    def makes_others(self, packages: Container[int]) -> bool:
        """Return whether some of these packages make files of other names from now on."""
        return any(
            package.id in packages and {*package.definition.makes} != {*definition.makes}
            for line in self.lines
            for number, definition in enumerate(line.definitions)
            if (package := line.standing(number)) is not None
        )

    def other_files(self) -> set[str]:
        """Return the names of files that only the job, or only the job file, lets it make."""
        there = [line for line in (self.old.lines if self.old else ()) if not line.is_dropped]
        made = {name for line in there for package in line.packages
                for name in package.definition.makes}  # fmt: skip
        lines = [line for line in self.lines if not line.stays_dropped]
        return made ^ {name for line in lines for definition in line.definitions
                       for name in definition.makes}  # fmt: skip

    def complete_without(self) -> Iterator[int]:
        """Iterate over its packages that the job file has exactly without their dropped inputs."""
        for line in self.lines:
            for number, definition in enumerate(line.definitions):
                package = line.standing(number)
                if package and package.definition.recipe != definition.recipe == package.left:
                    yield package.id

    @property
    def numbered(self) -> Iterable[tuple[int, NewLine]]:
        """Its lines that still differ from the job file, with their numbers in it."""
        if self.rest is None:
            return enumerate(self.lines, 1)
        return ((number, self.lines[number - 1]) for number in self.rest)

    @property
    def stay_dropped(self) -> list[int]:
        """Those of its lines that stay dropped, by their ids."""
        return [line.old.id for line in self.lines if line.old and line.stays_dropped]

    def pairs(self, spec: StageSpec) -> Iterable[tuple[int, NewLine, LineSpec]]:
        """Return these lines with their definitions in the job file."""
        if self.is_left:
            return ()
        specs = spec.lines if self.rest is None else self.rest.values()
        return ((*line, of) for line, of in zip(self.numbered, specs, strict=True))


def match_lines(
    new: Sequence[tuple[str, list[Definition]]], old: StandingStage | None, seq: int
) -> NewStage:
    """Match the lines of a stage of the job file, with their definitions, with those of the job."""
    features = [matching.features(name, each) for name, each in new]
    there = old.lines if old else []

    def fits(number: int, at: int) -> bool:
        return len(there[at].packages) <= len(new[number][1])

    numbers = matching.matches(features, [line.features for line in there], fits)
    lines, count = [], len(there)
    for (_, definitions), number in zip(new, numbers, strict=True):
        if number is None:
            count += 1
            lines.append(NewLine(count, definitions))
        else:
            lines.append(NewLine(there[number].seq, definitions, there[number]))
    return NewStage(seq, lines, old)
