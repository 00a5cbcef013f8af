"""Commands that undo what an action did."""

import shlex
from collections.abc import Iterable

from d0ctl.actions.action import Plan
from d0ctl.select import MOST_NAMED, WILD, Selector
from d0ctl.units import count

MOST = 20
"""How many selectors of the command that undoes an action are printed."""


def command(verb: str, targets: Iterable[str], *more: str) -> str:
    """Return a command line for targets."""
    return shlex.join(["d0ctl", *verb.split(), *targets, *more])


def verb(command: str | None) -> str:
    """Return the action of such a command line; empty if there is none."""
    return shlex.split(command)[1] if command else ""


def paths(target: Selector) -> list[str]:
    """Return the paths of a selection, without states."""
    return list(dict.fromkeys(part.path for part in target.parts))


def in_state(plan: Plan, state: str, *, always: bool = False) -> list[str]:
    """Return the packages of a plan by their state afterwards, if there are several states."""
    target = plan.request.target
    is_one = target.is_one and (target.level == "package" or bool(plan.jobs))
    if is_one and not always:
        return paths(target)
    return [f"{path}:{state}" for path in paths(target)]


def sentence(plan: Plan) -> str:
    """Return the line that names the command that undoes an action; empty if nothing does."""
    target = plan.request.target
    if not plan.undo:
        return ""
    if not isinstance(target, Selector) or len(target.parts) <= MOST:
        return f"to undo: {plan.undo}"
    begin = shlex.join(shlex.split(plan.undo)[: 2 + MOST_NAMED])
    job = next((part.job for part in target.parts if not WILD & set(part.job)), "JOB")
    return (f"to undo: {begin} ... ({count(len(target.parts), 'selector')}): the whole command "
            f"is `undo` of the first of `actions` in `d0ctl history {job} --json`")  # fmt: skip
