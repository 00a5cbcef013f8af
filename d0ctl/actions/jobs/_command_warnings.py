"""Warnings of likely mistakes in a command that is submitted without a job file."""

from collections.abc import Iterator

from d0ctl.jobfile.spec import JobSpec

OWN_OPTIONS = ("--array", "--each-line", "--stdin", "--memory", "--cpus", "--wall-time", "--hold",
               "--wait", "--dry-run")  # fmt: skip
"""Options that few programs have, and that many users write after a command."""


def of_a_command(spec: JobSpec) -> Iterator[str]:
    """Yield the warnings for a command only."""
    lines = iter(spec.stages[0].lines)
    first, second = next(lines).packages[0].binaries[0], next(lines, None)
    if not first.outputs:
        yield "only its log is kept: name the files that it makes with --output"
    if (
        second
        and (again := second.packages[0].binaries[0]).argv == first.argv
        and again.script == first.script
    ):
        yield "the command is the same each time: write {n} or {line} where it should differ"
    for word in (first.argv or ())[-2:]:
        if word in OWN_OPTIONS:
            yield f"`{word}` is a part of the command: options of d0ctl stand before `--`"
