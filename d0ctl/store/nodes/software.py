"""Software in transit to nodes, and the orders to nodes about it."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from d0ctl.store.connection import Row, Store
from d0ctl.store.nodes.registry import CONTROL
from d0ctl_wrapper.host.software_cache import ARCHIVES

RETRY_S = 5.0
"""How long a failed copy of an archive waits, times its number of tries."""

LONGEST_RETRY_S = 300.0
"""The longest wait between two tries."""

_VERBS = {"push": "pull", "purge": "purge", "verify": "verify"}


def order_of(entry: Row, *, is_here: bool) -> dict[str, Any] | None:
    """Return an order about software for a node; None if it has no archive."""
    if entry["archive"] is None:
        return None
    brought = entry["archive"].startswith("/") and not is_here
    return {
        "name": entry["name"],
        "version": entry["version"],
        "platform": entry["platform"],
        "source": place_of(entry["checksum"]) if brought else entry["archive"],
        "checksum": entry["checksum"],
        "manifest": entry["manifest"],
    }


def place_of(checksum: str) -> str:
    """Return the path in its folder at which a node has a copied archive."""
    return ARCHIVES + checksum.rpartition(":")[2]


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
    store: Store, verb: str, node: Row, entry: Mapping[str, Any], *, actor: str, now: float
) -> int:
    """Ask a node to push, purge or verify software; return the number of the order."""
    names = ("name", "version", "platform", "archive", "checksum", "size", "manifest")
    return int(store.value("ask_software", node=node["id"], verb=verb, actor=actor, now=now,
                           **{name: entry[name] for name in names}))  # fmt: skip


def open_orders(store: Store, node: int) -> list[Row]:
    """Return the open orders of a node about its software."""
    return store.rows("open_orders", node=node)


def orders(store: Store, ids: Iterable[int]) -> list[Row]:
    """Return some orders, with their nodes and why an archive could not be copied."""
    return store.rows("orders", ids=json.dumps(list(ids)))


def report_late(store: Store, order: int, to: str) -> None:
    """Have a person notified when an order has ended: the command no longer waits for it."""
    store.change("report_late_order", id=order, to=to)


def forget_order(store: Store, order: int) -> None:
    """Forget an order that has not ended: nobody waits for it any more."""
    store.change("forget_order", id=order)


def frame_of(order: Row) -> dict[str, Any] | None:
    """Return an order as it is sent to its node; None until its archive has arrived."""
    fields = order_of(order, is_here=order["cluster_id"] == CONTROL)
    assert fields is not None
    if order["verb"] == "push" and fields["source"].startswith(ARCHIVES) and not order["arrived"]:
        return None
    return {"kind": "software", "id": str(order["id"]), "verb": _VERBS[order["verb"]], **fields}


def end_order(store: Store, node: int, frame: Mapping[str, Any], *, now: float) -> None:
    """Record the answer of a node; one that no order asked for changes nothing."""
    order = {str(row["id"]): row for row in open_orders(store, node)}.get(str(frame["id"]))
    if order is None:
        return
    store.change("end_order", id=order["id"], node=node, ok=int(frame["ok"]), now=now,
                 message=str(frame["message"]), faults=json.dumps(frame["faults"]))  # fmt: skip
    if (order["verb"] == "purge" and frame["ok"]) or (order["verb"] == "push" and not frame["ok"]):
        store.change("forget_archive", node=node, checksum=order["checksum"])
