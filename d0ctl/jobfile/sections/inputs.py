"""The only place that tells which files the inputs of a package are."""

import enum
import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from itertools import chain, islice, takewhile
from typing import NamedTuple

from d0ctl.jobfile import local_files
from d0ctl.jobfile.language.field_types import WrongError
from d0ctl.jobfile.language.file_names import base_name, input_name
from d0ctl.jobfile.language.quoting import as_word
from d0ctl.jobfile.language.template import Env
from d0ctl.jobfile.recipe import BinaryRecipe, InputRecipe
from d0ctl.jobfile.yaml.faults import shown


class Origin(enum.IntEnum):
    """Where a named input comes from, as one byte."""

    MADE = 0
    """A package of this job makes it, under its base name."""
    FAR = 1
    """A package of this job makes it in a directory, or one of another job does."""
    OWN = 2
    """An earlier binary of the same package makes it."""
    FETCHED = 3
    """No package makes it; it is brought to the node."""
    PRESENT = 4
    """No package makes it; it lies on the node."""
    WRONG = 5
    """There is a fault about it."""


class Given(NamedTuple):
    """One input file of an entry under `inputs:`.

    `file` is its name in the spec, `lies` the one it has for the binary, `written` the one that
    the job file has for it.
    """

    entry: InputRecipe
    file: str
    lies: str
    written: str | None
    origin: int


@dataclass(slots=True)
class World:
    """What lies around the packages: the directory, globs seen, and the stages' open outputs."""

    directory: str
    leaves: dict[str, Sequence[str]] = field(default_factory=dict)
    late: set[str] = field(default_factory=set)
    """The patterns of late outputs, which have no names yet."""
    too_far: tuple[str, local_files.TooFarError] | None = None
    """A glob that searches for more than it may; none is searched for after it."""
    unfit: str | None = None
    """What is wrong with a name that a glob found."""
    _sorted: dict[str, list[tuple[str, int]]] = field(default_factory=dict)
    _open_late: dict[str, Sequence[str]] = field(default_factory=dict)
    _globs: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def absolute(self, file: str) -> str:
        """Return the path of a file that no package makes."""
        return local_files.absolute(self.directory, file)

    def matched(self, pattern: str) -> tuple[str, ...]:
        """Return the files beside the job file that match; the same each time it is asked."""
        if pattern not in self._globs:
            found = [f for f in self._found(pattern) if local_files.is_file(self.absolute(f))]
            self._globs[pattern] = tuple(f for f in found if self._is_fit(f))
        return self._globs[pattern]

    def _is_fit(self, name: str) -> bool:
        """Tell whether an input may have a name, and keep why one may not."""
        try:
            input_name(name)
        except WrongError as error:
            self.unfit = str(error)
            return False
        return True

    def _found(self, pattern: str) -> list[str]:
        """Search for a pattern, unless one of the job was too wide already."""
        try:
            return [] if self.too_far else local_files.matching(pattern, self.directory)
        except local_files.TooFarError as error:
            self.too_far = pattern, error
            return []

    def taken(self, recipe: InputRecipe, env: Env) -> Sequence[str]:
        """Return the outputs that a `from:` takes."""
        names = self.leaves.get(recipe.stage or "", ())
        if recipe.match is None or not names:
            return names
        return self._matching(recipe.stage or "", recipe.match.render(env))

    def _matching(self, stage: str, pattern: str) -> list[str]:
        """Return the outputs that match, in the order they are made.

        Only those that begin like the pattern are looked at: a stage of 10^5 lines may be taken
        by as many, each by its own pattern.
        """
        if stage not in self._sorted:
            self._sorted[stage] = sorted((n, at) for at, n in enumerate(self.leaves[stage]))
        ordered, head = self._sorted[stage], re.split(r"[*?\[]", pattern, maxsplit=1)[0]
        begin = bisect_left(ordered, (head, 0))
        likely = takewhile(lambda pair: pair[0].startswith(head), islice(ordered, begin, None))
        found = [
            (at, name)
            for name, at in likely
            if name not in self.late and fnmatchcase(name, pattern)
        ]
        found += [(at, name) for at, name in enumerate(self._late_of(stage))]
        return [name for _, name in sorted(found)]

    def _late_of(self, stage: str) -> Sequence[str]:
        """The late outputs of a stage: any of them may come to match a pattern."""
        if stage not in self._open_late:
            some = [name for name in self.leaves[stage] if name in self.late] if self.late else []
            self._open_late[stage] = some
        return self._open_late[stage]

    def match_of(self, recipe: InputRecipe, name: str, env: Env) -> str | None:
        """Return the pattern by which only a part of a late output is taken."""
        is_part = recipe.match is not None and name in self.late
        return recipe.match.render(env) if recipe.match is not None and is_part else None

    def files(self, binary: BinaryRecipe, env: Env, at: int) -> list[Given]:
        """Return the input files of a binary, each once; an entry that names one goes first."""
        if len(binary.inputs) == 1:
            return self.given(binary.inputs[0], env, at)
        found: dict[str, Given] = {}
        for recipe in binary.inputs:
            for one in self.given(recipe, env, at):
                if one.file not in found or found[one.file].entry.file is None:
                    found[one.file] = one
        return list(found.values())

    def given(self, recipe: InputRecipe, env: Env, at: int) -> list[Given]:
        """Return the files of one entry under `inputs:` for the `at`th line of its loop."""
        if recipe.file is not None:
            return self._named(recipe, recipe.file.render(env), recipe.origins[at])
        if recipe.stage is not None:
            names = self.taken(recipe, env)
            return [Given(recipe, name, base_name(name), None, Origin.MADE) for name in names]
        assert recipe.glob is not None
        names = self.matched(recipe.glob.render(env))
        return [self._outside(recipe, input_name(n), n, Origin.FETCHED) for n in names]

    def _named(self, recipe: InputRecipe, text: str, origin: int) -> list[Given]:
        if origin == Origin.WRONG:
            return []
        name = input_name(text)
        if origin >= Origin.FETCHED:
            return [self._outside(recipe, name, text, origin)]
        lies = base_name(name) if origin == Origin.FAR else name
        return [Given(recipe, name, lies, text, origin)]

    def _outside(self, recipe: InputRecipe, name: str, text: str, origin: int) -> Given:
        return Given(recipe, self.absolute(name), base_name(name), text, origin)


