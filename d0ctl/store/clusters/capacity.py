"""How full the caches of clusters with a capacity are."""

from msgspec import Struct

from d0ctl.errors import Refused
from d0ctl.model import Node
from d0ctl.store.connection import Store
from d0ctl.units import size


class FullCache(Struct, frozen=True):
    """A cluster whose cache has too many bytes, and the node that should remove some."""

    name: str
    node: int
    excess: int


def count(store: Store) -> list[FullCache]:
    """Count the files in each cache with a capacity; return those that have too many."""
    full = []
    for row in store.rows("bounded_clusters"):
        cached = int(store.value("count_cached", cluster=row["id"]))
        store.change("keep_cached", cluster=row["id"], bytes=cached)
        if cached > row["bytes"]:
            full.append(FullCache(row["name"], row["node_id"], cached - row["bytes"]))
    return full


def check_software(store: Store, node: Node, title: str, checksum: str, bytes_packed: int) -> None:
    """Raise Refused if software does not fit into its share of the cluster of a node."""
    room = store.row("software_room", cluster=node.cluster_id, checksum=checksum)
    if room is not None and room["used"] + bytes_packed > room["bytes"]:
        raise Refused(
            f"software `{title}` ({size(bytes_packed)}) does not fit: cluster `{room['name']}` "
            f"keeps {size(room['bytes'])} for software, and {size(room['used'])} are in use",
            hint="d0ctl software purge NAME/VERSION",
        )
