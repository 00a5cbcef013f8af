"""The lines of a stage, made again from its recipes each time they are read."""

from collections.abc import Iterator, Sequence
from itertools import islice

from msgspec import Struct, field

from d0ctl.jobfile.collector import without_collector
from d0ctl.jobfile.expand import LineOrder, line_maker
from d0ctl.jobfile.input_files import InputFiles
from d0ctl.jobfile.recipe import (
    LineRecipe,
    StageRecipe,
)
from d0ctl.jobfile.spec import LineSpec
from d0ctl.units import REQUESTS


class StageLines(Struct, frozen=True):
    """The lines of one stage."""

    stage: StageRecipe
    files: InputFiles
    order: LineOrder
    outputs: Sequence[str]
    """The names of all outputs, in the order of their makers, as the check has made them."""
    cached_lines: list[LineSpec] = field(default_factory=list)
    """Lines without loops, which take more to make than to keep beside their recipes."""

    def __iter__(self) -> Iterator[LineSpec]:
        if not self.cached_lines and not has_loops(self.stage):
            with without_collector():
                self.cached_lines.extend(self._made())
        return iter(self.cached_lines) if self.cached_lines else self._made()

    def _made(self) -> Iterator[LineSpec]:
        number = 0
        name = iter(self.outputs).__next__
        for line in self.stage.lines:
            make = line_maker(line, self.stage.name, self.files, self.order, name)
            for at, values in enumerate(line.loop):
                number += 1
                yield make(values, at, number)

    def __len__(self) -> int:
        return sum(line.loop.size for line in self.stage.lines)

    def __repr__(self) -> str:
        return f"<lines of stage {self.stage.name}>"


def has_loops(stage: StageRecipe) -> bool:
    """Return whether a recipe of the stage makes several lines."""
    return any(line.loop.size > 1 for line in stage.lines)


class LineKinds(Struct, frozen=True):
    """The various requests of the lines of one stage."""

    stage: StageRecipe
    files: InputFiles
    order: LineOrder

    def __iter__(self) -> Iterator[LineSpec]:
        number = 1
        for line in self.stage.lines:
            make = line_maker(line, self.stage.name, self.files, self.order, None)
            most = 1 if _ask_alike(line) else None
            for at, values in enumerate(islice(line.loop, most)):
                yield make(values, at, number + at)
            number += line.loop.size


_ASKED = frozenset(
    {
        *REQUESTS, "platform", "nodes", "exclude_nodes", "software", "needs",
        "work_size", "size",
    }
)  # fmt: skip
"""The fields with the requests of a package."""


def _ask_alike(line: LineRecipe) -> bool:
    """Return whether all lines of a recipe have the same requests."""
    binaries = [binary for package in line.packages for binary in package.binaries]
    inputs = [entry for binary in binaries for entry in binary.inputs]
    fields = [
        *(package.fields for package in line.packages),
        *(binary.fields for binary in binaries),
        *(entry.fields for entry in inputs),
        *(output.fields for binary in binaries for output in binary.outputs),
    ]
    return not any(_ASKED & field.varying.keys() for field in fields) and not any(
        "size" in entry.fields.fixed and entry.file is None for entry in inputs
    )
