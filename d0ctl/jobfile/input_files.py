"""The files of each package's inputs, found by the check and used by the expansion."""

import enum
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property
from itertools import chain
from typing import NamedTuple

from msgspec import Struct, field

from d0ctl.jobfile import local_files
from d0ctl.jobfile.language.field_types import BadValueError
from d0ctl.jobfile.language.file_names import (
    base_name,
    input_name,
    local_name,
    own_name,
    path_below,
)
from d0ctl.jobfile.language.name_index import NameIndex
from d0ctl.jobfile.language.placeholders import LoopValues
from d0ctl.jobfile.language.quoting import as_word
from d0ctl.jobfile.local_files import Globs
from d0ctl.jobfile.recipe import BinaryRecipe, InputRecipe
from d0ctl.jobfile.yaml.faults import shown


class Origin(enum.IntEnum):
    """Where a named input comes from, as one byte."""

    MADE = 0
    """A package of this job makes it, under its base name."""
    FAR = 1
    """A package of this job makes it in a directory, or a package of another job does."""
    OWN = 2
    """An earlier binary of the same package makes it."""
    FETCHED = 3
    """No package makes it; it is copied to the node."""
    PRESENT = 4
    """No package makes it; it is on the node already."""
    WRONG = 5
    """It is faulty."""


class InputFile(NamedTuple):
    """One file of an entry under `inputs:`.

    `file` is its name in the spec, `local_name` the one it has for the binary, `written` the
    one in the job file. `others` are earlier entries for the same file.
    """

    entry: InputRecipe
    file: str
    local_name: str
    written: str | None
    origin: int
    others: tuple[InputRecipe, ...] = ()


class StageOutputs:
    """The outputs of a stage that no package of the stage consumes, in the order of their makers.

    Those in `late` are patterns, whose files get their names when they are made.
    """

    def __init__(self, names: Sequence[str], late: Collection[str]) -> None:
        self.names = names
        self._late = late

    @cached_property
    def _index(self) -> NameIndex:
        return NameIndex([own_name(name) for name in self.names])

    @cached_property
    def _patterns(self) -> Sequence[int]:
        return [at for at, name in enumerate(self.names) if name in self._late]

    @property
    def is_spent(self) -> bool:
        """Whether the comparisons with patterns took too long."""
        return self._index.is_spent

    def matching(self, pattern: str) -> list[str]:
        """Return the matching outputs, and all late ones, as their files may match later."""
        found = self._index.matching(pattern)
        if self._late and self._patterns:
            found = sorted({*found, *self._patterns})
        return [self.names[index] for index in found]


class InputFiles(Struct, frozen=True):
    """The files of every input of a job.

    `origins` has one `Origin` for each line of the loop of a named input, `sources` the stage
    outputs that a `from:` takes, `late` the patterns of late outputs.
    """

    directory: str
    globs: Globs
    origins: Mapping[InputRecipe, Sequence[int]]
    sources: Mapping[InputRecipe, StageOutputs]
    late: Collection[str]
    groups: Mapping[InputRecipe, Sequence[bytes]]
    """The `Origin` of each file of a group, for each line of the loop."""
    constant: dict[tuple[InputRecipe, bytes], list[InputFile]] = field(default_factory=dict)
    """The files of binaries whose entries are the same for all lines, by the first entry and the
    origins of all."""

    def absolute(self, file: str) -> str:
        """Return the path of a file that no package makes."""
        return local_files.absolute(self.directory, file)

    def comes_from_packages(self, recipe: InputRecipe) -> bool:
        """Return whether other packages make some of an entry's files."""
        made = {Origin.MADE, Origin.FAR}
        if recipe.group is not None:
            return any(made.intersection(origins) for origins in self.groups.get(recipe, ()))
        return recipe.stage is not None or bool(made.intersection(self.origins.get(recipe, ())))

    def found_in_all(self, recipe: InputRecipe) -> int | None:
        """Return how many files an entry finds in each line; None if that varies."""
        if recipe.stage is None:
            pattern = "" if recipe.glob is None else recipe.glob.constant
            return None if pattern is None else len(self.globs.matching(pattern)) if pattern else 0
        source = self.sources.get(recipe, StageOutputs((), ()))
        if recipe.match is None:
            return len(source.names)
        pattern = recipe.match.constant
        return None if pattern is None else len(source.matching(pattern))

    def match_of(self, file: InputFile, values: LoopValues) -> str | None:
        """Return the patterns, one per line, by which only a part of a late output is taken."""
        if file.file not in self.late:
            return None
        matches = [entry.match for entry in (*file.others, file.entry)]
        texts = dict.fromkeys(match.render(values) for match in matches if match is not None)
        return None if None in matches else "\n".join(texts)

    def of_binary(self, binary: BinaryRecipe, values: LoopValues, at: int) -> list[InputFile]:
        """Return the input files of a binary, each once; an entry with its name has precedence."""
        if not binary.inputs_are_constant or not binary.inputs:
            return self._of_binary(binary, values, at)
        key = binary.inputs[0], self.origins_of(binary, at)
        if key not in self.constant:
            self.constant[key] = self._of_binary(binary, values, at)
        return self.constant[key]

    def origins_of(self, binary: BinaryRecipe, at: int) -> bytes:
        """Return the origins of the named inputs of a binary in the `at`th line of its loop."""
        return bytes([self.origins[r][at] for r in binary.inputs if r.file is not None])

    def _of_binary(self, binary: BinaryRecipe, values: LoopValues, at: int) -> list[InputFile]:
        if len(binary.inputs) == 1:
            return self.of_entry(binary.inputs[0], values, at)
        files: dict[str, InputFile] = {}
        for recipe in binary.inputs:
            for file in self.of_entry(recipe, values, at):
                previous = files.get(file.file)
                if previous is None or not previous.entry.is_named:
                    if previous is not None:
                        file = file._replace(others=(*previous.others, previous.entry))
                    files[file.file] = file
        return list(files.values())

    def of_entry(self, recipe: InputRecipe, values: LoopValues, at: int) -> list[InputFile]:
        """Return the files of one entry under `inputs:` for the `at`th line of its loop."""
        if recipe.file is not None:
            return self._named(recipe, recipe.file.render(values), self.origins[recipe][at], values)
        if recipe.group is not None:
            pairs = zip(values[recipe.group].members, self.groups[recipe][at], strict=True)
            return [
                file for name, origin in pairs for file in self._named(recipe, name, origin, values)
            ]
        if recipe.stage is not None:
            names = self._from_stage(recipe, values)
            origin = Origin.FAR if "/" in recipe.stage else Origin.MADE
            return [InputFile(recipe, name, _local(recipe, name, values), None, origin)
                    for name in names]  # fmt: skip
        assert recipe.glob is not None
        names = self.globs.matching(recipe.glob.render(values))
        return [self._outside(recipe, input_name(n), n, Origin.FETCHED, values) for n in names]

    def _from_stage(self, recipe: InputRecipe, values: LoopValues) -> Sequence[str]:
        source = self.sources.get(recipe)
        if source is None:
            return ()
        return (
            source.names if recipe.match is None else source.matching(recipe.match.render(values))
        )

    def _named(
        self, recipe: InputRecipe, text: str, origin: int, values: LoopValues
    ) -> list[InputFile]:
        if origin == Origin.WRONG:
            return []
        name = input_name(text)
        if origin >= Origin.FETCHED:
            return [self._outside(recipe, name, text, origin, values)]
        local = name if origin == Origin.OWN else _local(recipe, name, values)
        return [InputFile(recipe, name, local, text, origin)]

    def _outside(
        self, recipe: InputRecipe, name: str, text: str, origin: int, values: LoopValues
    ) -> InputFile:
        return InputFile(recipe, self.absolute(name), _local(recipe, name, values), text, origin)


