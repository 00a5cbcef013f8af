"""Packages assigned to a node whose disk has no space for an input: they go to another node."""

from d0ctl.schedule.resources import misfit
from d0ctl.store.attempts import failures
from d0ctl.store.connection import Store
from d0ctl.store.nodes import placement
from d0ctl.store.nodes.catalogue import Catalogue, requirement_of


def unassign(store: Store, file: int, cluster: int, size: int, *, why: str, now: float) -> None:
    """assigned -> ready for packages that wait in a cluster for a file that it has no space for.

    Only for those that another node with space for the file can take.
    """
    rows = store.rows("crowded_packages", file=file, cluster=cluster)
    if not rows:
        return
    rooms = [
        room
        for room in placement.nodes(store)
        if room.cluster != cluster and (room.disk_free is None or room.disk_free >= size)
    ]
    catalogue = Catalogue(store)
    movable = [
        row
        for row in rows
        if any(misfit(requirement_of(row, catalogue), room) is None for room in rooms)
    ]
    for row, requirement in zip(movable, failures.avoiding(store, movable), strict=True):
        store.change("take_back", package=row["package"], requirement=requirement, note=why,
                     now=now)  # fmt: skip