@dataclass(slots=True)
class Surroundings:
    """What a binary's text may name: its files, and by their paths all inputs of its package."""

    given: Sequence[Given]
    made: Sequence[str]
    package: Sequence[Sequence[Given]]

    def inputs(self) -> list[str]:
        """The inputs' names, as they lie for the binary."""
        return [as_word(one.lies) for one in self.given]

    def outputs(self) -> list[str]:
        """The outputs' names."""
        return [as_word(name) for name in self.made]

    def word(self, value: str) -> str:
        """Return a value, or the name of the input that is written like it."""
        for one in chain.from_iterable(self.package):
            if one.written == value:
                return as_word(one.lies)
        return value


def judge_bases(given: Iterable[Iterable[Given]], outputs: Sequence[str]) -> None:
    """Raise WrongError for two files that would lie under one name in an attempt's directory."""
    seen: dict[str, str] = {}
    for one in chain.from_iterable(given):
        if one.origin == Origin.OWN:
            continue
        first = seen.setdefault(one.lies, one.file)
        if first != one.file and not local_files.same_path(first, one.file):
            told = f"inputs {shown(first)} and {shown(one.file)}"
            raise WrongError(f"{told} of one package have the same base name")
    for output in outputs:
        first = seen.get(output.removeprefix("./"), "")
        if first:
            told = f"output {shown(output)} would overwrite input {shown(first)}"
            raise WrongError(f"{told}, which has the same base name")
