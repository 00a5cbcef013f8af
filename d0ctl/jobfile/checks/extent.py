"""How much a job asks for, counted from its recipes before any of it is made.

A few lines of text may ask for 10^10 inputs.
"""

from collections.abc import Iterator, Sequence
from itertools import chain

from d0ctl.jobfile.checks.layout import PackageRange
from d0ctl.jobfile.input_files import InputFiles
from d0ctl.jobfile.recipe import InputRecipe, Loop
from d0ctl.jobfile.sections.loop_sources import MAX_VALUES
from d0ctl.jobfile.yaml.faults import Faults

MAX_READ = 2_000_000
"""How many more inputs than outputs may come from stages, groups and globs: a job may merge
all its outputs, but not read each in every line."""


def is_too_large(ranges: Sequence[PackageRange], faults: Faults) -> bool:
    """Return whether a job has too many packages, binaries, outputs or named inputs; say so."""
    totals: dict[str, int] = {}
    for part in ranges:
        lines = part.line.loop.size
        for kind, number in _each_line(part):
            totals[kind] = totals.get(kind, 0) + number * lines
            if totals[kind] > MAX_VALUES:
                kinds = kind if kind == "packages" else f"{kind} in all its lines"
                message = f"{totals[kind]:,} {kinds} are more than a job may have ({MAX_VALUES:,})"
                faults.add(part.line.position, message)
                return True
    return False


def _each_line(part: PackageRange) -> Iterator[tuple[str, int]]:
    """Iterate over what each line has, and how many; one without packages is gone through, too."""
    packages = part.line.packages
    binaries = [binary for package in packages for binary in package.binaries]
    yield "packages", max(1, len(packages))
    yield "binaries", len(binaries)
    yield "outputs", sum(len(binary.outputs) for binary in binaries)
    yield "inputs", sum(recipe.file is not None for binary in binaries for recipe in binary.inputs)
    yield "lines that `after` names", len(part.line.fields.fixed.get("after", ()))


class Inputs:
    """Counts the inputs that come from stages, groups and globs."""

    def __init__(self, files: InputFiles, faults: Faults) -> None:
        self.most = MAX_READ
        self.number = 0
        self._files, self._faults = files, faults

    @property
    def are_too_many(self) -> bool:
        """Whether a fault says so."""
        return self.number > self.most

    def count(self, ranges: Sequence[PackageRange], *, of_stages: bool) -> bool:
        """Count those that are known without making lines; return whether they are too many."""
        for part in ranges:
            for package in part.line.packages:
                for recipe in chain.from_iterable(binary.inputs for binary in package.binaries):
                    if recipe.file is None and (recipe.stage is not None) is of_stages:
                        self.add(recipe, self._known(recipe, part.line.loop))
                        if self.are_too_many:
                            return True
        return False

    def add(self, recipe: InputRecipe, number: int) -> None:
        """Count some of an entry; record a fault once there are too many."""
        if self.are_too_many:
            return
        self.number += number
        if self.are_too_many:
            message = (
                f"with these, {self.number:,} inputs come from stages, groups and globs (at most "
                f"{self.most:,}): read each file in fewer lines, or merge or pack the files first"
            )
            self._faults.add(recipe.position, message)

    def _known(self, recipe: InputRecipe, loop: Loop) -> int:
        """Return how many inputs an entry has in all lines, 0 if that varies."""
        if recipe.group is not None:
            values = [values for group in loop.groups for values in group.values][recipe.group]
            members = sum(len(group.members) for group in values)
            return members * loop.size // max(1, len(values))
        return (self._files.found_in_all(recipe) or 0) * loop.size
