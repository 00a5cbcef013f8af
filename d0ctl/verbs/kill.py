"""kill: end packages for good, running or not."""

from d0ctl.store import lifecycle
from d0ctl.store.connection import Store
from d0ctl.verbs.choice import KILLABLE, of_packages
from d0ctl.verbs.plan import Plan, Request


def plan_kill(store: Store, request: Request) -> Plan:
    """All of the choice that has not ended."""
    return of_packages(store, request, KILLABLE, "killed")


def kill(store: Store, plan: Plan, actor: str, note: str | None, now: float) -> None:
    """End the chosen packages."""
    lifecycle.kill(store, actor=actor, note=note or f"killed by {actor}", now=now,
                   partial=plan.request.partial)  # fmt: skip
