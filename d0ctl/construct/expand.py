"""The only place that makes the lines of a job out of its recipes, anew each time."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from d0ctl.construct.inputs import Given, Origin, Surroundings, World
from d0ctl.construct.names import output_name
from d0ctl.construct.recipe import BinaryRecipe, PackageRecipe, StageRecipe
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
    given = [world.files(binary, env, at) for binary in recipe.binaries]
    binaries = [
        _binary(binary, place, env, given, world) for place, binary in enumerate(recipe.binaries)
    ]
    return PackageSpec(binaries=tuple(binaries), **_with_name(recipe.fields.get(env), name))


def _binary(
    recipe: BinaryRecipe, place: int, env: Env, given: list[list[Given]], world: World
) -> BinarySpec:
    assert recipe.run is not None
    outputs = [
        OutputSpec(output_name(output.file.render(env)), **output.fields.get(env))
        for output in recipe.outputs
    ]
    around = Surroundings(given[place], [output.file for output in outputs], given)
    name = recipe.run.first_word or str(place + 1)
    check = None if recipe.check is None else recipe.check.text(env, around)
    return BinarySpec(
        inputs=tuple([_input(one, env, world) for one in given[place]]),
        outputs=tuple(outputs),
        check=check,
        **recipe.run.render(env, around),
        **_with_name(recipe.fields.get(env), name),
    )


def _input(given: Given, env: Env, world: World) -> InputSpec:
    fields = given.entry.fields.get(env)
    here = given.origin == Origin.PRESENT
    return InputSpec(
        given.file,
        given.origin < Origin.FETCHED,
        fields.get("locator"),
        fields.get("size"),
        fields.get("checksum"),
        fields.get("acquire", Acquire.NONE if here else Acquire.PRE_FETCH),
        fields.get("disposition"),
        fields.get("required", given.entry.file is not None),
        None if given.entry.match is None else world.match_of(given.entry, given.file, env),
    )
