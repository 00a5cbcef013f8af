"""The numbers of a job's packages, from 0, in the order of stages and lines."""

from bisect import bisect_right
from collections.abc import Callable, Collection

from msgspec import Struct

from d0ctl.jobfile.recipe import JobRecipe, LineRecipe, PackageRecipe, StageRecipe


class PackageRange(Struct, frozen=True):
    """The packages that one line recipe makes, with the numbers of its first line and package."""

    stage: StageRecipe
    line: LineRecipe
    stage_number: int
    first_line: int
    first_package: int


class Layout:
    """The packages of a job by number: their recipes and their paths."""

    def __init__(self, job: JobRecipe, name: str) -> None:
        self.ranges: list[PackageRange] = []
        self.of_stage: list[list[PackageRange]] = [[] for _ in job.stages]
        """The ranges of each stage, in the order of the stages."""
        self.packages = 0
        """How many packages the job has."""
        self._name = name
        for number, stage in enumerate(job.stages, 1):
            lines = 0
            for line in stage.lines:
                part = PackageRange(stage, line, number, lines, self.packages)
                self.ranges.append(part)
                self.of_stage[number - 1].append(part)
                lines += line.loop.size
                self.packages += line.loop.size * len(line.packages)

    def recipe(self, number: int) -> PackageRecipe:
        """Return the recipe of a package."""
        part, _, index = self._locate(number)
        return part.line.packages[index]

    def path(self, number: int) -> str:
        """Return the path of a package, such as `mc001/2/17/1`."""
        part, line, index = self._locate(number)
        return f"{self._name}/{part.stage_number}/{part.first_line + line + 1}/{index + 1}"

    def last_package(self, stage: int, line: int) -> int | None:
        """Return the last package of a line, by the numbers of its stage and its own.

        A line with a fault may have none.
        """
        at = bisect_right(
            self.ranges, (stage, line - 1), key=lambda p: (p.stage_number, p.first_line)
        )
        part = self.ranges[at - 1]
        each = len(part.line.packages)
        return part.first_package + (line - part.first_line) * each - 1 if each else None

    def earlier_than(self, number: int) -> Callable[[int], bool]:
        """Return whether a package is elsewhere than a loop with `number`, or earlier in a line."""
        part, _, index = self._locate(number)
        first, each = part.first_package, len(part.line.packages)
        loop = range(first, first + each * part.line.loop.size)
        return lambda maker: maker not in loop or (maker - first) % each < index

    def of_stages(self, stages: Collection[int]) -> list[range]:
        """Return the packages of some stages."""
        return [
            range(
                part.first_package,
                part.first_package + part.line.loop.size * len(part.line.packages),
            )
            for stage in sorted(stages)
            for part in self.of_stage[stage - 1]
        ]

    def follows(self) -> bytearray:
        """Return for each package whether it follows the previous one in a line."""
        flags = bytearray(self.packages)
        for part in self.ranges:
            each, lines = len(part.line.packages), part.line.loop.size
            if each > 1:
                last = part.first_package + each * lines
                flags[part.first_package : last] = (b"\0" + b"\1" * (each - 1)) * lines
        return flags

    def _locate(self, number: int) -> tuple[PackageRange, int, int]:
        """Return the position of a package: its range, its line there and its index in the line."""
        first = bisect_right(self.ranges, number, key=lambda part: part.first_package)
        part = self.ranges[first - 1]
        return part, *divmod(number - part.first_package, len(part.line.packages))
