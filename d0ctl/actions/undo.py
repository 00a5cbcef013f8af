"""The only place that knows which command takes back what a verb did."""

import shlex
from collections.abc import Iterable

from d0ctl.actions.plan import Plan, Request
from d0ctl.select import Selector
from d0ctl.store.connection import Store
from d0ctl.store.views import browse


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
            return _typed(other, _paths(request.target))
        case "kill" | "finish":
            return _typed("retry", _in_state(request, plan, "canceled", always=bool(plan.jobs)))
        case "kill-line" if not request.drop_outputs:
            if not plan.packages:
                return None
            paths = _paths(request.target)
            return _typed("retry", [f"{path}:canceled,failed" for path in paths])
        case "kill-line":
            return _typed("restore-line", _paths(request.target))
        case "restore-line":
            return _typed("kill-line", _paths(request.target)) + " --drop-outputs"
        case "priority":
            return _former_priority(store, plan)
    return None


def _former_priority(store: Store, plan: Plan) -> str | None:
    former = {browse.job(store, name).priority for name in plan.jobs}
    if len(former) > 1:
        return None
    return f"{_typed('priority', _paths(plan.request.target))} {former.pop()}"


def _typed(verb: str, targets: Iterable[str]) -> str:
    return shlex.join(["d0ctl", verb, *targets])


def _paths(target: Selector) -> list[str]:
    return list(dict.fromkeys(part.path for part in target.parts))


def _in_state(request: Request, plan: Plan, state: str, *, always: bool = False) -> list[str]:
    """The same packages by the state they are in afterwards, where they are several."""
    target, paths = request.target, _paths(request.target)
    one = target.is_one and (target.level == "package" or plan.by_flag)
    return paths if one and not always else [f"{path}:{state}" for path in paths]
