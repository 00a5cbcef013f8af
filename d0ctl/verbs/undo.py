"""The only place that knows which command takes back what a verb did."""

import shlex

from d0ctl.select import Selector
from d0ctl.store.connection import Store
from d0ctl.store.look import browse
from d0ctl.verbs.plan import Plan, Request


def take_back(store: Store, plan: Plan) -> str | None:
    """The command that takes back what the plan does; None where the world does not allow it.

    It is asked before the plan is carried out: a priority is forgotten afterwards.
    """
    request = plan.request
    match request.verb:
        case "hold":
            return _typed("release", _in_state(request, plan, "held"))
        case "release" | "pause" | "resume":
            other = {"release": "hold", "pause": "resume", "resume": "pause"}[request.verb]
            return _typed(other, _path(request.target))
        case "kill" | "finish":
            return _typed("retry", _in_state(request, plan, "canceled", always=bool(plan.jobs)))
        case "kill-line" if not request.drop_outputs:
            return _typed("retry", f"{_path(request.target)}:canceled,failed")
        case "kill-line":
            return _typed("restore-line", _path(request.target))
        case "restore-line":
            return _typed("kill-line", _path(request.target)) + " --drop-outputs"
        case "priority":
            return _former_priority(store, plan)
    return None


def _former_priority(store: Store, plan: Plan) -> str | None:
    former = {browse.job(store, name).priority for name in plan.jobs}
    if len(former) > 1:
        return None
    return f"{_typed('priority', _path(plan.request.target))} {former.pop()}"


def _typed(verb: str, target: str) -> str:
    return f"d0ctl {verb} {shlex.quote(target)}"


def _path(target: Selector) -> str:
    return str(target).partition(":")[0]


def _in_state(request: Request, plan: Plan, state: str, *, always: bool = False) -> str:
    """The same packages by the state they are in afterwards, where they are several."""
    target = request.target
    one = target.is_one and (target.level == "package" or plan.by_flag)
    return _path(target) if one and not always else f"{_path(target)}:{state}"
