"""What is shown round the tree, read at one moment: nodes, events, totals, what wants a person."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from d0ctl.store.connection import Store
from d0ctl.store.look import pulse

MOST_EVENTS = 60


@dataclass(frozen=True, slots=True)
class NodeLine:
    """A node in the strip."""

    name: str
    state: str
    used: int
    cpus: int
    load: float | None
    contact: float | None
    note: str


@dataclass(frozen=True, slots=True)
class Beat:
    """One look at the whole site."""

    at: float = 0.0
    nodes: tuple[NodeLine, ...] = ()
    events: tuple[pulse.Event, ...] = ()
    done: int = 0
    failed: int = 0
    slots: int = 0
    troubled: Mapping[int, Mapping[str, int]] = field(default_factory=dict)

    def trouble(self, phase: str) -> int:
        """How many packages of all jobs are in a phase that wants a person."""
        return sum(counts.get(phase, 0) for counts in self.troubled.values())

    @property
    def used(self) -> int:
        """How many slots are taken."""
        return sum(node.used for node in self.nodes)


def read(store: Store, before: Beat, now: float) -> Beat:
    """Look at the site; events that are known are not read again."""
    known = before.events[0].id if before.events else 0
    fresh = pulse.events(store, known, MOST_EVENTS)
    done, failed = pulse.ended(store)
    return Beat(
        now,
        tuple(nodes(store)),
        tuple([*fresh, *before.events][:MOST_EVENTS]),
        done,
        failed,
        pulse.slots(store),
        pulse.troubled(store),
    )


def nodes(store: Store) -> list[NodeLine]:
    """Every node: how much of it is in use, its load, when it was last heard."""
    used = {row["id"]: row["used"] for row in store.rows("node_rooms")}
    found = []
    for row in store.rows("nodes"):
        state = "drained" if row["drained"] and row["state"] != "down" else row["state"]
        load = json.loads(row["facts"] or "{}").get("load")
        note = row["trouble"] or (row["drain_note"] if row["drained"] else "") or ""
        contact = row["contact"] if row["contact"] is not None else row["since"]
        found.append(
            NodeLine(row["name"], state, used.get(row["id"], 0), row["cpus"], load, contact, note)
        )
    return found
