"""What must be checked in the packages of a recipe, determined once for all its lines."""

from msgspec import Struct

from d0ctl.jobfile.input_files import BinaryFiles, InputFile
from d0ctl.jobfile.language.placeholders import LoopValues
from d0ctl.jobfile.language.values import Fields
from d0ctl.jobfile.recipe import BinaryRecipe, InputRecipe, OutputRecipe, PackageRecipe
from d0ctl.jobfile.yaml.faults import Faults


class PackageCheck(Struct, frozen=True):
    """What must be checked in the packages of one recipe.

    `each_line` means that loop values may make more than file names wrong, so that the package of
    every line is checked. A package with one input that another package makes
    does not need it: its outputs have other names.
    """

    package: PackageRecipe
    named: list[tuple[BinaryRecipe, InputRecipe]]
    outputs: list[OutputRecipe]
    varying: list[Fields]
    guarded: bool
    each_line: bool
    takes_stages: bool

    @classmethod
    def of(cls, package: PackageRecipe) -> "PackageCheck":
        """Determine what must be checked."""
        inputs = [(binary, entry) for binary in package.binaries for entry in binary.inputs]
        if package.wrapper is not None:
            inputs += [(binary, package.wrapper) for binary in package.binaries[:1]]
        outputs = outputs_of(package)
        every = [package.fields, *(binary.fields for binary in package.binaries)]
        every += [entry.fields for _, entry in inputs] + [entry.fields for entry in outputs]
        varying = [fields for fields in every if fields.varying]
        guarded = any(run.guarded for binary in package.binaries for run in binary.texts)
        named = [pair for pair in inputs if pair[1].is_named]
        each_line = bool(varying) or guarded or len(inputs) > 1 or len(inputs) > len(named)
        return cls(package, named, outputs, varying, guarded, each_line, package.takes_stages)

    def quoted_values(
        self, inputs: list[list[InputFile]], values: LoopValues, faults: Faults
    ) -> None:
        """Check the values inside quotes of a script."""
        for binary, own in zip(self.package.binaries, inputs, strict=True):
            outputs = [output.file.render(values) for output in binary.outputs]
            for run in binary.texts:
                run.check(values, BinaryFiles(own, outputs, inputs), faults)


def outputs_of(package: PackageRecipe) -> list[OutputRecipe]:
    """Return the outputs of all binaries of a package."""
    return [output for binary in package.binaries for output in binary.outputs]
