"""The job file after reading: records whose texts still have placeholders.

A line under a `for:` is one recipe, however many lines it makes.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from d0ctl.jobfile.language.placeholders import LoopName, LoopValues, Template
from d0ctl.jobfile.language.script import Run, Script
from d0ctl.jobfile.language.values import Fields
from d0ctl.jobfile.yaml.faults import Position


class Names(Struct):
    """Loop names whose values are paired: one name, or those of a `zip:`."""

    names: dict[str, LoopName]
    """By name, each with its index here."""
    values: Sequence[Sequence[Any]]

    def __len__(self) -> int:
        return min((len(values) for values in self.values), default=0)

    def __iter__(self) -> Iterator[LoopValues]:
        return zip(*self.values, strict=False)


class Loop(Struct):
    """The combinations of a `for:`; without one there is a single, empty combination."""

    groups: list[Names] = field(default_factory=list)

    @property
    def size(self) -> int:
        """The number of combinations, which can be more than `len` may return."""
        return math.prod(len(group) for group in self.groups) if self.groups else 1

    def __iter__(self) -> Iterator[LoopValues]:
        return _combinations(self.groups)

    @property
    def names(self) -> dict[str, LoopName]:
        """The index of each name in a combination."""
        known = [
            (name, loop, values)
            for group in self.groups
            for (name, loop), values in zip(group.names.items(), group.values, strict=False)
        ]
        return {
            name: replace(loop, index=at, values=values)
            for at, (name, loop, values) in enumerate(known)
        }

    @property
    def is_late(self) -> bool:
        """Whether some of its values are groups of late outputs, known or not."""
        return any(name.is_late for group in self.groups for name in group.names.values())

    @property
    def is_open(self) -> bool:
        """Whether some of its values are known only when late outputs have been made."""
        return any(name.is_open for group in self.groups for name in group.names.values())


def _combinations(groups: Sequence[Names]) -> Iterator[LoopValues]:
    """Make the combinations one by one, the last group varying fastest."""
    if not groups:
        yield ()
        return
    for head in _combinations(groups[:-1]):
        for tail in groups[-1]:
            yield head + tail


class InputRecipe(Struct, frozen=True, eq=False):
    """One entry under `inputs:`; it is a key by identity.

    `file`, `stage`, `glob` or `group` is set; the last is the index of a loop value.
    """

    position: Position
    fields: Fields
    file: Template | None = None
    stage: str | None = None
    match: Template | None = None
    glob: Template | None = None
    group: int | None = None
    is_flat: bool = False
    """Whether its files lose their folders in the working directory."""
    listed_in: str | None = None
    """The list or catalogue that names the file."""

    @property
    def is_named(self) -> bool:
        """Return whether it names its files."""
        return self.file is not None or self.group is not None

    @property
    def is_constant(self) -> bool:
        """Return whether it is the same for all lines."""
        texts = [text for text in (self.file, self.match, self.glob) if text is not None]
        return (
            self.group is None
            and not self.fields.varying
            and all(text.constant is not None for text in texts)
        )


class OutputRecipe(Struct, frozen=True):
    """One entry under `outputs:`."""

    position: Position
    file: Template
    fields: Fields


class BinaryRecipe(Struct, frozen=True):
    """One entry under `binaries:`."""

    position: Position
    fields: Fields
    run: Run | None
    """None if software from the catalogue has a script, which is chosen at launch."""
    check: Script | None
    inputs: list[InputRecipe]
    outputs: list[OutputRecipe]
    inputs_are_constant: bool = False
    stdin: InputRecipe | None = None
    """The last of `inputs` if one is the standard input."""

    @property
    def texts(self) -> list[Run]:
        """The programs of the binary: `run`, if it has one, and `check`."""
        return [run for run in (self.run, self.check) if run is not None]


class PackageRecipe(Struct, frozen=True):
    """One entry under `packages:`."""

    position: Position
    fields: Fields
    binaries: list[BinaryRecipe]
    wrapper: InputRecipe | None = None
    """The startup script, a file like an input."""

    @property
    def takes_stages(self) -> bool:
        """Return whether an input is `from:` a stage."""
        return any(entry.stage is not None for b in self.binaries for entry in b.inputs)


class LineRecipe(Struct, frozen=True):
    """One entry under `lines:`, and its loop."""

    position: Position
    loop: Loop
    fields: Fields
    packages: list[PackageRecipe]

    @property
    def files(self) -> int:
        """The number of inputs and outputs under its binaries."""
        binaries = [binary for package in self.packages for binary in package.binaries]
        return sum(len(binary.inputs) + len(binary.outputs) for binary in binaries)

    def made(self, values: LoopValues) -> Iterator[str]:
        """Iterate over the names of the outputs of one line."""
        for package in self.packages:
            for binary in package.binaries:
                yield from (output.file.render(values) for output in binary.outputs)


class StageRecipe(Struct, frozen=True):
    """One entry under `stages:`."""

    position: Position
    name: str
    require: float
    require_position: Position | None
    lines: list[LineRecipe]
    max_running: int | None = None
    after: tuple[str, ...] = ()
    after_position: Position | None = None
    final: bool = False


class JobRecipe(Struct, frozen=True):
    """The whole job file."""

    fields: Fields
    parameters: Mapping[str, Any]
    policy: Mapping[str, Any]
    stages: list[StageRecipe]
