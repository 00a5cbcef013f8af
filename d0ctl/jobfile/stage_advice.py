"""Advice about the outputs of stages."""

from collections.abc import Iterable
from fnmatch import fnmatchcase
from itertools import chain, islice

from d0ctl.jobfile.recipe import StageRecipe
from d0ctl.jobfile.yaml.faults import shown


def instead_of_glob(pattern: str, stages: Iterable[StageRecipe]) -> str:
    """Advise `from` if a stage makes files that match, by the first line of each loop."""
    for stage in stages:
        for line in stage.lines:
            for values in islice(line.loop, 1):
                if any(fnmatchcase(name, pattern) for name in line.made(values)):
                    return (
                        f", but stage {shown(stage.name)} makes such files: write "
                        f"`from: {stage.name}, match: {pattern!r}` instead of `glob`"
                    )
    return ""


def nothing_to_read(stages: Iterable[StageRecipe], name: str) -> str:
    """Say that other stages can read no output of a stage, and why."""
    lines = [line for stage in stages if stage.name == name for line in stage.lines]
    made = [[output.file.scalar.text for binary in package.binaries for output in binary.outputs]
            for line in lines for package in line.packages]  # fmt: skip
    message = f"stage {shown(name)} has no output that other stages can read"
    names = list(chain.from_iterable(made))
    if not names:
        return f"{message}: its packages have no `outputs`"
    are = "is" if len(names) == 1 else "and others are"
    others = "" if all(made) else ", and its other packages have no `outputs`"
    return f"{message}: {shown(names[0])} {are} read in the stage itself{others}"
