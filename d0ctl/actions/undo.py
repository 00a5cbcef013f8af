"""Commands that undo what an action did."""

import shlex
from collections.abc import Iterable

from d0ctl.actions.action import Plan
from d0ctl.select import Selector


def command(verb: str, targets: Iterable[str], *more: str) -> str:
    """Return a command line for targets."""
    return shlex.join(["d0ctl", *verb.split(), *targets, *more])


def paths(target: Selector) -> list[str]:
    """Return the paths of a selection, without states."""
    return list(dict.fromkeys(part.path for part in target.parts))


def in_state(plan: Plan, state: str, *, always: bool = False) -> list[str]:
    """Return the packages of a plan by the state they are in afterwards, if they are several."""
    target = plan.request.target
    is_one = target.is_one and (target.level == "package" or bool(plan.jobs))
    if is_one and not always:
        return paths(target)
    return [f"{path}:{state}" for path in paths(target)]
