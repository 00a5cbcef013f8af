"""The files of each `from:`: the outputs of a stage, of this job or of another."""

from collections.abc import Iterator, Sequence

from d0ctl.jobfile.checks.layout import PackageRange
from d0ctl.jobfile.checks.outputs import Outputs
from d0ctl.jobfile.input_files import StageOutputs
from d0ctl.jobfile.recipe import InputRecipe, LineRecipe
from d0ctl.jobfile.sections.other_files import of_stage
from d0ctl.jobfile.site_names import KnownNames, OtherInput
from d0ctl.jobfile.yaml.faults import Faults, did_you_mean, shown


class StageSources:
    """The files that each entry with `from:` takes."""

    def __init__(self, outputs: Outputs, known: KnownNames, faults: Faults) -> None:
        self._outputs, self._known, self._faults = outputs, known, faults
        self.found: dict[InputRecipe, StageOutputs] = {}

    def read(self, ranges: Sequence[PackageRange], consumed: bytearray) -> None:
        """Collect the files of each `from:`: the outputs that their own stage does not consume."""
        opened: dict[str, StageOutputs] = {}
        unread = self._outputs.without(consumed)
        for part in ranges:
            for recipe in _stage_inputs(part.line):
                stage = recipe.stage or ""
                if stage == part.stage.name:
                    message = f"stage {shown(stage)} can't take its inputs from itself"
                    self._faults.add(recipe.position, message)
                elif "/" in stage:
                    if stage not in opened or not opened[stage].names:
                        opened[stage] = self._other_stage(recipe)
                    self.found[recipe] = opened[stage]
                elif stage not in self._outputs.of_stage:
                    hint = did_you_mean(stage, self._outputs.of_stage)
                    self._faults.add(recipe.position, f"there is no stage {shown(stage)}{hint}")
                else:
                    if stage not in opened:
                        opened[stage] = StageOutputs(unread(stage), self._outputs.late)
                    self.found[recipe] = opened[stage]

    def others(self) -> set[str]:
        """Return the files of other jobs; an entry whose `match` varies counts as taking all."""
        files: set[str] = set()
        for recipe, source in self.found.items():
            if "/" in (recipe.stage or ""):
                pattern = recipe.match.constant if recipe.match is not None else None
                files.update(source.names if pattern is None else source.matching(pattern))
        return files

    def _other_stage(self, recipe: InputRecipe) -> StageOutputs:
        """Return the outputs of a stage of another job, `JOB/STAGE`."""
        job, _, stage = (recipe.stage or "").partition("/")
        match, is_varying = None, False
        if recipe.match is not None:
            match, is_varying = recipe.match.constant, recipe.match.constant is None
            match = recipe.match.scalar.text if match is None else match
        wanted = OtherInput(job, stage=stage, match=match, is_varying=is_varying)
        files = of_stage(wanted, recipe.position, self._known, self._faults)
        self._outputs.late.update(file.name for file in files if file.is_late)
        return StageOutputs([file.name for file in files], self._outputs.late)


def _stage_inputs(line: LineRecipe) -> Iterator[InputRecipe]:
    for package in line.packages:
        for binary in package.binaries:
            yield from (recipe for recipe in binary.inputs if recipe.stage is not None)
