"""Failed packages by a common property: reason, node, software, input."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from msgspec import Struct, field

from d0ctl.store.views.activity import Failed

PROPERTIES: Mapping[str, Callable[[Failed], str | None]] = {
    "reason": lambda one: one.reason,
    "node": lambda one: one.node,
    "software": lambda one: one.software or one.name,
    "input": lambda one: one.input,
}
"""The properties by which failures can be grouped, with functions that return them."""


class Cluster(Struct):
    """Failures that share a value of a property."""

    name: str
    ids: list[int] = field(default_factory=list)
    acknowledged: int = 0
    last: float = 0.0
    message: str = ""
    reasons: set[str] = field(default_factory=set)
    nodes: set[str] = field(default_factory=set)

    def take(self, failure: Failed) -> None:
        """Count a failure."""
        self.ids.append(failure.id)
        self.acknowledged += failure.acknowledged
        self.reasons.add(failure.reason or "unknown")
        self.nodes.add(failure.node or "no node")
        if failure.ended is not None and failure.ended >= self.last:
            self.last, self.message = failure.ended, failure.message or ""


ORDERS: Mapping[str, tuple[Callable[[Cluster], Any], bool]] = {
    "number": (lambda one: len(one.ids) - one.acknowledged, True),
    "name": (lambda one: one.name, False),
    "last": (lambda one: one.last, True),
    "nodes": (lambda one: len(one.nodes), True),
}
"""What groups can be sorted by, and whether the largest comes first; the first is usual."""


def clusters(
    failed: Iterable[Failed], by: str, order: str = "number", *, reverse: bool = False
) -> list[Cluster]:
    """Return the groups in an order: the most failures that are not acknowledged first."""
    read = PROPERTIES[by]
    found: dict[str, Cluster] = {}
    for one in failed:
        name = read(one) or "unknown"
        if name not in found:
            found[name] = Cluster(name)
        found[name].take(one)
    key, largest_first = ORDERS[order]
    by_name = sorted(found.values(), key=lambda one: one.name)
    return sorted(by_name, key=key, reverse=largest_first is not reverse)
