"""Failed packages by a common property: reason, node, software, input."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from msgspec import Struct, field

from d0ctl.store.views.activity import Failed

PROPERTIES: Mapping[str, Callable[[Failed], str | None]] = {
    "reason": lambda failed: failed.reason,
    "node": lambda failed: failed.node,
    "software": lambda failed: failed.software or failed.name,
    "input": lambda failed: failed.input,
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
    "number": (lambda group: len(group.ids) - group.acknowledged, True),
    "name": (lambda group: group.name, False),
    "last": (lambda group: group.last, True),
    "nodes": (lambda group: len(group.nodes), True),
}
"""What groups can be sorted by, and whether the largest comes first; the first is usual."""


def clusters(
    failed: Iterable[Failed], by: str, order: str = "number", *, reverse: bool = False
) -> list[Cluster]:
    """Return the groups in an order: the most failures that are not acknowledged first."""
    read = PROPERTIES[by]
    found: dict[str, Cluster] = {}
    for failure in failed:
        name = read(failure) or "unknown"
        if name not in found:
            found[name] = Cluster(name)
        found[name].take(failure)
    key, largest_first = ORDERS[order]
    by_name = sorted(found.values(), key=lambda group: group.name)
    return sorted(by_name, key=key, reverse=largest_first is not reverse)
