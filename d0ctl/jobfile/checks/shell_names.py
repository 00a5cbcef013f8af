"""Names of a job file that `run` writes as variables of the shell, which has none of them."""

import re
from collections.abc import Collection, Iterator

from d0ctl.jobfile.language.placeholders import LoopValues
from d0ctl.jobfile.language.script import Script
from d0ctl.jobfile.recipe import JobRecipe, LineRecipe, PackageRecipe
from d0ctl.jobfile.yaml.document import Scalar
from d0ctl.jobfile.yaml.faults import Notes

_QUOTED = re.compile(r"'[^'\n]*'?")
"""A text in single quotes, such as a program of awk, in which the shell replaces nothing."""

_VARIABLE = re.compile(r"(?<!\\)\$(?:\{(?P<braced>\w+)\}|(?P<bare>\w+))")
_SET = re.compile(r"\b(\w+)\+?=|\bfor\s+(\w+)|\b(?:read|getopts)\b([^\n;|&]*)")
"""How a text gives variables a value."""


def advise(
    job: JobRecipe, line: LineRecipe, package: PackageRecipe, values: LoopValues, warnings: Notes
) -> None:
    """Warn of loop names and parameters that are written as variables of the shell."""
    if package.wrapper is not None:
        return  # it may set them
    environment = _environment(package, values)
    looped = {name for group in line.loop.groups for name in group.names}
    for binary in package.binaries:
        scalars = binary.run.scalars if isinstance(binary.run, Script) else ()
        for scalar in scalars:
            for at, written, name in _unset_variables(scalar):
                if name in environment or not (name in looped or name in job.parameters):
                    continue
                message = f"`{written}` is left to the shell, where it is empty; write `{{{name}}}`"
                warnings.add(scalar.position_at(written, at), message)


def _environment(package: PackageRecipe, values: LoopValues) -> Collection[str]:
    """Return the variables that a package sets."""
    fixed = package.fields.fixed.get("environment")
    varying = package.fields.varying.get("environment")
    return fixed or (varying.get(values) if varying is not None else ())


def _unset_variables(scalar: Scalar) -> Iterator[tuple[int, str, str]]:
    """Yield the first place of each variable to which the text gives no value."""
    text = _QUOTED.sub(lambda match: " " * len(match[0]), scalar.text[:1_000_000])
    targets = (part for match in _SET.finditer(text) for part in match.groups() if part)
    known = {name for part in targets for name in part.split()}
    for match in _VARIABLE.finditer(text):
        name = match["braced"] or match["bare"]
        if name not in known:
            known.add(name)
            yield match.start(), match[0], name
