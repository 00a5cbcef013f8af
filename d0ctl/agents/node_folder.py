"""Files in a folder of a node: each process of agents lists one at a time."""

from collections.abc import Mapping
from typing import Any

from d0ctl.errors import NodeUnreachable, NotFound
from d0ctl.nodes.visits import folder
from d0ctl.store.connection import Store
from d0ctl.store.nodes import registry
from d0ctl.store.nodes.site import site_name
from d0ctl.taskfile.sources import Found, Unavailable, Unusable


def look_up(store: Store, source: Mapping[str, Any]) -> list[Found]:
    """Return the files that match, by their paths on the node. Raises Unavailable, Unusable."""
    try:
        row = registry.named(store, source["node"])
        found = folder.listed(store.home, registry.address_of(row), site_name(store), row.base,
                              source["folder"], source.get("match", "*"))  # fmt: skip
    except NotFound as error:
        raise Unusable(str(error)) from error
    except NodeUnreachable as error:
        raise Unavailable(str(error)) from error
    if not found:
        raise Unavailable(f"no file matches in `{source['folder']}` of node `{source['node']}`")
    return [
        Found(entry["path"], entry["size"], checksum=f"mtime:{entry['time']}") for entry in found
    ]
