"""The lines of a job, made anew from its recipes each time that they are read."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from msgspec import Struct

from d0ctl.jobfile.input_files import BinaryFiles, InputFile, InputFiles, Origin
from d0ctl.jobfile.language.field_types import MAX_NAME_LENGTH
from d0ctl.jobfile.language.file_names import output_name
from d0ctl.jobfile.language.template import LoopValues
from d0ctl.jobfile.recipe import BinaryRecipe, LineRecipe, PackageRecipe, StageRecipe
from d0ctl.jobfile.spec import Acquire, BinarySpec, InputSpec, LineSpec, OutputSpec, PackageSpec


class StageLines(Struct, frozen=True):
    """The lines of one stage."""

    stage: StageRecipe
    files: InputFiles

    def __iter__(self) -> Iterator[LineSpec]:
        number = 0
        for line in self.stage.lines:
            numbered = [
                (str(number), package, _binary_names(package, self.stage.name))
                for number, package in enumerate(line.packages, 1)
            ]
            values_of = _line_names(line)
            for at, values in enumerate(line.loop):
                number += 1
                packages = [_package(*package, values, at, self.files) for package in numbered]
                fields = _with_name(line.fields.get(values), values_of(values) or str(number))
                yield LineSpec(packages=tuple(packages), **fields)

    def __repr__(self) -> str:
        return f"<lines of stage {self.stage.name}>"


def _line_names(line: LineRecipe) -> Callable[[LoopValues], str]:
    """Name lines by their loop values, as `e=10 seed=3`, unless the job file names them."""
    if "name" in line.fields.fixed or "name" in line.fields.varying:
        return lambda values: ""
    names = [(name, loop.index, loop.columns) for name, loop in line.loop.names.items()]

    def name_of(values: LoopValues) -> str:
        pairs: list[str] = []
        for name, index, columns in names:
            of_row = zip(columns, values[index], strict=True) if columns is not None else ()
            pairs += [_pair(*pair) for pair in of_row or ((name, values[index]),)]
        return " ".join(pairs)[:MAX_NAME_LENGTH]

    return name_of


def _pair(name: str, value: str) -> str:
    """Show a loop value with its name; of a path the last part."""
    return f"{name}={value.rpartition('/')[2] or value}"


def _with_name(fields: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Give a record without a name the one it has by default."""
    return fields if "name" in fields else {"name": name, **fields}


def _package(
    name: str,
    recipe: PackageRecipe,
    names: list[str],
    values: LoopValues,
    at: int,
    files: InputFiles,
) -> PackageSpec:
    inputs = [files.of_binary(binary, values, at) for binary in recipe.binaries]
    binaries = [
        _binary(binary, own, values, inputs, files, name)
        for binary, own, name in zip(recipe.binaries, inputs, names, strict=True)
    ]
    wrapper = [] if recipe.wrapper is None else files.of_entry(recipe.wrapper, values, at)
    return PackageSpec(
        binaries=tuple(binaries),
        wrapper=_input(wrapper[0], values, files) if wrapper else None,
        **_with_name(recipe.fields.get(values), name),
    )


def _binary_names(recipe: PackageRecipe, stage: str) -> list[str]:
    """Name the binaries by software, else by package or stage; the same in each line."""
    own = recipe.fields.fixed.get("name", stage)
    numbered = len(recipe.binaries) > 1
    return [
        str(binary.fields.fixed.get("software", "")).partition("/")[0]
        or (f"{own}-{number}" if numbered else own)
        for number, binary in enumerate(recipe.binaries, 1)
    ]


def _binary(
    recipe: BinaryRecipe,
    own: list[InputFile],
    values: LoopValues,
    inputs: list[list[InputFile]],
    files: InputFiles,
    name: str,
) -> BinarySpec:
    outputs = [
        OutputSpec(output_name(output.file.render(values)), **output.fields.get(values))
        for output in recipe.outputs
    ]
    binary_files = BinaryFiles(own, [output.file for output in outputs], inputs)
    check = None if recipe.check is None else recipe.check.text(values, binary_files)
    return BinarySpec(
        inputs=tuple([_input(file, values, files) for file in own]),
        outputs=tuple(outputs),
        check=check,
        **(recipe.run.render(values, binary_files) if recipe.run is not None else {}),
        **_with_name(recipe.fields.get(values), name),
    )


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
        files.match_of(file.entry, file.file, values),
        fields.get("writable", False),
    )
