"""What there is to check about a package recipe, found out once for all its lines."""

from dataclasses import dataclass

from d0ctl.jobfile.language.values import Fields
from d0ctl.jobfile.recipe import BinaryRecipe, InputRecipe, OutputRecipe, PackageRecipe


@dataclass(slots=True)
class Plan:
    """What there is to check about a package recipe, found out once.

    `look` tells that loop values can make it wrong in more than its files' names. A package
    with one input that a package makes needs no look: its outputs have other names.
    """

    package: PackageRecipe
    named: list[tuple[BinaryRecipe, InputRecipe]]
    outputs: list[OutputRecipe]
    varying: list[Fields]
    guarded: bool
    look: bool
    takes_stages: bool

    @classmethod
    def of(cls, package: PackageRecipe) -> "Plan":
        """Find out what there is to check."""
        inputs = [(binary, one) for binary in package.binaries for one in binary.inputs]
        if package.wrapper is not None:
            inputs += [(binary, package.wrapper) for binary in package.binaries[:1]]
        outputs = outputs_of(package)
        every = [package.fields, *(binary.fields for binary in package.binaries)]
        every += [one.fields for _, one in inputs] + [one.fields for one in outputs]
        varying = [fields for fields in every if fields.varying]
        guarded = any(run.guarded for binary in package.binaries for run in binary.texts)
        named = [pair for pair in inputs if pair[1].file is not None]
        look = bool(varying) or guarded or len(inputs) > 1 or len(inputs) > len(named)
        return cls(package, named, outputs, varying, guarded, look, package.takes_stages)


def outputs_of(package: PackageRecipe) -> list[OutputRecipe]:
    """Return the outputs of all binaries of a package."""
    return [output for binary in package.binaries for output in binary.outputs]
