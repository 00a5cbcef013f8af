"""The text of the dialog before an action: the command that does the same, its plan or result."""

from collections.abc import Callable

from d0ctl.errors import D0Error
from d0ctl.show.drawing.spans import EMPTY, Line, foreign, wrap
from d0ctl_tui.run_action import Lines

LONGEST = 600
"""How many characters of a command are shown."""


def draw(command: str, plan: Lines, columns: int) -> list[Line]:
    """Return the command, and the lines of the plan with their indents."""
    lines: list[Line] = []
    for text, role in plan:
        indent = len(text) - len(text.lstrip())
        for piece in wrap(text.strip(), max(8, columns - 2 - indent)):
            lines.append(((" " * indent, ""), (piece, role)))
    return [*_command(foreign(command), columns), EMPTY, *lines, EMPTY]


def _command(typed: str, columns: int) -> list[Line]:
    """Return the command; of a long one, the beginning."""
    pieces = wrap(f"$ {typed[:LONGEST]}", columns - 2)
    lines: list[Line] = [((piece, "command"),) for piece in pieces]
    if len(typed) > LONGEST:
        rest = typed[LONGEST:].count(" ")
        lines.append(((f"and {rest:,} more words; `history` keeps them all", "faint"),))
    return lines


def sentences(do: Callable[[], Lines]) -> tuple[Lines, D0Error | None]:
    """Return the sentences of an action, or why it is refused, and the error that says so."""
    try:
        return do(), None
    except D0Error as error:
        return refusal(error), error


def refusal(error: D0Error) -> Lines:
    """Return why an action is refused, and what to do instead."""
    hint = [(foreign(error.hint), "faint")] if error.hint else []
    return [(foreign(str(error)), "bad"), *hint]
