"""Logins of nodes to each other, for direct transfers between them."""

from d0ctl.store.connection import Row, Store

AGAIN_S = 3600.0
"""After this many seconds a failed login is tried again."""


def note(store: Store, node: int, callee: int, fault: str, *, now: float) -> None:
    """Record that a node could log in to another one, or why it could not."""
    store.change("note_login", node=node, callee=callee, fault=fault, now=now)


def to_try(store: Store, source: int, target: int, *, now: float) -> list[int]:
    """Return which of two nodes may log in to the other: one that could before is the first."""
    known = {row["node_id"]: row for row in store.rows("logins_between", one=source, other=target)}
    possible = [
        node for node in (source, target)
        if node not in known or not known[node]["fault"] or known[node]["tried"] < now - AGAIN_S
    ]  # fmt: skip
    return sorted(possible, key=lambda node: node not in known or bool(known[node]["fault"]))


def of_node(store: Store, node: int) -> list[Row]:
    """Return the known logins from and to a node."""
    return store.rows("logins_of", node=node)
