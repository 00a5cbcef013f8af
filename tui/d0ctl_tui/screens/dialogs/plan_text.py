"""The text of the dialog before an action: the command that does the same, the plan, the keys."""

from collections.abc import Callable

from d0ctl.errors import D0Error
from d0ctl.show.drawing.spans import EMPTY, Line, foreign, wrap
from d0ctl_tui.run_action import Lines
from d0ctl_tui.widgets.choice_lines import Choice

READ_ONLY = "read-only: nothing is changed from here"
PLANNING: Lines = (("making the plan ...", "faint"),)
TO_PLAN: Lines = (("not planned yet", "faint"),)
ANY = "any other key closes it and acts"

CLOSING = frozenset({"escape", "q", "ctrl+c"})
"""The keys that close a box after the action; q would otherwise end the dashboard."""

Said = tuple[Lines, D0Error | None]
"""The sentences of an action, or why it is refused, and the error that says so."""

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


def sentences(do: Callable[[], Lines]) -> Said:
    """Return the sentences of an action, or why it is refused, and the error that says so."""
    try:
        return do(), None
    except D0Error as error:
        return refusal(error), error


def refusal(error: D0Error) -> Lines:
    """Return why an action is refused, and what to do instead."""
    hint = [(foreign(error.hint), "faint")] if error.hint else []
    return [(foreign(str(error)), "bad"), *hint]


def choices(
    state: str, undo: list[Choice], other: list[Choice], values: list[Choice], *, read_only: bool
) -> list[Choice]:
    """Return the keys that do something in a state, with those that are not always there."""
    match state:
        case "done":
            return [("enter", "close, as q does", "plain"), *undo, ("", ANY, "faint")]
        case "refused":
            return [*other, ("enter", "close", "plain"), *values]
        case "empty":
            return [("enter", "close", "plain"), *other, *values]
        case "wrong":
            return [("enter", "plan with it", "plain"), ("esc", "cancel", "plain")]
        case "changed":
            return [("enter", "plan with it", "plain"), ("esc", "cancel", "plain"), *other]
        case "planned" if read_only:
            return [("esc", "close", "plain"), ("", READ_ONLY, "warn"), *other, *values]
        case "planned":
            return [("enter", "do it", "plain"), ("esc", "cancel", "plain"), *other, *values]
    return [("esc", "close", "plain")]
