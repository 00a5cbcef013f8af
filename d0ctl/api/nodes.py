"""Nodes: what they are, and what can be done with them."""

from collections.abc import Iterator
from os import PathLike
from typing import TYPE_CHECKING

from msgspec import Struct

from d0ctl.actions.action import NodeName
from d0ctl.api.verbs import NodeVerbs
from d0ctl.config import find_home
from d0ctl.select.node_names import matching
from d0ctl.show.drawing.remark_texts import drain_note
from d0ctl.store import opening
from d0ctl.store.nodes import registry

if TYPE_CHECKING:
    from d0ctl.nodes.node_check import Finding


class Node(Struct, frozen=True):
    """A node as it is now; `since` and `contact` are in seconds since 1970."""

    name: str
    destination: str
    cluster: str
    platform: str | None
    cpus: int
    memory: int | None
    speed: float
    state: str
    since: float | None
    contact: float | None
    trouble: str | None
    drained: bool
    drain_note: str | None
    assigned: int
    launched: int
    gpus: int


class Nodes(NodeVerbs):
    """Nodes by their names, which may have wildcards: `farm02`, `farm*`; without names, all."""

    def __init__(self, *names: str, home: str | PathLike[str] | None = None) -> None:
        self.names = names or ("*",)
        self.home = find_home(home)

    def __repr__(self) -> str:
        return f"Nodes({', '.join(map(repr, self.names))})"

    def __iter__(self) -> Iterator[Node]:
        """Go over the nodes. Raises NotFound for a name without wildcards that no node has."""
        with opening.reader(self.home) as store:
            rows = {row.name: row for row in registry.nodes(store)}
            names = self._matching(list(rows))
            for name in names:
                registry.named(store, name)
        for name in names:
            row = rows[name]
            yield Node(
                name, row.destination, row.cluster, row.platform, row.cpus,
                row.memory, row.speed, row.state, row.since, row.contact,
                row.last_error,
                bool(row.drained), drain_note(row.drain_note), row.assigned, row.launched,
                row.gpus,
            )  # fmt: skip

    def check(self) -> Iterator[tuple[str, "Finding"]]:
        """Check each node, and yield its name with each finding."""
        from d0ctl.actions.meeting import check
        from d0ctl.store.nodes.site import site_name

        with opening.reader(self.home) as store:
            site = site_name(store)
            names = self._matching([row.name for row in registry.nodes(store)])
            rows = [registry.named(store, name) for name in names]
        for row in rows:
            for finding in check(self.home, row, site):
                yield row.name, finding

    def _matching(self, known: list[str]) -> list[str]:
        """Return the selected names, including those that no node has yet; each once."""
        return matching(self.names, known)

    def _targets(self, keep_going: bool) -> list[NodeName]:
        known: list[str] = []
        if self.home.exists():
            with opening.reader(self.home) as store:
                known = [row.name for row in registry.nodes(store)]
        return [NodeName(node) for node in self._matching(known)]
