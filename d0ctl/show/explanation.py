"""An explanation as lines: the answer, the facts behind it, and commands to type."""

from collections.abc import Collection

from d0ctl.show.drawing.sheet import Sheet
from d0ctl.show.lists import STDERR_LINES
from d0ctl.show.why.common import Explanation


def explain(
    sheet: Sheet, why: Explanation, *, stderr: bool = False, said: Collection[str] = ()
) -> None:
    """Add the explanation of a state, without what is `said` elsewhere on the card.

    The command that shows this card is left out, too.
    """
    sheet.head("why")
    answer(sheet, why, stderr=stderr, said={f"d0ctl status {why.path}", *said})


def answer(
    sheet: Sheet, why: Explanation, *, stderr: bool = True, said: Collection[str] = ()
) -> None:
    """Add the answer, the facts behind it, and commands to type, except those already `said`."""
    sheet.say(why.answer)
    for fact in why.facts:
        if fact in said or (sheet.archive and fact in why.retries):
            continue
        sheet.say(fact, "faint", indent="- ")
    if stderr and why.stderr:
        sheet.quote(why.stderr, STDERR_LINES)
    sheet.commands(command for command in why.commands if command not in said)
