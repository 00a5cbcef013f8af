"""How full the caches of clusters with a capacity are."""

import math

from msgspec import Struct

from d0ctl.errors import Refused
from d0ctl.model import Node
from d0ctl.store.connection import Row, Store
from d0ctl.units import format_size, size

MB = 1_000_000
"""A suggested capacity is a multiple of this many bytes."""


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
            hint=_more_software(room, bytes_packed),
        )


def _more_software(room: Row, bytes_packed: int) -> str:
    """Return the command after which software may fit."""
    if bytes_packed <= room["bytes"]:
        return "d0ctl software purge NAME/VERSION"
    share = math.ceil(100 * bytes_packed / room["capacity"])
    enough = math.ceil(bytes_packed * room["capacity"] / room["bytes"] / MB) * MB
    wanted = f"software-share={share}%" if share <= 100 else f"capacity={format_size(enough)}"
    return f"d0ctl cluster set {room['name']} {wanted}"
