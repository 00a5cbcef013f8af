"""Actions on nodes, as a person takes them."""

from d0ctl.actions import Plan, apply, request
from d0ctl.actions.action import NodeName
from d0ctl.store import Store


def act(store: Store, verb: str, node: str, *, actor: str, note: str | None, now: float) -> Plan:
    """Carry out an action on a node."""
    return apply(store, request(verb, NodeName(node)), actor=actor, note=note, now=now)
