"""The job file after reading: records whose texts still have placeholders.

A line under a `for:` is one recipe, however many lines it makes.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from d0ctl.jobfile.language.script import Run, Script
from d0ctl.jobfile.language.template import Env, LoopName, Template
from d0ctl.jobfile.language.values import Fields
from d0ctl.jobfile.yaml.faults import Place


@dataclass(slots=True)
class Group:
    """Loop names that go side by side: one name, or those of a `zip:`."""

    names: dict[str, tuple[str, ...] | None]
    values: Sequence[Sequence[Any]]

    def __len__(self) -> int:
        return min((len(values) for values in self.values), default=0)

    def __iter__(self) -> Iterator[Env]:
        return zip(*self.values, strict=False)


@dataclass(slots=True)
class Loop:
    """The combinations of a `for:`; without one there is a single, empty combination."""

    groups: list[Group] = field(default_factory=list)

    @property
    def size(self) -> int:
        """How many combinations there are, which may be more than `len` can tell."""
        return math.prod(len(group) for group in self.groups)

    def __iter__(self) -> Iterator[Env]:
        return _combinations(self.groups)

    @property
    def names(self) -> dict[str, LoopName]:
        """Where each name's value lies in a combination."""
        pairs = [pair for group in self.groups for pair in group.names.items()]
        return {name: LoopName(at, columns) for at, (name, columns) in enumerate(pairs)}


def _combinations(groups: Sequence[Group]) -> Iterator[Env]:
    """Make the product of the groups, the last varying fastest, without holding it."""
    if not groups:
        yield ()
        return
    for head in _combinations(groups[:-1]):
        for tail in groups[-1]:
            yield head + tail


@dataclass(frozen=True, slots=True, eq=False)
class InputRecipe:
    """One entry under `inputs:`; `file`, `stage` or `glob` is set. It is a key by identity."""

    place: Place
    fields: Fields
    file: Template | None = None
    stage: str | None = None
    match: Template | None = None
    glob: Template | None = None


@dataclass(frozen=True, slots=True)
class OutputRecipe:
    """One entry under `outputs:`."""

    place: Place
    file: Template
    fields: Fields


@dataclass(frozen=True, slots=True)
class BinaryRecipe:
    """One entry under `binaries:`."""

    place: Place
    fields: Fields
    run: Run | None
    check: Script | None
    inputs: list[InputRecipe]
    outputs: list[OutputRecipe]

    @property
    def texts(self) -> list[Run]:
        """What is executed, as far as it is known."""
        return [run for run in (self.run, self.check) if run is not None]


@dataclass(frozen=True, slots=True)
class PackageRecipe:
    """One entry under `packages:`."""

    place: Place
    fields: Fields
    binaries: list[BinaryRecipe]
    wrapper: InputRecipe | None = None
    """The startup script, a file as an input is."""

    @property
    def takes_stages(self) -> bool:
        """Tell whether an input is `from:` a stage."""
        return any(given.stage is not None for b in self.binaries for given in b.inputs)


@dataclass(frozen=True, slots=True)
class LineRecipe:
    """One entry under `lines:`, and the loop that makes lines of it."""

    place: Place
    loop: Loop
    fields: Fields
    packages: list[PackageRecipe]


@dataclass(frozen=True, slots=True)
class StageRecipe:
    """One entry under `stages:`."""

    place: Place
    name: str
    require: float
    require_place: Place | None
    lines: list[LineRecipe]


@dataclass(frozen=True, slots=True)
class JobRecipe:
    """The whole job file."""

    fields: Fields
    parameters: Mapping[str, Any]
    policy: Mapping[str, Any]
    stages: list[StageRecipe]
