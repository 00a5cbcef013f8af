"""The data around the tree, read at one moment: nodes, events, totals, needs of a person."""

from collections import Counter
from collections.abc import Mapping

from msgspec import Struct, field

from d0ctl.store.connection import Store
from d0ctl.store.history import notable
from d0ctl.store.history.notable import Notable
from d0ctl.store.nodes import registry
from d0ctl.store.tasks import views as tasks
from d0ctl.store.views import activity

MOST_EVENTS = 60
MOST_NOTABLE = 30


class NodeLine(Struct, frozen=True):
    """A node in the strip.

    `used` slots run packages; `ahead` counts packages that wait there for a slot, `staging` those
    that wait for their inputs.
    """

    name: str
    state: str
    used: int
    cpus: int
    ahead: int
    staging: int
    load: float | None
    contact: float | None
    note: str
    is_up: bool = True


class Snapshot(Struct, frozen=True):
    """A snapshot of the whole site."""

    at: float = 0.0
    nodes: tuple[NodeLine, ...] = ()
    events: tuple[activity.Event, ...] = ()
    notable: tuple[Notable, ...] = ()
    done: int = 0
    failed: int = 0
    slots: int = 0
    needing: Mapping[int, Mapping[str, int]] = field(default_factory=dict)

    tasks: Mapping[int, str] = field(default_factory=dict)
    """The statuses of tasks that need a person, by the ids of their jobs."""

    def needing_a_person(self, phase: str) -> int:
        """Return how many packages of all jobs are in a phase that needs a person."""
        return sum(counts.get(phase, 0) for counts in self.needing.values())

    @property
    def short_names(self) -> dict[str, str]:
        """The first part of each name of a node with a domain, if no other begins with it."""
        first = {node.name: node.name.partition(".")[0] for node in self.nodes}
        number = Counter(first.values())
        return {name: part for name, part in first.items()
                if part != name and number[part] == 1 and not part.isdigit()}  # fmt: skip

    @property
    def takers(self) -> list[NodeLine]:
        """The nodes that take packages."""
        return [node for node in self.nodes if node.state == "up"]


def read(store: Store, before: Snapshot, now: float, until: float | None = None) -> Snapshot:
    """Read the site, perhaps as of a moment; known events are not read again."""
    known = before.events[0].id if before.events else 0
    fresh = activity.events(store, known, MOST_EVENTS)
    done, failed = activity.ended(store)
    return Snapshot(
        now,
        tuple(nodes(store)),
        tuple([*fresh, *before.events][:MOST_EVENTS]),
        tuple(notable.latest(store, MOST_NOTABLE, until=now if until is None else until)),
        done,
        failed,
        activity.slots(store),
        activity.needing_a_person(store),
        tasks.needing_a_person(store),
    )


def nodes(store: Store) -> list[NodeLine]:
    """Return each node: how much is in use, its load, its last contact."""
    use = activity.node_use(store)
    found = []
    for row in registry.nodes(store):
        state = "drained" if row.drained and row.state != "down" else row.state
        note = row.last_error or (row.drain_note if row.drained else "") or ""
        load = row.load if row.state == "up" else None
        use_of_node = use.get(row.id, activity.NodeUse())
        found.append(
            NodeLine(
                row.name,
                state,
                use_of_node.used,
                row.cpus,
                use_of_node.ahead,
                use_of_node.staging,
                load,
                row.contact,
                note,
                row.state == "up",
            )
        )
    return found
