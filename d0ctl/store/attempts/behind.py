"""Move packages to another node if they have waited much longer for their inputs than expected."""

from d0ctl.policy.remarks import InputsLate, noted
from d0ctl.schedule.choice import costs
from d0ctl.schedule.moves import behind
from d0ctl.schedule.resources import suited
from d0ctl.store.attempts import failures
from d0ctl.store.connection import Row, Store
from d0ctl.store.files import reachable_inputs
from d0ctl.store.nodes import placement
from d0ctl.store.nodes.catalogue import Catalogue, requirement_of

MOST = 100
"""How many packages are considered at a time."""


def rebroker(store: Store, *, now: float) -> list[str]:
    """assigned -> ready: packages on drained nodes, those that wait for files of nodes that are
    down, and those that end earlier elsewhere.

    Return the notes of the latter, which say why they move.
    """
    store.change("unassign_drained", now=now)
    reachable_inputs.unassign(store, now=now)
    rows = store.rows("late_packages", before=now - behind.LEAST_LATE_S, limit=MOST)
    if not rows:
        return []
    better = [(row, name) for row in rows if (name := _better(store, row, now)) is not None]
    notes = []
    for (row, name), requirement in zip(
        better, failures.avoiding(store, [row for row, _ in better]), strict=True
    ):
        note = noted(InputsLate(row["node"], round(now - row["changed"], 1), name))
        store.change("take_back", package=row["package"], requirement=requirement, note=note,
                     now=now)  # fmt: skip
        notes.append(note)
    return notes


def _better(store: Store, row: Row, now: float) -> str | None:
    """Return the node where a late package would end earlier; None if it should stay."""
    requirement = requirement_of(row, Catalogue(store))
    waited_s, expected_s = now - row["changed"], row["planned"] - row["changed"]
    if not behind.is_late(waited_s, expected_s):
        return None
    rooms = {room.name: room for room in suited(requirement, placement.nodes(store))}
    here = rooms.get(row["node"])
    others = [
        room for room in rooms.values()
        if room.cluster != row["cluster"] and room.on_trial is None
        and room.cpus - room.used - room.bringing >= requirement.load
    ]  # fmt: skip
    if here is None or not others:
        return None
    places, files = placement.places_of(store, row["package"])
    node_costs = costs(requirement, [here, *others], placement.busy(store, now=now),
                  placement.links(store), places, files)  # fmt: skip
    own = node_costs.pop(here.name)
    return behind.better(waited_s, expected_s, own, node_costs, row["moves"])
