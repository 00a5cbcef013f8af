"""The section `researchers:` of a site file: people, and their private clusters."""

from collections.abc import Iterator
from typing import Any

from d0ctl.jobfile.language.field_types import YES, split_names
from d0ctl.jobfile.sections.level import Level, Reading, kind_of
from d0ctl.jobfile.yaml.document import Mapping as MappingNode
from d0ctl.jobfile.yaml.document import Node, Scalar, Sequence
from d0ctl.jobfile.yaml.faults import did_you_mean, shown
from d0ctl.sitefile.fields import PART, list_value, named, value
from d0ctl.sitefile.mail import ADDRESS

RESEARCHER_KEYS = split_names("mail clusters")


def read_researchers(node: Node, reading: Reading) -> dict[str, Any]:
    """Read all researchers, by their ids."""
    researchers: dict[str, Any] = {}
    for key, entry in named(node, "researchers", reading):
        if isinstance(entry, Scalar) and entry.is_nothing:
            researchers[key.text] = {}
        elif isinstance(entry, MappingNode):
            researchers[key.text] = _researcher(
                Level(entry, "a researcher", RESEARCHER_KEYS, reading)
            )
        else:
            message = f"{shown(key.text)} takes keys of a researcher, not {kind_of(entry)}"
            reading.fault(entry.position, message)
    return researchers


def _researcher(level: Level) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if (mail := value(level, "mail", ADDRESS)) is not None:
        found["mail"] = mail
    if clusters := list_value(level, "clusters", PART):
        found["clusters"] = list(clusters)
    return found


def check_private(researchers: Node, clusters: Node | None, reading: Reading) -> None:
    """Record a fault for clusters of researchers that are not `private` ones under `clusters`."""
    known = clusters.items if isinstance(clusters, MappingNode) else {}
    for name in _clusters(researchers):
        if name.text not in known:
            hint = did_you_mean(name.text, known)
            message = f"`clusters`: there is no {shown(name.text)} under `clusters`{hint}"
            reading.fault(name.position, message)
            continue
        if not _is_private(known[name.text][1]):
            message = f"cluster {shown(name.text)} is not `private: yes`, so all may use it"
            reading.faults.warnings.add(name.position, message)


def _is_private(cluster: Node) -> bool:
    pair = cluster.items.get("private") if isinstance(cluster, MappingNode) else None
    return pair is not None and isinstance(pair[1], Scalar) and pair[1].text.lower() in YES


def _clusters(researchers: Node) -> Iterator[Scalar]:
    entries = researchers.items.values() if isinstance(researchers, MappingNode) else ()
    for _, entry in entries:
        pair = entry.items.get("clusters") if isinstance(entry, MappingNode) else None
        items = () if pair is None else pair[1].items if isinstance(pair[1], Sequence) else pair[1:]
        yield from (item for item in items if isinstance(item, Scalar))
