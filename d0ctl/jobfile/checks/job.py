"""The only place that checks a job as a whole: every file of every package of every line."""

from array import array
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import chain

from d0ctl.jobfile.checks.cycles import Edges
from d0ctl.jobfile.checks.outside_inputs import Outside
from d0ctl.jobfile.checks.package import Plan, outputs_of
from d0ctl.jobfile.language.field_types import WrongError
from d0ctl.jobfile.language.file_names import input_name, is_pattern, output_name
from d0ctl.jobfile.language.template import Env
from d0ctl.jobfile.recipe import (
    BinaryRecipe,
    InputRecipe,
    JobRecipe,
    LineRecipe,
    OutputRecipe,
    PackageRecipe,
    StageRecipe,
)
from d0ctl.jobfile.sections.inputs import Given, Origin, Surroundings, World, judge_bases
from d0ctl.jobfile.sections.late_outputs import judge_early, judge_pattern
from d0ctl.jobfile.sections.loops import MOST_VALUES, too_far
from d0ctl.jobfile.site_names import KnownNames
from d0ctl.jobfile.yaml.faults import Faults, Place, did_you_mean, shown

MOST_SHARED = 2_000_000
"""How many files are compared between the lines of a stage."""

MOST_INPUTS = 30_000_000
"""How many inputs a job's `from:` may add up to."""


@dataclass(slots=True)
class Stretch:
    """The packages that one line recipe makes: where it stands, and its first numbers, from 0."""

    stage: StageRecipe
    line: LineRecipe
    stage_number: int
    first_line: int
    first_package: int


