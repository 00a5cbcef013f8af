"""The nodes of a rehearsal: those of this site, or of a site file."""

from msgspec.structs import replace

from d0ctl.errors import Refused
from d0ctl.schedule.resources import NodeRoom
from d0ctl.sitefile.nodes import CONTROL as CONTROL_NAME
from d0ctl.sitefile.spec import ClusterEntry, Site
from d0ctl.store.connection import Store
from d0ctl.store.nodes.catalogue import barred
from d0ctl.store.nodes.standstill import node_views
from d0ctl.units import listed

CONTROL = 1
"""The cluster of this machine, where inputs from outside are."""


def nodes_of(
    store: Store, site: Site | None, inside: Site, originator: str, now: float
) -> tuple[list[NodeRoom], dict[int, str]]:
    """Return the nodes of a site file, or those that may take packages, and their clusters.

    `inside` is the site file, or else its equivalent for this site. Clusters that are private to
    others are left out.
    """
    rooms, names = _all_nodes(store, site, now)
    private = [cluster.name for cluster in inside.clusters if cluster.private]
    others = barred(private, inside.settings.get("researchers") or {}, originator)
    return [room for room in rooms if names.get(room.cluster) not in others], names


def _all_nodes(
    store: Store, site: Site | None, now: float
) -> tuple[list[NodeRoom], dict[int, str]]:
    known = {view.name: view.node for view in node_views(store, now=now)}
    if site is None:
        rooms = [replace(view.room, used=0, disk_free=view.room.disk) for view in known.values()
                 if not view.drained and view.gone is None]  # fmt: skip
        names = {row["cluster_id"]: row["cluster"] for row in store.rows("nodes")}
        return rooms, names
    numbers: dict[str, int] = {}
    of_name = {cluster.name: cluster for cluster in site.clusters}
    rooms = []
    unsized = []
    for number, entry in enumerate(site.nodes, 1):
        name = entry.cluster or (entry.name if entry.destination else CONTROL_NAME)
        cluster = CONTROL if not entry.destination else CONTROL + 1 + len(numbers)
        cluster = numbers.setdefault(name, cluster)
        inside = of_name.get(name, ClusterEntry(name))
        there = known.get(entry.name)
        cpus = entry.cpus or (there.room.cpus if there is not None else None)
        if cpus is None:
            unsized.append(f"`{entry.name}`")
            continue
        disk = None
        if inside.capacity is not None:
            disk = int(inside.capacity * (1 - inside.software_share))
        rooms.append(NodeRoom(
            number, entry.name, cluster, cpus, 0, entry.memory,
            entry.platform or inside.platform or (there.room.platform if there is not None
                                                  else None),
            [*entry.services, *inside.services], disk=disk, disk_free=disk,
            speed=entry.speed or (there.room.speed if there is not None else 1.0),
            gpus=entry.gpus if entry.gpus is not None
            else there.room.gpus if there is not None else 0,
        ))  # fmt: skip
    if unsized:
        raise Refused(f"the site file does not give the CPUs of {listed(unsized)}",
                      hint="add `cpus` to these nodes")  # fmt: skip
    return rooms, {number: name for name, number in numbers.items()}
