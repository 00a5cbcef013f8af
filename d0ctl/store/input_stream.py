"""The input stream of packages that started early: inputs that arrived, and its end.

Triggers make rows of `streamed_input` when a file arrives, and at a launch. The rows say which
inputs to send, which wait for a copy at the node, and which were sent over this connection.
"""

import json
from typing import Any

from d0ctl.store.connection import Row, Selection, Store
from d0ctl.store.files.copies import PARKED, spare_results


def begin(store: Store) -> None:
    """Start the lists of the packages in `decision`, which have just been launched."""
    if store.change("open_lists"):
        store.change("begin_input_streams")


def nodes(store: Store) -> list[int]:
    """Return the nodes with packages to which inputs are to be sent."""
    return [row[0] for row in store.rows("nodes_with_streams")]


def due(store: Store, node: int, *, limit: int, now: float) -> list[dict[str, Any]]:
    """Return what to send to the packages of a node, by attempt (docs/protocol.md); counts as sent.

    A copy is requested for each input that the node lacks.
    """
    store.change("want_streamed_inputs", node=node, now=now, parked=PARKED)
    store.change("park_streamed_inputs", node=node)
    rows = store.rows("due_streamed_inputs", node=node, limit=limit)
    store.change_many("keep_sent_inputs", {(row["package_id"], row["file_id"]) for row in rows})
    packages: dict[int, list[Row]] = {}
    for row in rows:
        packages.setdefault(row["package_id"], []).append(row)
    return [_entry(store, package, some) for package, some in packages.items()]


def _entry(store: Store, package: int, rows: list[Row]) -> dict[str, Any]:
    from d0ctl.jobfile.language.file_names import local_name  # readers import this module

    inputs = [(row, json.loads(row["binaries"])) for row in rows]
    entries: list[dict[str, Any]] = [
        {
            "name": local_name(row["name"], row["local"]),
            "path": None if row["by_itself"] else row["path"],
            "size": row["size"],
            "binaries": binaries,
            "writable": bool(row["writable"]),
            "inode": row["inode"],
            "mtime": row["mtime"],
        }
        for row, binaries in inputs
        if binaries
    ]
    spare_results(f"{store.home.results}/", entries)
    is_closed = store.row("close_list", package=package) is not None
    return {"attempt": rows[0]["attempt_id"], "inputs": entries, "closed": is_closed}


def again(store: Store, node: int) -> None:
    """Send everything to the packages of a node again."""
    store.change("stream_inputs_again", node=node)
    store.change("close_again", node=node)


def close_input_lists(selected: Selection) -> None:
    """Close the lists of running packages to the outputs of the selected packages."""
    selected.change("starve_lists")
    selected.change("look_at_lists")