def _local(recipe: InputRecipe, name: str, values: LoopValues) -> str:
    """Return the name of an input in the working directory."""
    if "as" in recipe.fields.fixed or "as" in recipe.fields.varying:
        return local_name(name, recipe.fields.get(values)["as"])
    if "/" not in name or recipe.is_flat:
        return base_name(name)
    return local_name(name, path_below(name))


class BinaryFiles(Struct):
    """The files that the text of a binary may name: its own, and all inputs of its package."""

    own: Sequence[InputFile]
    made: Sequence[str]
    package: Sequence[Sequence[InputFile]]
    names: dict[str | None, str] | None = None
    """The local names of its own files by those in the job file, once asked for."""
    package_names: dict[str | None, str] | None = None
    """Those of all inputs of its package."""

    def inputs(self) -> list[str]:
        """Return the names of the inputs in the directory where the binary runs."""
        return [as_word(file.local_name) for file in self.own]

    def outputs(self) -> list[str]:
        """Return the names of the outputs."""
        return [as_word(name) for name in self.made]

    def local_names(self, members: Sequence[str]) -> list[str] | None:
        """Return the local names of a group's files; None unless all are inputs."""
        if self.names is None:
            self.names = {file.written: file.local_name for file in self.own}
        names = self.names
        return [names[name] for name in members] if names.keys() >= set(members) else None

    def word(self, value: str) -> str:
        """Return a value, or the local name of the input whose path it is."""
        if self.package_names is None:
            self.package_names = {}
            for file in chain.from_iterable(self.package):
                self.package_names.setdefault(file.written, file.local_name)
        local = self.package_names.get(value)
        return value if local is None else as_word(local)


class BaseNames(Struct, frozen=True):
    """The names of inputs in an attempt's directory, and the folders for them there."""

    names: Mapping[str, str]
    folders: Mapping[str, str]

    def check(self, outputs: Iterable[str]) -> None:
        """Raise BadValueError for an output that would have one of these names."""
        for output in outputs:
            name = output.removeprefix("./").rstrip("/")
            first = self.names.get(name)
            if output.endswith("/") and name in self.folders:
                inner = f"would contain input {shown(self.folders[name])}"
                raise BadValueError(
                    f"output {shown(output)} {inner}: give that another name by `as`"
                )
            if first:
                pair = f"output {shown(output)} would overwrite input {shown(first)}"
                raise BadValueError(f"{pair}, which has the same name")


def base_names(inputs: Iterable[Iterable[InputFile]]) -> BaseNames:
    """Return the names of inputs; raise BadValueError for two that would have the same."""
    seen: dict[str, str] = {}
    folders: dict[str, str] = {}
    for file in chain.from_iterable(inputs):
        if file.origin == Origin.OWN:
            continue
        first = seen.setdefault(file.local_name.rstrip("/"), file.file)
        if first != file.file and not local_files.same_path(first, file.file):
            both = f"inputs {shown(first)} and {shown(file.file)}"
            name = shown(file.local_name)
            raise BadValueError(f"{both} of a package are both {name}; rename one by `as: NAME`")
        if "/" in file.local_name[:-1]:
            folders.update(dict.fromkeys(_above(file.local_name), file.file))
    for folder in folders.keys() & seen.keys():
        whole = "a whole directory" if seen[folder].endswith("/") else "a file"
        raise BadValueError(
            f"input {shown(seen[folder])} of a package is {whole} where input "
            f"{shown(folders[folder])} needs a folder"
        )
    return BaseNames(seen, folders)


def _above(name: str) -> list[str]:
    """Return the folders in which a file is."""
    parts = name.rstrip("/").split("/")
    return ["/".join(parts[:end]) for end in range(1, len(parts))]
