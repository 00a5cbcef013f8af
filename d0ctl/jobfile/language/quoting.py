"""File names and values as words of a command line."""

import re
import shlex
from collections.abc import Sequence

from d0ctl.jobfile.spec import INPUTS

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


def with_inputs(script: str, names: Sequence[str]) -> str:
    """Put the local names of the inputs into a rendered script."""
    return script.replace(INPUTS, " ".join([quote(as_word(name)) for name in names]))


def arguments_with_inputs(arguments: Sequence[str], names: Sequence[str]) -> list[str]:
    """Put the local names of the inputs into the arguments of a program."""
    words = [as_word(name) for name in names]
    return [
        word for argument in arguments for word in (words if argument == INPUTS else (argument,))
    ]
