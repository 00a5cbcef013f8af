"""The only place that judges what is known only later: late outputs, and lists that grow."""

from collections.abc import Iterator, Mapping
from typing import Any

from d0ctl.jobfile.input_files import InputFiles, Origin
from d0ctl.jobfile.language.field_types import WrongError
from d0ctl.jobfile.language.script import Hole
from d0ctl.jobfile.language.values import Fields
from d0ctl.jobfile.recipe import BinaryRecipe, LineRecipe
from d0ctl.jobfile.sections.level import Level
from d0ctl.jobfile.yaml.faults import Faults, shown


def judge_late(level: Level, fields: Fields) -> None:
    """Note keys of an output that do not go together with what is known of its name."""
    if "late" in fields.varying:
        level.reading.fault(level.place("late"), "`late` is the same for each line of a loop")
    if not fields.fixed.get("late") and "min-count" in level:
        level.reading.fault(level.place("min-count"), "`min-count` goes with `late: yes`")


def judge_pattern(name: str, fields: Mapping[str, Any]) -> None:
    """Raise WrongError for a late output that can't be one."""
    if "**" in name:
        raise WrongError(f"late output {shown(name)}: `**` is not known here, only `*`")
    for key in ("checksum", "locator"):
        if key in fields:
            told = f"stands for several files, so it has no `{key}`"
            raise WrongError(f"late output {shown(name)} {told}")


def judge_early(line: LineRecipe, files: InputFiles, faults: Faults) -> None:
    """Note where the first package of a line that starts early names its inputs one by one.

    They are not known when it starts. What an earlier binary makes, or what lies outside, is.
    """
    if not (line.fields.fixed.get("early_start") or "early_start" in line.fields.varying):
        return
    wrapper = line.packages[0].wrapper if line.packages else None
    if wrapper is not None and Origin.MADE in files.origins[wrapper]:
        told = "the startup script of a package that starts early has to be there at its start"
        faults.add(wrapper.place, told)
    for binary in line.packages[0].binaries if line.packages else ():
        if any(files.comes_from_packages(recipe) for recipe in binary.inputs):
            for hole in _inputs_in(binary):
                told = "a package that starts early reads its inputs from a list as they come"
                faults.add(hole.place, f"`{hole.mark.text}` can't stand here: {told}, "
                           "`{inputs.list}`")  # fmt: skip


def _inputs_in(binary: BinaryRecipe) -> Iterator[Hole]:
    for text in binary.texts:
        yield from (hole for hole in text.named if hole.is_inputs)
