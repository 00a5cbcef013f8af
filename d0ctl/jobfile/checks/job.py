"""The check of a job as a whole: every file of every package of every line."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from itertools import chain, takewhile
from operator import is_

from msgspec import Struct

from d0ctl.jobfile.checks.extent import Inputs, is_too_large
from d0ctl.jobfile.checks.layout import Layout, PackageRange
from d0ctl.jobfile.checks.outputs import Outputs
from d0ctl.jobfile.checks.outside_inputs import OutsideInputs
from d0ctl.jobfile.checks.package import PackageCheck
from d0ctl.jobfile.checks.stage_sources import StageSources
from d0ctl.jobfile.checks.waits import Waits
from d0ctl.jobfile.input_files import BaseNames, InputFile, InputFiles, Origin, base_names
from d0ctl.jobfile.language.field_types import BadValueError
from d0ctl.jobfile.language.file_names import input_name
from d0ctl.jobfile.language.name_index import too_long
from d0ctl.jobfile.language.placeholders import LoopValues
from d0ctl.jobfile.local_files import Globs
from d0ctl.jobfile.order import Order
from d0ctl.jobfile.recipe import BinaryRecipe, InputRecipe, JobRecipe
from d0ctl.jobfile.sections.late_outputs import check_early_start, check_late_groups
from d0ctl.jobfile.site_names import KnownNames
from d0ctl.jobfile.stage_advice import instead_of_glob, nothing_to_read
from d0ctl.jobfile.yaml.faults import Faults, shown

MAX_SHARED = 2_000_000
"""How many files are compared between the lines of a stage."""


class Checked(Struct, frozen=True):
    """The results of the check of a job, which are needed beside the recipe to make its lines."""

    packages: int
    files: InputFiles
    order: Order
    outputs: Mapping[str, Sequence[str]]
    """The names of the outputs of each stage, in the order of its lines."""
    others: Collection[str]
    """The files of other jobs that it reads, as `JOB:NAME`."""


def check_job(
    job: JobRecipe, name: str, directory: str, known: KnownNames, faults: Faults
) -> Checked:
    """Expand a job and record every fault in it; the recipe is not changed."""
    check = _Check(job, name, directory, known, faults)
    check.run()
    others = check.outside.others | check.stages.others()
    made = check.outputs.by_stage()
    return Checked(check.layout.packages, check.files, check.order, made, others)


class _Check:
    """The passes over a job's packages.

    The first collects all outputs, as any package may read any of them. The second finds the
    maker of each named input; only then is it known which outputs their own stage
    consumes, so that the third can resolve each `from:`.
    """

    def __init__(
        self, job: JobRecipe, name: str, directory: str, known: KnownNames, faults: Faults
    ) -> None:
        self.layout, self.order = Layout(job, name), Order(job.stages)
        self._waits = Waits(self.layout, self.order, faults)
        self._job, self._faults = job, faults
        self.outputs = outputs = Outputs(self.layout, faults)
        self._origins: defaultdict[InputRecipe, bytearray] = defaultdict(bytearray)
        self.stages = stages = StageSources(outputs, known, faults)
        self._groups: defaultdict[InputRecipe, list[bytes]] = defaultdict(list)
        self.files = InputFiles(
            directory, Globs(directory), self._origins, stages.found, outputs.late, self._groups
        )
        self._outside_origins: dict[InputRecipe, Origin] = {}
        """The origins of inputs from outside that are the same for all lines."""
        self.outside = OutsideInputs(name, outputs, directory, known, faults)
        self._patterns_of = {
            file.name: pattern for pattern, files in known.late.items() for file in files
        }
        """The late output to which an existing file belongs."""
        self._consumed = bytearray()
        """Whether a package of its own stage reads an output."""
        self._inputs = Inputs(self.files, faults)
        self._patterns: dict[tuple[int, str], str] = {}
        """The first pattern by which a file went into a line of a stage, by its number."""
        self._named: list[Sequence[InputFile]] = []
        self._names = BaseNames({}, {})
        """The names of the inputs `_named`."""

    def run(self) -> None:
        """Record every fault in the expanded job."""
        ranges = self.layout.ranges
        if is_too_large(ranges, self._faults):
            return
        self.outputs.collect(self._job)
        self._consumed = bytearray(len(self.outputs.numbers))
        self._inputs.most += len(self.outputs.numbers)
        if self._inputs.count(ranges, of_stages=False):
            return
        for part in ranges:
            self._check_named_inputs(part)
        self.stages.read(ranges, self._consumed)
        if self._inputs.count(ranges, of_stages=True):
            return
        for part in ranges:
            if any(package.takes_stages for package in part.line.packages):
                self._check_stage_inputs(part)
            check_early_start(part.line, part.stage, self.files, self._faults)
            check_late_groups(part.line, part.stage, self._faults)
        self._waits.stages(self._job.stages)
        self._waits.cycles()

    def _check_named_inputs(self, part: PackageRange) -> None:
        """Find the origin of every named input, and check packages without others."""
        line, number = part.line, part.first_package
        varying = bool(line.fields.varying)
        is_ordered = "after" in line.fields.fixed or "after" in line.fields.varying
        own_stage = self.outputs.of_stage[part.stage.name]
        checks = [PackageCheck.of(package) for package in line.packages]
        for at, values in enumerate(line.loop):
            if varying:
                line.fields.check(values, self._faults)
            if is_ordered:
                self._waits.line(part, values, at, number)
            for check in checks:
                is_due = check.each_line
                for binary, recipe in check.named:
                    if recipe.group is not None:
                        names = values[recipe.group].members
                        find = partial(self._origin, check, binary, recipe, values, number,
                                       own_stage)  # fmt: skip
                        self._groups[recipe].append(bytes(map(find, names)))
                        is_due = True
                        continue
                    origin = self._origin(check, binary, recipe, values, number, own_stage)
                    self._origins[recipe].append(origin)
                    is_due = is_due or origin != Origin.MADE
                if is_due and not check.takes_stages:
                    self._check_package(check, values, at, part)
                number += 1
            if self._inputs.are_too_many:
                return

    def _origin(
        self,
        check: PackageCheck,
        binary: BinaryRecipe,
        recipe: InputRecipe,
        values: LoopValues,
        number: int,
        own_stage: range,
        member: str | None = None,
    ) -> Origin:
        """Return where a named input comes from, and record which package waits for its maker.

        `member` is its name if it is one of a group.
        """
        if recipe in self._outside_origins:
            return self._outside_origins[recipe]
        if recipe.file is not None and recipe.file.broken:
            return Origin.WRONG
        try:
            name = input_name(
                recipe.file.render(values) if recipe.file is not None else member or ""
            )
        except BadValueError as error:
            self._faults.add_similar(recipe.position, "input", str(error))
            return Origin.WRONG
        output = self._patterns_of.get(name, name)
        made = self.outputs.numbers.get(output)
        if made is None:
            origin = self.outside.origin(recipe, name, values, number)
            if recipe.is_constant and origin != Origin.WRONG:
                self._outside_origins[recipe] = origin
            return origin
        if made in own_stage:
            self._consumed[made] = 1
        if recipe is binary.stdin and name in self.outputs.late:
            message = f"`stdin` takes one file, and {shown(name)} is a late output"
            self._faults.add_similar(recipe.position, "stdin", message)
            return Origin.WRONG
        maker = self.outputs.maker(output)
        if maker != number:
            self._waits.add(maker, number)
            return Origin.FAR if "/" in name else Origin.MADE
        for earlier in check.package.binaries:
            if earlier is binary:
                break
            if any(self.outputs.name(output, values) == name for output in earlier.outputs):
                return self._own(recipe, name)
        message = f"{shown(name)} is read before its own package makes it"
        self._faults.add_similar(recipe.position, "own", message)
        return Origin.WRONG

    def _own(self, recipe: InputRecipe, name: str) -> Origin:
        """Check an input that an earlier binary of the same package makes."""
        if name not in self.outputs.late:
            return Origin.OWN
        message = (
            f"late output {shown(name)} can't be an input in its own package: its files are "
            "there already"
        )
        self._faults.add_similar(recipe.position, "own", message)
        return Origin.WRONG

    def _check_package(
        self, check: PackageCheck, values: LoopValues, at: int, part: PackageRange
    ) -> list[list[InputFile]]:
        """Check a package of one line; return the inputs of its binaries."""
        for fields in check.varying:
            fields.check(values, self._faults)
        for binary in check.package.binaries:
            for recipe in binary.inputs:
                if not recipe.is_named:
                    self._check_found(recipe, values, at, part)
                if recipe.glob is not None or recipe.match is not None:
                    self._check_shared(recipe, values, at, part)
        inputs = [self.files.of_binary(binary, values, at) for binary in check.package.binaries]
        wrapper = check.package.wrapper
        startup = () if wrapper is None else self.files.of_entry(wrapper, values, at)
        try:
            names = self._base_names([*inputs, startup])
            names.check(output.file.render(values) for output in check.outputs)
        except BadValueError as error:
            self._faults.add_similar(check.package.position, "bases", str(error))
        if check.guarded:
            check.quoted_values(inputs, values, self._faults)
        return inputs

    def _base_names(self, inputs: list[Sequence[InputFile]]) -> BaseNames:
        """Return the names of inputs; those of the previous package if its inputs are the same."""
        if len(inputs) != len(self._named) or not all(map(is_, inputs, self._named)):
            self._named, self._names = inputs, base_names(inputs)
        return self._names

    def _check_found(
        self, recipe: InputRecipe, values: LoopValues, at: int, part: PackageRange
    ) -> None:
        """Record a fault for an entry with outputs of a stage or a glob that matches nothing."""
        if recipe.glob is not None:
            pattern = recipe.glob.render(values)
            problem = self.files.globs.problem(pattern)
            if problem is not None:
                before = takewhile(lambda stage: stage is not part.stage, self._job.stages)
                advice = instead_of_glob(pattern, before)
                problem += advice if not self.files.globs.matching(pattern) else ""
                self._faults.add_similar(recipe.position, "glob", problem)
        elif recipe in self.stages.found and self.outputs.are_known:
            if self.files.of_entry(recipe, values, at):
                return
            if "/" in (recipe.stage or "") and not self.stages.found[recipe].names:
                return  # reported where it was resolved, or the site is not known
            message = nothing_to_read(self._job.stages, recipe.stage or "")
            if recipe.match is not None:
                pattern = recipe.match.render(values)
                message = f"no output of stage {shown(recipe.stage or '')} matches {shown(pattern)}"
                if self.stages.found[recipe].is_spent:
                    message = too_long(pattern)
            self._faults.add_similar(recipe.position, "from", message)

    def _check_shared(
        self, recipe: InputRecipe, values: LoopValues, at: int, part: PackageRange
    ) -> None:
        """Warn of a file that two lines of a stage take by different patterns."""
        template = recipe.match if recipe.match is not None else recipe.glob
        assert template is not None
        pattern, files = template.render(values), self.files.of_entry(recipe, values, at)
        if template.constant is None:
            self._inputs.add(recipe, len(files))
        for file in files[: MAX_SHARED - len(self._patterns)]:
            key = part.stage_number, file.file
            first = self._patterns.setdefault(key, pattern)
            if first != pattern and file.file not in self.outputs.late:
                lines = f"lines of stage {shown(part.stage.name)}"
                message = (
                    f"file {shown(file.file)} goes into several {lines}: "
                    f"{shown(first)} and {shown(pattern)} both match it"
                )
                self._faults.warnings.add_similar(recipe.position, "shared", message)

    def _check_stage_inputs(self, part: PackageRange) -> None:
        """Check the packages that take the outputs of a stage, and record their makers."""
        number = part.first_package
        checks = [PackageCheck.of(package) for package in part.line.packages]
        for at, values in enumerate(part.line.loop):
            for check in checks:
                if check.takes_stages:
                    for file in chain.from_iterable(self._check_package(check, values, at, part)):
                        if file.written is None and file.origin == Origin.MADE:
                            self._waits.add(self.outputs.maker(file.file), number)
                number += 1
            if self._inputs.are_too_many:
                return
