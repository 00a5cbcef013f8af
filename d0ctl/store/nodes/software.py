"""Software in transit to nodes, and the orders to nodes about it."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict

from d0ctl.model import Node
from d0ctl.store.connection import Row, Store
from d0ctl.store.nodes.registry import CONTROL
from d0ctl.store.rows import make
from d0ctl_wrapper.host.software_cache import ARCHIVES, NOT_INSTALLED, NOTHING_PURGED

RETRY_S = 5.0
"""How long a failed copy of an archive waits, times its number of tries."""

LONGEST_RETRY_S = 300.0
"""The longest wait between two tries."""

_ORDERED = ("name", "version", "platform", "archive", "checksum", "manifest")
"""What an order says of its software."""

_VERBS = {"push": "pull", "purge": "purge", "verify": "verify"}


class OpenOrder(Struct, frozen=True):
    """An order to a node about a version of some software that was not answered yet."""

    id: int
    verb: str
    name: str
    version: str
    platform: str
    archive: str
    checksum: str
    manifest: str | None
    cluster_id: int
    arrived: float | None
    """When the node got the archive for it."""


class NodeOrder(Struct, frozen=True):
    """An order, its node and its answer, with why an archive could not be copied there."""

    id: int
    node: str
    state: str
    verb: str
    actor: str
    asked: float
    platform: str
    ended: float | None
    ok: int | None
    message: str | None
    last_error: str | None
    copy_error: str | None
    faults: str = "[]"

    @property
    def is_absent(self) -> bool:
        """Whether a check saw that the software is not on a node where nothing installed it."""
        return bool(self.verb == "verify" and self.ok and self.message == NOT_INSTALLED)

    @property
    def is_in_vain(self) -> bool:
        """Whether a purge found nothing; one of removed software may ask for several platforms."""
        return bool(self.verb == "purge" and self.ok and self.message == NOTHING_PURGED)


def order_of(entry: Row, *, is_here: bool) -> dict[str, Any] | None:
    """Return an order about software for a node; None if it has no archive."""
    if entry["archive"] is None:
        return None
    return _order({name: entry[name] for name in _ORDERED}, is_here=is_here)


def _order(entry: Mapping[str, Any], *, is_here: bool) -> dict[str, Any]:
    archive: str = entry["archive"]
    brought = archive.startswith("/") and not is_here
    return {
        "name": entry["name"],
        "version": entry["version"],
        "platform": entry["platform"],
        "source": place_of(entry["checksum"]) if brought else archive,
        "checksum": entry["checksum"],
        "manifest": entry["manifest"],
    }


def place_of(checksum: str) -> str:
    """Return the path in its folder at which a node has a copied archive."""
    return ARCHIVES + checksum.rpartition(":")[2]


def archives_of_none(store: Store, node: int) -> list[str]:
    """Return the checksums of the archives on a node that no software of the catalogue has."""
    return [row["checksum"] for row in store.rows("archives_of_no_software", node=node)]


def lacking(store: Store) -> list[int]:
    """Return the nodes that may lack software."""
    return [row[0] for row in store.rows("nodes_lacking_software")]


def archives_wanted(store: Store, node: int, *, now: float) -> list[Row]:
    """Return archives of this machine that should be copied to a node now."""
    return store.rows("archives_wanted", node=node, now=now)


def arrive(store: Store, node: int, checksum: str, *, now: float) -> None:
    """Record that an archive is on a node."""
    if store.row("node_by_id", node=node):
        store.change("archive_arrived", node=node, checksum=checksum, now=now)


def delay(store: Store, node: int, checksum: str, error: str, *, is_gone: bool, now: float) -> None:
    """Record that an archive could not be copied: it is tried later; a push of a lost one ends."""
    if not store.row("node_by_id", node=node):
        return
    store.change("delay_archive", node=node, checksum=checksum, last_error=error, now=now,
                 step=RETRY_S, longest=LONGEST_RETRY_S)  # fmt: skip
    if is_gone:
        store.change("fail_pushes", node=node, checksum=checksum, message=error, now=now)


def missed(store: Store, node: int, package: int) -> None:
    """Record that a node lacks the software of one of its packages."""
    store.change("forget_archives_of_package", node=node, package=package)


def ask(
    store: Store, verb: str, node: Node, entry: Mapping[str, Any], *, actor: str, now: float
) -> int:
    """Ask a node to push, purge or verify software; return the number of the order."""
    names = ("name", "version", "platform", "archive", "checksum", "size", "manifest")
    return int(store.value("ask_software", node=node.id, verb=verb, actor=actor, now=now,
                           **{name: entry[name] for name in names}))  # fmt: skip


def open_orders(store: Store, node: int) -> list[OpenOrder]:
    """Return the open orders of a node about its software."""
    return [make(OpenOrder, row) for row in store.rows("open_orders", node=node)]


def orders(store: Store, ids: Iterable[int]) -> list[NodeOrder]:
    """Return some orders, with their nodes and why an archive could not be copied."""
    rows = store.rows("orders", ids=json.dumps(list(ids)))
    return [make(NodeOrder, row) for row in rows]


def report_late(store: Store, order: int, to: str) -> None:
    """Have a person notified when an order has ended: the command no longer waits for it."""
    store.change("report_late_order", id=order, to=to)


def forget_order(store: Store, order: int) -> None:
    """Forget an order that has not ended: nobody waits for it any more."""
    store.change("forget_order", id=order)


def frame_of(order: OpenOrder) -> dict[str, Any] | None:
    """Return an order as it is sent to its node; None until its archive has arrived."""
    fields = _order(asdict(order), is_here=order.cluster_id == CONTROL)
    if order.verb == "push" and fields["source"].startswith(ARCHIVES) and not order.arrived:
        return None
    return {"kind": "software", "id": str(order.id), "verb": _VERBS[order.verb], **fields}


def end_order(store: Store, node: int, frame: Mapping[str, Any], *, now: float) -> None:
    """Record the answer of a node; one that no order asked for changes nothing."""
    order = {str(row.id): row for row in open_orders(store, node)}.get(str(frame["id"]))
    if order is None:
        return
    ok, message, faults = int(frame["ok"]), str(frame["message"]), frame["faults"]
    if order.verb == "verify" and faults == [NOT_INSTALLED] and not _was_there(store, node, order):
        ok, message, faults = 1, NOT_INSTALLED, []
    store.change("end_order", id=order.id, node=node, ok=ok, now=now, message=message,
                 faults=json.dumps(faults))  # fmt: skip
    if (order.verb == "purge" and frame["ok"]) or (order.verb == "push" and not frame["ok"]):
        store.change("forget_archive", node=node, checksum=order.checksum)


def _was_there(store: Store, node: int, order: OpenOrder) -> bool:
    """Return whether a node should have some software: by orders, copies and packages."""
    return bool(store.value("software_was_there", node=node, name=order.name,
                            version=order.version, platform=order.platform,
                            checksum=order.checksum, absent=NOT_INSTALLED))  # fmt: skip
