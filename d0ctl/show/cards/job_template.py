"""Templates of job files: their list, and the card of one."""

from collections.abc import Iterable
from shlex import quote

from d0ctl.jobfile.job_templates import JobTemplate
from d0ctl.jobfile.sections.declared_parameters import Declared
from d0ctl.jobfile.yaml.faults import did_you_mean, shown
from d0ctl.show.drawing.sheet import Cell, Sheet

NO_VALUE = "needed"
"""Stands for the default of a parameter that has none."""


def cells(template: JobTemplate) -> list[Cell]:
    """Return the line of a template, in columns."""
    where = "" if template.is_built_in else str(template.path)
    return [(template.name, "strong"), template.declared.about, (where, "faint")]


def card(sheet: Sheet, template: JobTemplate) -> None:
    """Draw the purpose of a template, its parameters, and what to type."""
    sheet.add((template.name, "strong"), f"  {template.declared.about}")
    sheet.add((str(template.path), "faint"))
    if template.declared.parameters:
        sheet.head("parameters")
        sheet.table([
            [(parameter.name, "strong"), " | ".join(parameter.choices) or parameter.type,
             template.default(parameter.name) or NO_VALUE, parameter.help]
            for parameter in template.declared.parameters
        ])  # fmt: skip
    needed = [
        parameter.name
        for parameter in template.declared.parameters
        if not template.default(parameter.name)
    ]
    settings = "".join(f" --set {name}=..." for name in needed)
    sheet.head("use it")
    sheet.add((f"  $ d0ctl template new {quote(template.name)}{settings} -o job.yaml", "command"))


def written(path: str) -> list[str]:
    """Return what to type after a job file was written."""
    return [
        f"wrote {path}: edit it as you like, then",
        f"  d0ctl validate {quote(path)}",
        f"  d0ctl run {quote(path)}",
    ]


WHICH_PATTERN, WHICH_FILE, NO_ANSWER = "which pattern", "which file", "an answer is needed"


def choose(names: Iterable[str]) -> str:
    """Ask a program for a pattern."""
    return f"{WHICH_PATTERN}? {', '.join(names)}"


def question(text: str, default: str) -> str:
    """Return a question with its default."""
    return f"{text} [{default}]" if default else text


def value_of(parameter: Declared) -> str:
    """Return the question for a parameter."""
    return f"{parameter.name}, {parameter.help}" if parameter.help else parameter.name


def no_pattern(answer: str, names: Iterable[str]) -> str:
    """Say that a pattern does not exist."""
    return f"there is no pattern {shown(answer)}{did_you_mean(answer, names)}"


def exists(path: str) -> str:
    """Say that a file is not overwritten."""
    return f"the file {path} already exists"
