"""The section `platforms:` of a site file: platforms by name (InGrid, Control Databases)."""

from collections.abc import Iterator

from d0ctl.jobfile.sections.level import Level, Reading
from d0ctl.jobfile.yaml.document import Mapping, Node, Scalar, Sequence
from d0ctl.jobfile.yaml.faults import did_you_mean, shown
from d0ctl.sitefile.fields import PART, converted, named


def read_platforms(node: Node, reading: Reading) -> dict[str, str]:
    """Read the descriptions of all platforms, by their names."""
    found: dict[str, str] = {}
    for key, value in named(node, "platforms", reading):
        scalar = reading.scalar(value, f"`{key.text}`")
        if converted(key, "platforms", PART, reading) is not None and scalar is not None:
            found[key.text] = scalar.text
    return found


def check_platforms(level: Level, reading: Reading) -> None:
    """Warn of platforms of nodes, clusters and software that `platforms` does not describe."""
    section = level.get("platforms")
    known = section.items if isinstance(section, Mapping) else {}
    for name in ("nodes", "clusters", "software"):
        for scalar in _platforms(level.get(name)):
            if scalar.text not in known:
                hint = did_you_mean(scalar.text, known)
                message = f"there is no {shown(scalar.text)} under `platforms`{hint}"
                reading.faults.warnings.add(scalar.position, message)


def _platforms(node: Node | None) -> Iterator[Scalar]:
    """Yield the values of `platform` in the entries of a section."""
    entries: list[Node] = []
    if isinstance(node, Mapping):
        entries = [entry for _, entry in node.items.values()]
    elif isinstance(node, Sequence):
        entries = list(node.items)
    for entry in entries:
        pair = entry.items.get("platform") if isinstance(entry, Mapping) else None
        items = () if pair is None else pair[1].items if isinstance(pair[1], Sequence) else pair[1:]
        yield from (item for item in items if isinstance(item, Scalar))
