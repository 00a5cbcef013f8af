"""File names and values as words of a command line."""

import re
import shlex
from collections.abc import Sequence

from d0ctl.jobfile.spec import INPUTS

UNSAFE = re.compile(r"[^A-Za-z0-9_@%+=:,./-]").search
"""Finds what a shell may read as more than itself."""


def as_word(name: str) -> str:
    """Make a file's name fit for a command line, where a leading dash would be an option."""
    return "./" + name if name.startswith("-") else name


def quote(value: str) -> str:
    """Quote a value for the shell, where it needs quotes."""
    return value if value and not UNSAFE(value) else shlex.quote(value)


def with_inputs(script: str, names: Sequence[str]) -> str:
    """Put the inputs into a rendered script, as they lie for the binary."""
    return script.replace(INPUTS, " ".join([quote(as_word(name)) for name in names]))


def arguments_with_inputs(arguments: Sequence[str], names: Sequence[str]) -> list[str]:
    """Put the inputs into the arguments of a program that is executed without a shell."""
    words = [as_word(name) for name in names]
    return [word for one in arguments for word in (words if one == INPUTS else (one,))]
