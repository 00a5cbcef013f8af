"""The logs of an attempt, and their names for users."""

from collections.abc import Sequence

STREAMS = ("out", "err")

ROUND = ("before", "", "check", "after")
"""The scripts around a binary, in this order; the empty name is the binary itself."""


def of(numbers: Sequence[int], *, whole: bool) -> list[str]:
    """Return the logs that these binaries may have, in the order of their creation.

    The logs of the `whole` chain begin with the startup script and end with the hooks at its end.
    """
    stems = [f"{number}.{role}".rstrip(".") for number in numbers for role in ROUND]
    stems = ["startup", *stems, "end"] if whole else stems
    return [f"{stem}.{stream}" for stem in stems for stream in STREAMS]


def source(name: str) -> str:
    """Return the name of a log for users."""
    stem, _, stream = name.rpartition(".")
    number, _, role = stem.partition(".")
    if number == "startup":
        return f"startup script, std{stream}"
    if number == "end":
        return f"hook at the end, std{stream}"
    owner = {"": "", "check": "check of ", "before": "hook before ", "after": "hook after "}[role]
    return f"{owner}binary {number}, std{stream}"
