"""The cluster of this machine in a site file: `control`, or by the name of its node."""

from collections.abc import Collection, Iterator

from msgspec.structs import replace

from d0ctl.jobfile.yaml.document import Mapping, Node, Scalar, Sequence
from d0ctl.jobfile.yaml.faults import Faults
from d0ctl.sitefile.nodes import CONTROL

LOCAL = "localhost"
"""The node that d0ctl adds at the first use."""

ROLES = ("cluster-admin", "grid-control")
"""The keys of `mail` that take addresses by cluster."""


def rename(root: Mapping, faults: Faults) -> None:
    """Write `control` wherever the file calls that cluster by the name of a node of this machine.

    The name of a node that is in another cluster, or elsewhere, is not changed.
    """
    names = _names(root)
    mail = _section(root, "mail")
    for section in (_section(root, "clusters"), *(_section(mail, role) for role in ROLES)):
        _rename_keys(section, names, faults)
    for entry in _entries(root, "nodes"):
        _rename_values(entry, "cluster", names)
    for entry in _entries(root, "researchers"):
        _rename_values(entry, "clusters", names)


def _names(root: Mapping) -> set[str]:
    nodes = _section(root, "nodes").items
    names = {name for name, (_, node) in nodes.items() if _is_here(node)}
    clusters = [node.items["cluster"][1] for node in _entries(root, "nodes")
                if "cluster" in node.items]  # fmt: skip
    shared = [cluster.text for cluster in clusters if isinstance(cluster, Scalar)]
    return names if LOCAL in nodes or LOCAL in shared else {*names, LOCAL}


def _is_here(node: Node) -> bool:
    """Return whether a node is this machine, in no other cluster."""
    if isinstance(node, Scalar):
        return node.is_nothing or not node.text
    return isinstance(node, Mapping) and not {"destination", "cluster"} & node.items.keys()


def _section(level: Mapping, name: str) -> Mapping:
    node = level.items[name][1] if name in level.items else None
    return node if isinstance(node, Mapping) else Mapping(level.position)


def _entries(root: Mapping, name: str) -> Iterator[Mapping]:
    nodes = _section(root, name).items.values()
    return (node for _, node in nodes if isinstance(node, Mapping))


def _rename_keys(section: Mapping, names: Collection[str], faults: Faults) -> None:
    items = dict(section.items)
    section.items.clear()
    for name, (key, node) in items.items():
        own = CONTROL if name in names else name
        if own in section.items:
            faults.add(key.position, f"the cluster of this machine, `{CONTROL}`, is given twice")
        section.items[own] = _renamed(key, names), node


def _rename_values(entry: Mapping, key: str, names: Collection[str]) -> None:
    if key not in entry.items:
        return
    name, value = entry.items[key]
    if isinstance(value, Scalar):
        entry.items[key] = name, _renamed(value, names)
    elif isinstance(value, Sequence):
        value.items[:] = [_renamed(item, names) if isinstance(item, Scalar) else item
                          for item in value.items]  # fmt: skip


def _renamed(name: Scalar, names: Collection[str]) -> Scalar:
    return replace(name, text=CONTROL) if name.text in names else name