class Check:
    """Goes over a job three times: outputs, then inputs that are named, then those of stages."""

    def __init__(self, job: JobRecipe, name: str, world: World, known: KnownNames, faults: Faults):
        self.world = world
        self.packages = 0
        self._job, self._name, self._faults = job, name, faults
        self._stretches: list[Stretch] = []
        self._names: dict[str, int] = {}
        self._makers = array("I")
        self._ranges: dict[str, tuple[int, int]] = {}
        self._edges = Edges()
        self._outside = Outside(name, self._names, world, known, faults)
        self._inputs = 0
        self._patterns: dict[tuple[int, str], str] = {}

    def run(self) -> None:
        """Note every fault that shows in the expanded job."""
        self._lay_out()
        if self.packages > MOST_VALUES:
            told = f"{self.packages:,} packages are more than a job may have ({MOST_VALUES:,})"
            self._faults.add(self._stretches[-1].line.place, told)
            return
        self._outputs()
        self._inside = bytearray(len(self._names))
        for stretch in self._stretches:
            self._named_inputs(stretch)
        self._open_outputs()
        for stretch in self._stretches:
            if any(package.takes_stages for package in stretch.line.packages):
                self._stage_inputs(stretch)
            judge_early(stretch.line, self._faults)
        self._circles()

    def _lay_out(self) -> None:
        """Give every line recipe the numbers of its packages."""
        for number, stage in enumerate(self._job.stages, 1):
            lines = 0
            for line in stage.lines:
                self._stretches.append(Stretch(stage, line, number, lines, self.packages))
                lines += line.loop.size
                self.packages += line.loop.size * len(line.packages)
                self._outside.sure = self._outside.sure and line.loop.size > 0

    def _outputs(self) -> None:
        """Note who makes which file, and the files that two would make."""
        for stage in self._job.stages:
            begin = len(self._names)
            for stretch in self._stretches:
                if stretch.stage is stage:
                    self._outputs_of(stretch)
            self._ranges[stage.name] = begin, len(self._names)

    def _outputs_of(self, stretch: Stretch) -> None:
        number = stretch.first_package
        recipes = [outputs_of(package) for package in stretch.line.packages]
        for outputs in recipes:
            self._outside.sure = self._outside.sure and not any(
                output.file.broken for output in outputs
            )
        names, makers = self._names, self._makers
        for env in stretch.line.loop:
            for outputs in recipes:
                for output in outputs:
                    name = self._output(output, env)
                    if name is None:
                        continue
                    if names.setdefault(name, len(makers)) != len(makers):
                        self._twice(output, name, number)
                    else:
                        makers.append(number)
                number += 1

    def _output(self, output: OutputRecipe, env: Env) -> str | None:
        if output.file.broken:
            return None
        try:
            name = output_name(output.file.render(env))
            if output.fields.fixed.get("late") and is_pattern(name):
                judge_pattern(name, output.fields.fixed)
                self.world.late.add(name)
            return name
        except WrongError as error:
            self._alike(output.place, "output", str(error))
            return None

    def _twice(self, output: OutputRecipe, name: str, number: int) -> None:
        def message() -> str:
            maker = self._makers[self._names[name]]
            if maker == number:
                return f"package `{self._path(number)}` makes {shown(name)} twice"
            both = f"`{self._path(maker)}` and `{self._path(number)}`"
            return f"packages {both} both make {shown(name)}"

        self._faults.alike(output.place, "twice", message)

    def _alike(self, place: Place, kind: str, message: str) -> None:
        self._faults.alike(place, kind, lambda: message)

    def _named_inputs(self, stretch: Stretch) -> None:
        """Find the origin of every input that is named, and judge packages that have no others."""
        line, number = stretch.line, stretch.first_package
        varying = bool(line.fields.varying)
        span = self._ranges[stretch.stage.name]
        plans = [Plan.of(package) for package in line.packages]
        for at, env in enumerate(line.loop):
            if varying:
                line.fields.check(env, self._faults)
            for plan in plans:
                look = plan.look
                for binary, recipe in plan.named:
                    origin = self._origin(plan, binary, recipe, env, number, span)
                    recipe.origins.append(origin)
                    look = look or origin != Origin.MADE
                if look and not plan.takes_stages:
                    self._look(plan, env, at, stretch)
                number += 1

    def _origin(
        self,
        plan: Plan,
        binary: BinaryRecipe,
        recipe: InputRecipe,
        env: Env,
        number: int,
        span: tuple[int, int],
    ) -> int:
        """Tell where a named input comes from, and note its maker."""
        assert recipe.file is not None
        if recipe.file.broken:
            return Origin.WRONG
        text = recipe.file.render(env)
        try:
            name = input_name(text)
        except WrongError as error:
            self._alike(recipe.place, "input", str(error))
            return Origin.WRONG
        made = self._names.get(name)
        if made is None:
            return self._outside.origin(recipe, name, env)
        if span[0] <= made < span[1]:
            self._inside[made] = 1
        maker = self._makers[made]
        if maker != number:
            self._edges.add(maker, number)
            return Origin.FAR if "/" in name else Origin.MADE
        for earlier in plan.package.binaries:
            if earlier is binary:
                break
            if any(self._output(output, env) == name for output in earlier.outputs):
                return self._own(recipe, name)
        message = f"{shown(name)} is read before its own package makes it"
        self._alike(recipe.place, "own", message)
        return Origin.WRONG

    def _own(self, recipe: InputRecipe, name: str) -> int:
        """Judge what an earlier binary of the same package makes."""
        if name not in self.world.late:
            return Origin.OWN
        message = (
            f"late output {shown(name)} can't be named in its own package: its files are there"
        )
        self._alike(recipe.place, "own", message)
        return Origin.WRONG

    def _look(self, plan: Plan, env: Env, at: int, stretch: Stretch) -> list[list[Given]]:
        """Judge what the loop values make of one package; return its inputs."""
        for fields in plan.varying:
            fields.check(env, self._faults)
        for binary in plan.package.binaries:
            for recipe in binary.inputs:
                self._judge_match(recipe, env, at)
                if recipe.glob is not None or recipe.match is not None:
                    self._shared(recipe, env, at, stretch)
        given = [self.world.files(binary, env, at) for binary in plan.package.binaries]
        outputs = [output.file.render(env) for output in plan.outputs]
        try:
            wrapper = plan.package.wrapper
            judge_bases(
                [*given, self.world.given(wrapper, env, at) if wrapper is not None else []], outputs
            )
        except WrongError as error:
            self._alike(plan.package.place, "bases", str(error))
        if plan.guarded:
            self._quotes(plan.package, given, env)
        return given

    def _quotes(self, package: PackageRecipe, given: list[list[Given]], env: Env) -> None:
        """Judge the values that stand inside quotes."""
        for binary, files in zip(package.binaries, given, strict=True):
            outputs = [output.file.render(env) for output in binary.outputs]
            for run in binary.texts:
                run.check(env, Surroundings(files, outputs, given), self._faults)

    def _judge_match(self, recipe: InputRecipe, env: Env, at: int) -> None:
        """Note an entry that takes the outputs of a stage or globs, and finds nothing."""
        is_found = recipe.file is not None or bool(self.world.given(recipe, env, at))
        if self.world.unfit is not None:
            self._alike(recipe.place, "glob", self.world.unfit)
            self.world.unfit = None
        elif is_found:
            return
        elif recipe.glob is not None and self.world.too_far:
            self._alike(recipe.place, "glob", too_far(*self.world.too_far))
        elif recipe.glob is not None:
            pattern = recipe.glob.render(env)
            self._alike(recipe.place, "glob", f"no file matches {shown(pattern)}")
        elif recipe.stage in self.world.leaves and self._outside.sure:
            told = f"stage {shown(recipe.stage)} leaves no output"
            if recipe.match is not None:
                pattern = recipe.match.render(env)
                told = f"no output of stage {shown(recipe.stage)} matches {shown(pattern)}"
            self._alike(recipe.place, "from", told)

    def _shared(self, recipe: InputRecipe, env: Env, at: int, stretch: Stretch) -> None:
        """Warn of a file that two lines of a stage take by different patterns."""
        template = recipe.match if recipe.match is not None else recipe.glob
        assert template is not None
        pattern = template.render(env)
        for one in self.world.given(recipe, env, at)[: MOST_SHARED - len(self._patterns)]:
            key = stretch.stage_number, one.file
            first = self._patterns.setdefault(key, pattern)
            if first != pattern and one.file not in self.world.late:
                lines = f"lines of stage {shown(stretch.stage.name)}"
                told = (
                    f"file {shown(one.file)} goes into several {lines}: "
                    f"{shown(first)} and {shown(pattern)} both match it"
                )
                self._faults.warnings.alike(recipe.place, "shared", partial(str, told))

    def _open_outputs(self) -> None:
        """Collect the outputs that `from:` takes: those that no package of the stage consumes."""
        names: list[str] = []
        for stretch in self._stretches:
            for binary, recipe in _stage_recipes(stretch.line):
                del binary
                stage = recipe.stage or ""
                if stage == stretch.stage.name:
                    message = f"stage {shown(stage)} can't take its inputs from itself"
                    self._faults.add(recipe.place, message)
                    recipe.stage = ""
                elif stage not in self._ranges:
                    hint = did_you_mean(stage, self._ranges)
                    self._faults.add(recipe.place, f"there is no stage {shown(stage)}{hint}")
                elif stage not in self.world.leaves:
                    names = names or list(self._names)
                    begin, end = self._ranges[stage]
                    open_ones = [names[i] for i in range(begin, end) if not self._inside[i]]
                    self.world.leaves[stage] = open_ones

    def _stage_inputs(self, stretch: Stretch) -> None:
        """Judge the packages that take the outputs of a stage, and note their makers."""
        number = stretch.first_package
        plans = [Plan.of(package) for package in stretch.line.packages]
        for at, env in enumerate(stretch.line.loop):
            for plan in plans:
                if plan.takes_stages:
                    for one in chain.from_iterable(self._look(plan, env, at, stretch)):
                        if one.written is None:
                            self._edges.add(self._makers[self._names[one.file]], number)
                            self._inputs += 1
                if self._inputs > MOST_INPUTS:
                    told = f"more than {MOST_INPUTS:,} inputs come by `from`"
                    self._faults.add(stretch.line.place, told)
                    return
                number += 1

    def _circles(self) -> None:
        """Note packages that wait for each other."""
        chained = bytearray(self.packages)
        for stretch in self._stretches:
            each = len(stretch.line.packages)
            if each > 1:
                size = stretch.line.loop.size
                last = stretch.first_package + each * size
                chained[stretch.first_package : last] = (b"\0" + b"\1" * (each - 1)) * size
        for circle in self._edges.circles(self.packages, chained):
            told = ", ".join(f"`{self._path(number)}`" for number in sorted(circle)[:10])
            more = f" and {len(circle) - 10:,} more" if len(circle) > 10 else ""
            _, package, _ = self._locate(min(circle))
            message = f"packages {told}{more} wait for each other in a circle"
            self._alike(package.place, "circle", message)

    def _locate(self, number: int) -> tuple[Stretch, PackageRecipe, tuple[int, int]]:
        """Return the recipe of a package, and its line and place in the line, from 1."""
        firsts = [stretch.first_package for stretch in self._stretches]
        stretch = self._stretches[bisect_right(firsts, number) - 1]
        packages = stretch.line.packages
        line, package = divmod(number - stretch.first_package, len(packages))
        return stretch, packages[package], (stretch.first_line + line + 1, package + 1)

    def _path(self, number: int) -> str:
        stretch, _, (line, package) = self._locate(number)
        return f"{self._name}/{stretch.stage_number}/{line}/{package}"


def _stage_recipes(line: LineRecipe) -> Iterator[tuple[BinaryRecipe, InputRecipe]]:
    for package in line.packages:
        for binary in package.binaries:
            for recipe in binary.inputs:
                if recipe.stage is not None:
                    yield binary, recipe
