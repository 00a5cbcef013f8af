"""The section `researchers:` of a site file: people, and their private clusters."""

from collections.abc import Iterator
from typing import Any

from d0ctl.jobfile.language.field_types import words
from d0ctl.jobfile.sections.level import Level, Reading, kind_of
from d0ctl.jobfile.yaml.document import Mapping as MappingNode
from d0ctl.jobfile.yaml.document import Node, Scalar, Sequence
from d0ctl.jobfile.yaml.faults import did_you_mean, shown
from d0ctl.sitefile.fields import list_value, named, value
from d0ctl.sitefile.mail import ADDRESS
from d0ctl.sitefile.nodes import CLUSTER

RESEARCHER_KEYS = words("mail clusters")


def read_researchers(node: Node, reading: Reading) -> dict[str, Any]:
    """Read all researchers, by their ids."""
    found: dict[str, Any] = {}
    for key, entry in named(node, "researchers", reading):
        if isinstance(entry, Scalar) and entry.is_nothing:
            found[key.text] = {}
        elif isinstance(entry, MappingNode):
            found[key.text] = _researcher(Level(entry, "a researcher", RESEARCHER_KEYS, reading))
        else:
            message = f"{shown(key.text)} takes keys of a researcher, not {kind_of(entry)}"
            reading.fault(entry.position, message)
    return found


def _researcher(level: Level) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if (mail := value(level, "mail", ADDRESS)) is not None:
        found["mail"] = mail
    if clusters := list_value(level, "clusters", CLUSTER):
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
        entry = known[name.text][1]
        flag = entry.items.get("private") if isinstance(entry, MappingNode) else None
        if flag is None or not isinstance(flag[1], Scalar) or flag[1].text.lower() != "yes":
            message = f"cluster {shown(name.text)} is not `private: yes`, so all may use it"
            reading.faults.warnings.add(name.position, message)


def _clusters(researchers: Node) -> Iterator[Scalar]:
    entries = researchers.items.values() if isinstance(researchers, MappingNode) else ()
    for _, entry in entries:
        pair = entry.items.get("clusters") if isinstance(entry, MappingNode) else None
        items = () if pair is None else pair[1].items if isinstance(pair[1], Sequence) else pair[1:]
        yield from (item for item in items if isinstance(item, Scalar))
