"""Reading the keys of a site file, whose texts have no placeholders of their own."""

import re
from collections.abc import Iterator
from typing import Any

from d0ctl.jobfile.language.field_types import Kind, WrongError
from d0ctl.jobfile.sections.level import Level, Reading, kind_of
from d0ctl.jobfile.yaml.document import Mapping, Node, Scalar, Sequence
from d0ctl.jobfile.yaml.faults import shown
from d0ctl_wrapper.protocol import software_order

_SERVICE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]*", re.ASCII)
_CHECKSUM = re.compile(r"sha256:[0-9a-f]{64}", re.ASCII)


def _service(value: str) -> str:
    if not _SERVICE.fullmatch(value):
        raise ValueError
    return value


def _checksum(value: str) -> str:
    if not _CHECKSUM.fullmatch(value):
        raise ValueError
    return value


def _speed(value: str) -> float:
    if not re.fullmatch(r"\d+(\.\d+)?", value, re.ASCII) or not 0 < float(value) <= 1000:
        raise ValueError
    return float(value)


PART = Kind(software_order.part, "a name of letters, digits and `._+-`")
SERVICE = Kind(_service, "names of services, made of letters, digits and `._+-`")
CHECKSUM = Kind(_checksum, "`sha256:` and 64 hexadecimal digits")
SPEED = Kind(_speed, "how many times as fast as a standard node it is, such as `1.5`")


def converted(scalar: Scalar, key: str, kind: Kind, reading: Reading) -> Any:
    """Return a text as a value of a kind; None where it is none, which is a fault."""
    try:
        return kind.convert(scalar.text)
    except WrongError as error:
        reading.fault(scalar.place, f"`{key}`: {error}")
    except ValueError:
        message = f"`{key}` takes {kind.expected}, not {shown(scalar.text)}"
        reading.fault(scalar.place, message)
    return None


def value(level: Level, key: str, kind: Kind) -> Any:
    """Return a key's text as a value of a kind; None where it is absent or wrong."""
    scalar = level.scalar(key)
    return None if scalar is None else converted(scalar, key, kind, level.reading)


def values(level: Level, kinds: dict[str, Kind]) -> dict[str, Any]:
    """Return those of the keys that are there and right; a dash becomes `_`."""
    found = {key.replace("-", "_"): value(level, key, kind) for key, kind in kinds.items()}
    return {key: one for key, one in found.items() if one is not None}


def many(level: Level, key: str, kind: Kind) -> tuple[Any, ...]:
    """Return the texts of a list, or of a single one, as values of a kind."""
    node = level.get(key)
    if node is None:
        return ()
    items = node.items if isinstance(node, Sequence) else [node]
    scalars = [level.reading.scalar(item, f"`{key}`") for item in items]
    found = [converted(one, key, kind, level.reading) for one in scalars if one is not None]
    return tuple(one for one in found if one is not None)


def named(node: Node, section: str, reading: Reading) -> Iterator[tuple[Scalar, Node]]:
    """Go over a mapping from names to what they are."""
    if isinstance(node, Mapping):
        yield from node.items.values()
    else:
        message = f"`{section}` takes names and what each is, not {kind_of(node)}"
        reading.fault(node.place, message)


def entries(node: Node) -> list[Node]:
    """Return the items of a list, or the one that stands for it."""
    return node.items if isinstance(node, Sequence) else [node]
