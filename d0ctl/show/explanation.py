"""An explanation as lines: the answer, the facts behind it, and commands to type."""

from d0ctl.show.drawing.sheet import Sheet
from d0ctl.show.lists import STDERR_LINES
from d0ctl.show.why.common import Explanation


def explain(sheet: Sheet, why: Explanation, *, stderr: bool = False) -> None:
    """Add the explanation of a state, without the command that shows this card."""
    sheet.head("why")
    answer(sheet, why, stderr=stderr, shown=f"d0ctl status {why.path}")


def answer(sheet: Sheet, why: Explanation, *, stderr: bool = True, shown: str = "") -> None:
    """Add the answer, the facts behind it, and commands to type, except the one `shown`."""
    sheet.say(why.answer)
    for fact in why.facts:
        if sheet.archive and "d0ctl retry" in fact:
            continue
        sheet.say(fact, "faint", indent="- ")
    if stderr and why.stderr:
        sheet.quote(why.stderr, STDERR_LINES)
    sheet.commands(command for command in why.commands if command != shown)
