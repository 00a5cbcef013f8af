"""The only place that makes the lines of a job out of its recipes, anew each time."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from d0ctl.construct.inputs import Given, Origin, World, written_words
from d0ctl.construct.names import output_name
from d0ctl.construct.recipe import BinaryRecipe, InputRecipe, PackageRecipe, StageRecipe
from d0ctl.construct.script import Around, as_word
from d0ctl.construct.spec import (
    Acquire,
    BinarySpec,
    InputSpec,
    LineSpec,
    OutputSpec,
    PackageSpec,
)
from d0ctl.construct.template import Env

Files = list[tuple[InputRecipe, list[Given]]]


@dataclass(frozen=True, slots=True)
class StageLines:
    """The lines of one stage."""

    stage: StageRecipe
    world: World

    def __iter__(self) -> Iterator[LineSpec]:
        number = 0
        for line in self.stage.lines:
            numbered = [(str(place), package) for place, package in enumerate(line.packages, 1)]
            for at, env in enumerate(line.loop):
                number += 1
                packages = [_package(p, name, env, at, self.world) for name, p in numbered]
                fields = _with_name(line.fields.get(env), str(number))
                yield LineSpec(packages=tuple(packages), **fields)

    def __repr__(self) -> str:
        return f"<lines of stage {self.stage.name}>"


def _with_name(fields: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Give a record without a name the one it has by default."""
    return fields if "name" in fields else {"name": name, **fields}


def _package(recipe: PackageRecipe, name: str, env: Env, at: int, world: World) -> PackageSpec:
    chain: list[Files] = [
        [(one, world.given(one, env, at)) for one in binary.inputs] for binary in recipe.binaries
    ]
    written: Mapping[str, str] = {}
    if any(binary.run is not None and binary.run.names_files for binary in recipe.binaries):
        written = written_words(given for files in chain for _, given in files)
    binaries = [
        _binary(binary, str(place), env, files, written)
        for place, (binary, files) in enumerate(zip(recipe.binaries, chain, strict=True), 1)
    ]
    return PackageSpec(binaries=tuple(binaries), **_with_name(recipe.fields.get(env), name))


def _binary(
    recipe: BinaryRecipe, number: str, env: Env, files: Files, written: Mapping[str, str]
) -> BinarySpec:
    assert recipe.run is not None
    outputs = [
        OutputSpec(output_name(output.file.render(env)), **output.fields.get(env))
        for output in recipe.outputs
    ]
    around = Around(
        [as_word(one.lies) for _, given in files for one in given],
        [as_word(output.file) for output in outputs],
        written,
    )
    inputs = [_input(one, given, env) for one, found in files for given in found]
    return BinarySpec(
        inputs=tuple(inputs),
        outputs=tuple(outputs),
        **recipe.run.render(env, around),
        **_with_name(recipe.fields.get(env), recipe.run.first_word or number),
    )


def _input(recipe: InputRecipe, given: Given, env: Env) -> InputSpec:
    outside = given.origin >= Origin.FETCHED
    fields = {
        "acquire": Acquire.NONE if given.origin == Origin.PRESENT else Acquire.PRE_FETCH,
        "required": recipe.file is not None,
        **recipe.fields.get(env),
    }
    return InputSpec(given.file, not outside, **fields)
