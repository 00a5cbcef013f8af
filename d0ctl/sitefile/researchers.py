"""The section `researchers:` of a site file: who they are, and which clusters are theirs."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from d0ctl.jobfile.language.field_types import words
from d0ctl.jobfile.sections.level import Level, Reading, kind_of
from d0ctl.jobfile.yaml.document import Mapping as MappingNode
from d0ctl.jobfile.yaml.document import Node, Scalar, Sequence
from d0ctl.jobfile.yaml.faults import did_you_mean, shown
from d0ctl.sitefile.fields import list_value, named, value
from d0ctl.sitefile.mail import ADDRESS
from d0ctl.sitefile.nodes import CLUSTER
from d0ctl.units import listed

RESEARCHER_KEYS = words("mail clusters")

Researchers = Mapping[str, Mapping[str, Any]]
"""What the section says of each, by id: `mail`, an address, and `clusters`, a list of names."""


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
    """Note clusters of researchers that are not `private` ones under `clusters`."""
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


def researcher_of(originator: str, researchers: Researchers) -> str | None:
    """Return whose jobs have this originator: an id, its mail, or the id and a host."""
    if originator in researchers:
        return originator
    for name, entry in researchers.items():
        if entry.get("mail") == originator:
            return name
    account = originator.partition("@")[0]
    return account if account in researchers else None


def owners_of(cluster: str, researchers: Researchers) -> list[str]:
    """Return the researchers who may use a private cluster."""
    return [name for name, entry in researchers.items() if cluster in entry.get("clusters", ())]


def barred(private: Iterable[str], researchers: Researchers, originator: str) -> dict[str, str]:
    """Return the private clusters that an originator may not use, and why not."""
    asking, found = researcher_of(originator, researchers), {}
    for cluster in private:
        owners = owners_of(cluster, researchers)
        if asking not in owners:
            whose = listed(owners) if owners else "nobody yet"
            found[cluster] = f"cluster `{cluster}` is private to {whose}"
    return found
