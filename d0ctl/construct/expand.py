"""The only place that makes the lines of a job out of its recipes, anew each time."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from d0ctl.construct.inputs import Given, Origin, World
from d0ctl.construct.names import output_name
from d0ctl.construct.recipe import (
    BinaryRecipe,
    InputRecipe,
    PackageRecipe,
    StageRecipe,
)
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


@dataclass(frozen=True, slots=True)
class StageLines:
    """The lines of one stage."""

    stage: StageRecipe
    world: World

    def __iter__(self) -> Iterator[LineSpec]:
        number = 0
        for line in self.stage.lines:
            for at, env in enumerate(line.loop):
                number += 1
                packages = tuple(
                    _package(package, str(place), env, at, self.world)
                    for place, package in enumerate(line.packages, 1)
                )
                fields: dict[str, Any] = {"name": str(number), **line.fields.get(env)}
                yield LineSpec(packages=packages, **fields)


def _package(recipe: PackageRecipe, name: str, env: Env, at: int, world: World) -> PackageSpec:
    written: dict[str, str] = {}
    chain = [[*_inputs(binary, env, at, world)] for binary in recipe.binaries]
    for given in chain:
        for _, one in given:
            if one.written is not None:
                written[one.written] = as_word(one.base)
    binaries = tuple(
        _binary(binary, str(place), env, given, written)
        for place, (binary, given) in enumerate(zip(recipe.binaries, chain, strict=True), 1)
    )
    fields: dict[str, Any] = {"name": name, **recipe.fields.get(env)}
    return PackageSpec(binaries=binaries, **fields)


def _inputs(
    binary: BinaryRecipe, env: Env, at: int, world: World
) -> Iterator[tuple[InputRecipe, Given]]:
    for recipe in binary.inputs:
        for given in world.given(recipe, env, at):
            yield recipe, given


def _binary(
    recipe: BinaryRecipe,
    number: str,
    env: Env,
    given: list[tuple[InputRecipe, Given]],
    written: dict[str, str],
) -> BinarySpec:
    outputs = tuple(
        OutputSpec(file=output_name(output.file.render(env)), **output.fields.get(env))
        for output in recipe.outputs
    )
    around = Around(
        [as_word(one.base) for _, one in given],
        [as_word(output.file) for output in outputs],
        written,
    )
    assert recipe.run is not None
    name = recipe.run.first_word() or number
    fields: dict[str, Any] = {"name": name, **recipe.fields.get(env)}
    fields |= recipe.run.render(env, around)
    inputs = tuple(_input(one, files, env) for one, files in given)
    return BinarySpec(inputs=inputs, outputs=outputs, **fields)


def _input(recipe: InputRecipe, given: Given, env: Env) -> InputSpec:
    outside = given.origin in (Origin.FETCHED, Origin.PRESENT)
    fields: dict[str, Any] = {
        "required": recipe.file is not None,
        "acquire": Acquire.NONE if given.origin is Origin.PRESENT else Acquire.PRE_FETCH,
        **recipe.fields.get(env),
    }
    return InputSpec(file=given.file, made=not outside, **fields)
