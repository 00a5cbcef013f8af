"""The only place that tells which files the inputs of a package are."""

import enum
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import NamedTuple

from d0ctl.construct import disk
from d0ctl.construct.faults import shown
from d0ctl.construct.kinds import WrongError
from d0ctl.construct.names import base_name, input_name
from d0ctl.construct.recipe import BinaryRecipe, InputRecipe, PackageRecipe
from d0ctl.construct.script import Around, as_word
from d0ctl.construct.template import Env


class Origin(enum.IntEnum):
    """Where a named input comes from, as one byte."""

    MADE = 0
    """A package of this job, or of another, makes it."""
    OWN = 1
    """An earlier binary of the same package makes it."""
    FETCHED = 2
    """No package makes it; it is brought to the node."""
    PRESENT = 3
    """No package makes it; it lies on the node."""
    WRONG = 4
    """There is a fault about it."""


class Given(NamedTuple):
    """One input file: its name in the spec, how the job file writes it, where it comes from."""

    file: str
    written: str | None
    origin: Origin

    @property
    def base(self) -> str:
        """The name it has in the attempt's directory."""
        return self.file if self.origin is Origin.OWN else base_name(self.file)


@dataclass(slots=True)
class World:
    """What lies around the packages: the directory, globs seen, and the stages' open outputs."""

    directory: str
    leaves: dict[str, Sequence[str]] = field(default_factory=dict)
    _globs: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def absolute(self, file: str) -> str:
        """Return the path of a file that no package makes."""
        return disk.absolute(self.directory, file)

    def matched(self, pattern: str) -> tuple[str, ...]:
        """Return the files beside the job file that match; the same each time it is asked."""
        if pattern not in self._globs:
            found = disk.matching(pattern, self.directory)
            self._globs[pattern] = tuple(f for f in found if disk.is_file(self.absolute(f)))
        return self._globs[pattern]

    def taken(self, recipe: InputRecipe, env: Env) -> Sequence[str]:
        """Return the outputs that a `from:` takes."""
        names = self.leaves.get(recipe.stage or "", ())
        if recipe.match is None:
            return names
        pattern = recipe.match.render(env)
        return [name for name in names if fnmatchcase(name, pattern)]

    def given(self, recipe: InputRecipe, env: Env, at: int) -> Iterator[Given]:
        """Return the files of one entry under `inputs:` for the `at`th line of its loop."""
        if recipe.stage is not None:
            for name in self.taken(recipe, env):
                yield Given(name, None, Origin.MADE)
        elif recipe.glob is not None:
            for name in self.matched(recipe.glob.render(env)):
                yield Given(self.absolute(input_name(name)), name, Origin.FETCHED)
        elif recipe.file is not None:
            origin, text = Origin(recipe.origins[at]), recipe.file.render(env)
            if origin is not Origin.WRONG:
                name = input_name(text)
                outside = origin in (Origin.FETCHED, Origin.PRESENT)
                yield Given(self.absolute(name) if outside else name, text, origin)

    def around(self, binary: BinaryRecipe, package: PackageRecipe, env: Env, at: int) -> Around:
        """Return what a binary's text may name."""
        words = [
            as_word(given.base) for recipe in binary.inputs for given in self.given(recipe, env, at)
        ]
        outputs = [as_word(recipe.file.render(env)) for recipe in binary.outputs]
        return Around(words, outputs, self._written(package, env, at))

    def _written(self, package: PackageRecipe, env: Env, at: int) -> dict[str, str]:
        """Map inputs as they are written to where they lie, as far as that differs."""
        found = {}
        for binary in package.binaries:
            for recipe in binary.inputs:
                if recipe.stage is None:
                    for given in self.given(recipe, env, at):
                        word = as_word(given.base)
                        if given.written is not None and word != given.written:
                            found[given.written] = word
        return found


def judge_bases(given: Sequence[Given], outputs: Sequence[str]) -> None:
    """Raise WrongError for two files that would lie under one name in an attempt's directory."""
    seen: dict[str, str] = {}
    for one in given:
        if one.origin is Origin.OWN:
            continue
        first = seen.setdefault(one.base, one.file)
        if first != one.file and not disk.same_path(first, one.file):
            told = f"inputs {shown(first)} and {shown(one.file)}"
            raise WrongError(f"{told} of one package have the same base name")
    for output in outputs:
        if output in seen:
            told = f"output {shown(output)} would overwrite input {shown(seen[output])}"
            raise WrongError(f"{told}, which has the same base name")
