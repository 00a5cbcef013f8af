"""The node that stands for a batch system in which packages have jobs of their own."""

from d0ctl.errors import Refused
from d0ctl.sitefile.spec import ClusterEntry
from d0ctl.store.clusters.pilots import direct_node
from d0ctl.store.connection import Store
from d0ctl.store.nodes import registry

ANY_MEMORY = 1 << 40
"""What a job may ask for if the site file says nothing: the batch system knows its machines."""


def keep_node(store: Store, entry: ClusterEntry, *, now: float) -> None:
    """Make, change or remove the node of a batch system, as its entry of the site file wants it.

    Raises Refused if its name is taken, or if it has to go and has packages.
    """
    cluster = store.value("add_cluster", name=entry.name)
    row, pilots = direct_node(store, cluster), entry.pilots
    if pilots is None or pilots.mode == "pilot":
        if row is not None:
            registry.forget(store, row.name, now=now)
        return
    if row is None:
        if registry.find(store, entry.name):
            raise Refused(
                f"`{entry.name}` is a node, so it can't be a batch system with `mode: direct`",
                hint=f"d0ctl node remove {entry.name}",
            )
        store.change("add_direct_node", cluster=cluster)
        row = direct_node(store, cluster)
    assert row is not None
    address = pilots.address(entry.name)
    store.change(
        "keep_direct_node", node=row.id, destination=address.destination,
        identity=address.identity, directory=address.directory, python=address.python,
        via=address.via, cpus=pilots.cpus * pilots.max_jobs, gpus=pilots.gpus * pilots.max_jobs,
        memory=(pilots.memory or ANY_MEMORY) * pilots.max_jobs,
    )  # fmt: skip
