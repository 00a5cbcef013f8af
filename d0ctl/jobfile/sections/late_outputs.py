"""Checks of files that become known later: late outputs, and inputs of an early start."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from d0ctl.jobfile.input_files import InputFiles, Origin
from d0ctl.jobfile.language.field_types import BadValueError
from d0ctl.jobfile.language.placeholders import LoopGroup
from d0ctl.jobfile.language.script import Insertion
from d0ctl.jobfile.language.values import Fields
from d0ctl.jobfile.recipe import BinaryRecipe, LineRecipe, StageRecipe
from d0ctl.jobfile.sections.level import Level
from d0ctl.jobfile.yaml.faults import Faults, shown


def check_late_keys(level: Level, fields: Fields) -> None:
    """Record faults for keys of an output that contradict `late`."""
    if "late" in fields.varying:
        level.reading.fault(
            level.position("late"), "`late` must be the same for each line of a loop"
        )
    if not fields.fixed.get("late") and "min-count" in level:
        level.reading.fault(level.position("min-count"), "`min-count` needs `late: yes`")


def check_late_pattern(name: str, fields: Mapping[str, Any]) -> None:
    """Raise BadValueError for a pattern that can't be a late output."""
    if "**" in name:
        raise BadValueError(f"late output {shown(name)}: `**` is not supported, use `*`")
    for key in ("checksum", "locator"):
        if key in fields:
            message = f"stands for several files, so it can't have a `{key}`"
            raise BadValueError(f"late output {shown(name)} {message}")


def check_early_start(
    line: LineRecipe, stage: StageRecipe, files: InputFiles, faults: Faults
) -> None:
    """Record a fault if the first package of a line with early start names inputs of others.

    They are not known when it starts; files of an earlier binary or from outside are.
    """
    if not (line.fields.fixed.get("early_start") or "early_start" in line.fields.varying):
        return
    key = "final" if stage.final else "after"
    if stage.final or stage.after or "after" in (*line.fields.fixed, *line.fields.varying):
        faults.add(line.position, f"a line with `early-start` can't have `{key}`")
    wrapper = line.packages[0].wrapper if line.packages else None
    if wrapper is not None and Origin.MADE in files.origins[wrapper]:
        message = "a package that starts early can't take its startup script from another package"
        faults.add(wrapper.position, message)
    for binary in line.packages[0].binaries if line.packages else ():
        if binary.stdin is not None and files.comes_from_packages(binary.stdin):
            message = "a package that starts early can't get its stdin from another package"
            faults.add(binary.stdin.position, message)
        if any(files.comes_from_packages(recipe) for recipe in binary.inputs):
            for insertion in _inputs_in(binary):
                message = (
                    f"write `{{inputs.list}}` instead of `{insertion.written}`: a package that "
                    "starts early gets its inputs one by one"
                )
                faults.add(insertion.position, message)


def check_late_groups(line: LineRecipe, stage: StageRecipe, faults: Faults) -> None:
    """Record faults for keys that a line with groups of late outputs can't have."""
    names = [(name, loop.index) for name, loop in line.loop.names.items() if loop.is_late]
    if names and "early_start" in (*line.fields.fixed, *line.fields.varying):
        faults.add(line.position, "a line with groups of late outputs can't have `early-start`")
    if names and stage.final:
        faults.add(line.position, "a final stage can't have groups of late outputs")
    for name, index in names:
        values = next(iter(line.loop), None)
        if values is None:
            continue
        first, second = (
            (*values[:index], LoopGroup(number, (number,)), *values[index + 1 :]) for number in "12"
        )
        for output in (o for p in line.packages for b in p.binaries for o in b.outputs):
            file = output.file
            if not file.broken and file.render(first) == file.render(second):
                message = f"each group would make {shown(file.render(values))}"
                faults.add(output.position, f"{message}: write `{{{name}.index}}` in its name")


def _inputs_in(binary: BinaryRecipe) -> Iterator[Insertion]:
    for text in binary.texts:
        yield from (
            insertion
            for insertion in text.insertions
            if insertion.is_inputs or insertion.group is not None
        )


def late_stages(stages: Iterable[StageRecipe]) -> set[str]:
    """Return the stages whose lines depend on groups of late outputs, directly or indirectly."""
    late = {stage.name for stage in stages if any(line.loop.is_late for line in stage.lines)}
    reads = {stage.name: set(_stages_read(stage)) for stage in stages} if late else {}
    while more := {name for name, read in reads.items() if read & late} - late:
        late |= more
    return late


def _stages_read(stage: StageRecipe) -> Iterator[str]:
    """Iterate over the stages whose lines those of a stage name, by `from` or `after`."""
    for line in stage.lines:
        for binary in (binary for package in line.packages for binary in package.binaries):
            yield from (entry.stage for entry in binary.inputs if entry.stage is not None)
        yield from (name for name, _ in line.fields.fixed.get("after", ()))
