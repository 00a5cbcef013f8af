"""Lines, packages and binaries, made from their recipes and the values of loops.

Anything common to all lines of a recipe is determined once, before its first line is made.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from operator import itemgetter
from typing import Any, Protocol

from d0ctl.jobfile.input_files import BinaryFiles, InputFile, InputFiles, Origin
from d0ctl.jobfile.language.field_types import MAX_NAME_LENGTH
from d0ctl.jobfile.language.file_names import base_name, input_name, output_name
from d0ctl.jobfile.language.placeholders import Getter, LoopName, LoopValues
from d0ctl.jobfile.language.quoting import quote
from d0ctl.jobfile.language.script import Arguments, Script
from d0ctl.jobfile.language.shell import Context
from d0ctl.jobfile.language.values import Fields
from d0ctl.jobfile.recipe import (
    BinaryRecipe,
    InputRecipe,
    LineRecipe,
    OutputRecipe,
    PackageRecipe,
)
from d0ctl.jobfile.sections.loops import plain_names
from d0ctl.jobfile.spec import Acquire, BinarySpec, InputSpec, LineSpec, OutputSpec, PackageSpec


class LineOrder(Protocol):
    """Finds the lines that `after` names; `own` is the number of the line that has it."""

    def lines(
        self, references: Iterable[tuple[str, str]], own: int, /
    ) -> tuple[tuple[int, int], ...]: ...


def line_maker(
    line: LineRecipe,
    stage: str,
    files: InputFiles,
    order: LineOrder,
    output: Callable[[], str] | None,
) -> Callable[[LoopValues, int, int], LineSpec]:
    """Return a function that makes a line from its loop values, its index and its number.

    `output` returns the name of the next output; without it they are made.
    """
    plain = plain_names(line.loop)
    packages = [
        _package_maker(package, number, stage, plain, files, output)
        for number, package in enumerate(line.packages, 1)
    ]
    is_open = {"is_open": True} if line.loop.is_open else {}
    fields_of = _fields_maker(line.fields, **is_open)
    has_name = "name" in line.fields.fixed or "name" in line.fields.varying
    name_of = None if has_name else _line_names(line, plain)

    def make(values: LoopValues, at: int, number: int) -> LineSpec:
        made = tuple([package(values, at) for package in packages])
        fields = fields_of(values)
        if "after" in fields:
            fields = {**fields, "after": order.lines(fields["after"], number)}
        if name_of is None:
            return LineSpec(packages=made, **fields)
        return LineSpec(name_of(values) or str(number), made, **fields)

    return make


def _fields_maker(fields: Fields, **defaults: Any) -> Callable[[LoopValues], Mapping[str, Any]]:
    """Return a function that makes the fields of a record from its loop values."""
    fixed = {**defaults, **fields.fixed}
    if not fields.varying:
        return lambda values: fixed
    varying = tuple(fields.varying.items())
    return lambda values: {**fixed, **{name: value.get(values) for name, value in varying}}


def line_names(line: LineRecipe) -> Callable[[LoopValues], str]:
    """Return a function that names the lines of a recipe; empty for lines named by number."""
    fields = line.fields
    if "name" in fields.fixed:
        return lambda values: str(fields.fixed["name"])
    if "name" in fields.varying:
        return lambda values: str(fields.varying["name"].get(values))
    return _line_names(line, plain_names(line.loop))


def _line_names(line: LineRecipe, plain: Collection[int]) -> Callable[[LoopValues], str]:
    """Name lines by their loop values, e.g. `e=10 seed=3`."""
    names = line.loop.names
    if all(loop.index in plain for loop in names.values()):
        layout = " ".join(f"{name}=%s" for name in names)
        return lambda values: (layout % values)[:MAX_NAME_LENGTH]
    parts = [part for name, loop in names.items() for part in _parts_of(name, loop)]

    def name_of(values: LoopValues) -> str:
        return " ".join([f"{name}={text(values)}" for name, text in parts])[:MAX_NAME_LENGTH]

    return name_of


def _parts_of(name: str, loop: LoopName) -> list[tuple[str, Callable[[LoopValues], str]]]:
    """Return what names a line by a loop name: it, or the columns of its rows, and the texts."""
    index, rows = loop.index, loop.values or ()
    if loop.is_group:
        return [(name, lambda values: str(values[index].number))]
    if loop.columns is None:
        return [(name, _shown(rows, itemgetter(index)))]

    def column(at: int) -> Callable[[LoopValues], str]:
        return _shown([row[at] for row in rows], lambda values: str(values[index][at]))

    return [(name, column(at)) for at, name in enumerate(loop.columns)]


def _shown(texts: Sequence[str], get: Callable[[LoopValues], str]) -> Callable[[LoopValues], str]:
    """Return a function that gets a text, of a path its last part if that tells all apart."""
    different = set(texts)
    is_short = len({*map(_last_part, different)}) == len(different)
    return (lambda values: _last_part(get(values))) if is_short else get


def _last_part(value: str) -> str:
    return value.rstrip("/").rpartition("/")[2] or value


def _package_maker(
    recipe: PackageRecipe,
    number: int,
    stage: str,
    plain: Collection[int],
    files: InputFiles,
    output: Callable[[], str] | None,
) -> Callable[[LoopValues, int], PackageSpec]:
    names = _binary_names(recipe, stage)
    reads = any(binary.inputs for binary in recipe.binaries)
    makers = [
        _BinaryMaker(binary, name, plain, files, output, reads=reads)
        for binary, name in zip(recipe.binaries, names, strict=True)
    ]
    fields_of = _fields_maker(recipe.fields, name=str(number))

    def make(values: LoopValues, at: int) -> PackageSpec:
        inputs = [files.of_binary(binary, values, at) for binary in recipe.binaries]
        made = tuple([m.make(values, own, inputs) for m, own in zip(makers, inputs, strict=True)])
        if recipe.wrapper is None:
            return PackageSpec(binaries=made, **fields_of(values))
        (startup,) = files.of_entry(recipe.wrapper, values, at)
        wrapper = _input(startup, values, files)
        return PackageSpec(binaries=made, wrapper=wrapper, **fields_of(values))

    return make


def _binary_names(recipe: PackageRecipe, stage: str) -> list[str]:
    """Name the binaries by software, else by package or stage; the same in each line."""
    own = recipe.fields.fixed.get("name", stage)
    numbered = len(recipe.binaries) > 1
    return [
        str(binary.fields.fixed.get("software", "")).partition("/")[0]
        or (f"{own}-{number}" if numbered else own)
        for number, binary in enumerate(recipe.binaries, 1)
    ]


class _BinaryMaker:
    """Makes one binary of a recipe for each line."""

    def __init__(
        self,
        recipe: BinaryRecipe,
        name: str,
        plain: Collection[int],
        files: InputFiles,
        output: Callable[[], str] | None,
        *,
        reads: bool,
    ) -> None:
        run = recipe.run
        self._recipe = recipe
        self._files = files
        self._plain = None if run is None or recipe.check else run.plain_text(plain)
        if self._plain is None and isinstance(run, Script) and not (recipe.check or reads):
            self._plain = _text_without_files(run)
        self._key = "argv" if isinstance(run, Arguments) else "script"
        shell = {"shell": run.shell} if isinstance(run, Script) else {}
        self._fields_of = _fields_maker(recipe.fields, name=name, **shell)
        self._outputs = [_output_maker(made, output) for made in recipe.outputs]
        self._constant: dict[int, tuple[InputSpec, ...]] = {}
        """The inputs by the identity of their files, if lines differ in nothing else."""

    def make(
        self, values: LoopValues, own: list[InputFile], inputs: list[list[InputFile]]
    ) -> BinarySpec:
        """Return the binary of a line; `own` is its part of the inputs of its package."""
        outputs = tuple([output(values) for output in self._outputs])
        specs, fields = self._inputs(values, own), self._fields_of(values)
        if self._recipe.stdin is not None:
            fields = {**fields, "stdin": self._stdin(self._recipe.stdin, values, own)}
        if self._plain is not None:
            text: dict[str, Any] = {self._key: self._plain(values)}
            return BinarySpec(inputs=specs, outputs=outputs, **text, **fields)
        binary_files = BinaryFiles(own, [output.file for output in outputs], inputs)
        texts: dict[str, Any] = {}
        for key, run in ((self._key, self._recipe.run), ("check", self._recipe.check)):
            if run is not None:
                texts[key] = run.text(values, binary_files)
        return BinarySpec(inputs=specs, outputs=outputs, **texts, **fields)

    def _stdin(self, recipe: InputRecipe, values: LoopValues, own: list[InputFile]) -> str | None:
        """Return the name in the working directory of the standard input."""
        assert recipe.file is not None
        name = input_name(recipe.file.render(values))
        names = name, self._files.absolute(name)
        return next((file.local_name for file in own if file.file in names), None)

    def _inputs(self, values: LoopValues, own: list[InputFile]) -> tuple[InputSpec, ...]:
        if not self._recipe.inputs_are_constant:
            return tuple([_input(file, values, self._files) for file in own])
        if id(own) not in self._constant:
            self._constant[id(own)] = tuple([_input(file, values, self._files) for file in own])
        return self._constant[id(own)]


def _text_without_files(run: Script) -> Callable[[LoopValues], str] | None:
    """Return a function that makes the text of a line whose package has no inputs.

    It is None if the text names outputs, or has a placeholder in quotes.
    """
    fillers = []
    for part in run.insertions:
        if part.context is not Context.BARE or (part.getter is None and part.group is None):
            return None
        fillers.append(_word(part.getter) if part.group is None else _group_words(part.group))
    return lambda values: run.layout % tuple([fill(values) for fill in fillers])


def _word(getter: Getter | None) -> Callable[[LoopValues], str]:
    assert getter is not None
    return lambda values: quote(getter(values))


def _group_words(group: int) -> Callable[[LoopValues], str]:
    return lambda values: " ".join([quote(word) for word in values[group].members])


def _output_maker(
    output: OutputRecipe, name: Callable[[], str] | None
) -> Callable[[LoopValues], OutputSpec]:
    render, fields_of = output.file.render, _fields_maker(output.fields)
    if name is not None:
        return lambda values: OutputSpec(name(), **fields_of(values))
    return lambda values: OutputSpec(output_name(render(values)), **fields_of(values))


def _input(file: InputFile, values: LoopValues, files: InputFiles) -> InputSpec:
    fields = file.entry.fields.get(values)
    here = file.origin == Origin.PRESENT
    return InputSpec(
        file.file,
        file.origin < Origin.FETCHED,
        fields.get("locator"),
        fields.get("size"),
        fields.get("checksum"),
        fields.get("acquire", Acquire.NONE if here else Acquire.PRE_FETCH),
        fields.get("disposition"),
        fields.get("required", file.entry.file is not None),
        files.match_of(file, values),
        fields.get("writable", False),
        _local(file),
    )


def _local(file: InputFile) -> str | None:
    """Return how the name of an input in the working directory differs from its base name."""
    base = base_name(file.file)
    if file.local_name == base or file.origin == Origin.OWN:
        return None
    if file.local_name.endswith("/" + base):
        return file.local_name[: -len(base)]
    return file.local_name.rstrip("/")
