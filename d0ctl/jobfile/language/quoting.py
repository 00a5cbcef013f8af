"""File names and values as words of a command line."""

import re
import shlex
from collections.abc import Collection, Sequence

from d0ctl.jobfile.spec import GROUP, INPUTS

UNSAFE = re.compile(r"[^A-Za-z0-9_@%+=:,./-]").search
"""Find a character that a shell may not take literally."""

is_plain = re.compile(r"[A-Za-z0-9_@%+=,.][A-Za-z0-9_@%+=,.-]*").fullmatch
"""Match a word that needs no quotes, and is neither an option nor a path."""


def as_word(name: str) -> str:
    """Return a file name for a command line, where a leading dash would make it an option."""
    return "./" + name if name.startswith("-") else name


def quote(value: str) -> str:
    """Quote a value for the shell if it needs quotes."""
    return value if value and not UNSAFE(value) else shlex.quote(value)


_GROUP = re.compile(f"{GROUP}([^{GROUP}]*){GROUP}")
_BETWEEN = "\x1f"


def group_of(names: Sequence[str]) -> str:
    """Return the stand-in for some of the inputs in a script or an argument until the launch."""
    return GROUP + _BETWEEN.join(names) + GROUP


def with_inputs(script: str, names: Sequence[str]) -> str:
    """Insert the local names of the inputs into a rendered script."""
    script = script.replace(INPUTS, " ".join([quote(as_word(name)) for name in names]))
    if GROUP not in script:
        return script
    remaining = set(names)
    return _GROUP.sub(lambda found: " ".join(map(quote, _remaining(found[1], remaining))), script)


def with_groups(script: str) -> str:
    """Insert all members of each group into a rendered script."""
    return _GROUP.sub(lambda found: " ".join(map(quote, members_of(found[0]))), script)


def as_written(text: str) -> str:
    """Return a rendered script or argument with `{inputs}`, as in the job file, and with groups."""
    return with_groups(text.replace(INPUTS, "{inputs}"))


def without_absent(text: str, names: Collection[str]) -> str:
    """Leave only inputs that remain in the groups of a rendered script or argument."""
    return _GROUP.sub(
        lambda found: group_of([name for name in found[1].split(_BETWEEN) if name in names]), text
    )


def members_of(group: str) -> list[str]:
    """Return the words of the remaining members of a group."""
    return [as_word(name) for name in group.strip(GROUP).split(_BETWEEN)]


def _remaining(members: str, names: Collection[str]) -> list[str]:
    """Return the members of a group that are still inputs, as words."""
    return [as_word(name) for name in members.split(_BETWEEN) if name in names]


def arguments_with_inputs(arguments: Sequence[str], names: Sequence[str]) -> list[str]:
    """Insert the local names of the inputs into the arguments of a program."""
    inputs = [as_word(name) for name in names]
    filled: list[str] = []
    for argument in arguments:
        if argument == INPUTS:
            filled += inputs
        elif argument.startswith(GROUP):
            filled += _remaining(argument.strip(GROUP), set(names))
        else:
            filled.append(argument)
    return filled
