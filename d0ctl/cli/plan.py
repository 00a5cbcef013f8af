"""How a verb shows its plan, asks, carries it out, and says what takes it back."""

from d0ctl import actions
from d0ctl.actions import Request
from d0ctl.cli import changing, session
from d0ctl.cli.plan_words import describe, report
from d0ctl.cli.terminal.output import emit, say
from d0ctl.store.nodes.standstill import any_driver
from d0ctl.units import clean

STARTING = ("release", "resume", "retry")
"""The verbs after which packages can start that could not before."""


def carry_out(request: Request, *, question: str = "") -> None:
    """Show the plan or apply it; where `question` is given, a person on a terminal is asked.

    It is refused where somebody has done something to the same packages since it began.
    """
    with session.writer() as store:
        seen = actions.latest(store)
        if changing.is_rehearsal():
            for line in describe(actions.preview(store, request)):
                emit(line)
            return
        if question and not changing.is_confirmed():
            changing.confirm(question, describe(actions.preview(store, request)))
        note = changing.reason()
        plan = actions.apply(store, request, actor=session.actor(), note=note, seen=seen)
        is_driven = request.verb not in STARTING or any_driver(store)
    for line in report(plan):
        emit(line)
    if plan.undo:
        say(clean(f"to take it back: {plan.undo}"))
    if plan.packages and not is_driven:
        say("no daemon is running, so nothing new starts: d0ctl daemon start")
