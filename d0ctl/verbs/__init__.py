"""What people do to jobs: each verb as a plan that can be shown, and as one transaction.

Command line, dashboard and Python API all come through here.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from d0ctl.store import lifecycle
from d0ctl.store.connection import Store
from d0ctl.verbs.choice import LIVE
from d0ctl.verbs.hold import hold, plan_hold, plan_release, release
from d0ctl.verbs.kill import kill, plan_kill
from d0ctl.verbs.kill_line import kill_line, plan_kill_line
from d0ctl.verbs.plan import MOST_SHOWN, Change, Loser, Plan, Request
from d0ctl.verbs.remove import plan_remove, remove, remove_now

__all__ = ["LIVE", "MOST_SHOWN", "Change", "Loser", "Plan", "Request", "apply", "preview"]


@dataclass(frozen=True, slots=True)
class _Verb:
    plan: Callable[[Store, Request], Plan]
    act: Callable[[Store, Plan, str, str | None, float], None]


_VERBS: Mapping[str, _Verb] = {
    "hold": _Verb(plan_hold, hold),
    "release": _Verb(plan_release, release),
    "kill": _Verb(plan_kill, kill),
    "kill-line": _Verb(plan_kill_line, kill_line),
    "remove": _Verb(plan_remove, remove),
}


def preview(store: Store, request: Request) -> Plan:
    """Build a plan and change nothing. Raises NotFound, Refused or BadUsage as `apply` would."""
    with store.reading():
        return _VERBS[request.verb].plan(store, request)


def apply(
    store: Store, request: Request, *, actor: str, note: str | None, now: float | None = None
) -> Plan:
    """Plan again and do it, in one transaction, keeping who did it and why."""
    at = time.time() if now is None else now
    with store.writing():
        plan = _VERBS[request.verb].plan(store, request)
        _VERBS[request.verb].act(store, plan, actor, note, at)
        lifecycle.keep_action(
            store, verb=request.verb, target=str(request.target), actor=actor, note=note,
            packages=plan.packages, now=at,
        )  # fmt: skip
    if request.verb == "remove":
        remove_now(store, plan)
    return plan
