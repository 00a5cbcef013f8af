"""kill: end packages for good, running or not."""

from dataclasses import replace

from d0ctl.actions.plan import Plan, Request
from d0ctl.actions.selection import KILLABLE, of_packages
from d0ctl.store import lifecycle
from d0ctl.store.connection import Store
from d0ctl.store.nodes.site import default


def plan_kill(store: Store, request: Request) -> Plan:
    """The chosen packages that have not ended, and those being killed that could end sooner."""
    plan = of_packages(store, request, KILLABLE, "killed", hastens=not request.partial)
    return with_grace(store, plan)


def with_grace(store: Store, plan: Plan) -> Plan:
    """The same plan, with how long binaries have to end by themselves if their outputs are kept."""
    return replace(plan, grace=default(store, "partial-grace")) if plan.request.partial else plan


def kill(store: Store, plan: Plan, actor: str, note: str | None, now: float) -> None:
    """End the chosen packages."""
    lifecycle.kill(store, actor=actor, note=note or f"killed by {actor}", now=now,
                   partial=plan.request.partial)  # fmt: skip
