"""Between which nodes large files go directly, and why they do not between others."""

from collections import defaultdict
from collections.abc import Iterator

from d0ctl.store.connection import Store
from d0ctl.store.files import direct_logins

MOST = 5
"""The most other nodes that are named."""


def lines(store: Store, node: int, name: str) -> Iterator[str]:
    """Describe it for a node and those with which it has exchanged large files."""
    faults: dict[str, list[str]] = defaultdict(list)
    direct = []
    for row in direct_logins.of_node(store, node):
        other = row["callee"] if row["caller"] == name else row["caller"]
        if row["fault"]:
            text = f"`{row['caller']}` can't log in at `{row['callee']}`: {row['fault']}"
            faults[other].append(text)
        else:
            direct.append(other)
    if direct:
        yield f"large files go directly between `{name}` and {_named(sorted(set(direct)))}"
    for other in [other for other in faults if other not in direct][:MOST]:
        why = "; ".join(faults[other])
        yield f"large files between `{name}` and `{other}` go through the control host: {why}"


def _named(names: list[str]) -> str:
    """Return names, the first few of many."""
    more = f" and {len(names) - MOST} other nodes" if len(names) > MOST else ""
    return ", ".join(f"`{name}`" for name in names[:MOST]) + more
