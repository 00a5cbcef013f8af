"""Fields of a site file, whose texts have no placeholders."""

import re
from collections.abc import Iterator
from typing import Any

from d0ctl import plugins
from d0ctl.jobfile.language.field_types import SIZE, BadValueError, FieldType, matching
from d0ctl.jobfile.sections.level import Level, Reading, kind_of
from d0ctl.jobfile.yaml.document import Mapping, Node, Scalar, Sequence
from d0ctl.jobfile.yaml.faults import did_you_mean, shown
from d0ctl.units import parse_amount, parse_size
from d0ctl_wrapper.protocol import software_order

_SERVICE = matching(r"[A-Za-z0-9][A-Za-z0-9._+-]*")
_CHECKSUM = matching(r"sha256:[0-9a-f]{64}")


def _speed(value: str) -> float:
    if not re.fullmatch(r"\d+(\.\d+)?", value, re.ASCII) or not 0 < float(value) <= 1000:
        raise ValueError
    return float(value)


def _amount(value: str) -> int:
    parse_size(value)
    try:
        return parse_amount(value)
    except ValueError as error:
        raise BadValueError(error) from error


AMOUNT = FieldType(_amount, SIZE.expected)
"""A size of memory or disk, which is never just a few bytes."""

PART = FieldType(software_order.part, "a name of letters, digits and `._+-`")
SERVICE = FieldType(_SERVICE, "names of services, made of letters, digits and `._+-`")
CHECKSUM = FieldType(_CHECKSUM, "`sha256:` and 64 hexadecimal digits")
SPEED = FieldType(_speed, "the speed relative to a standard node, such as `1.5`")


def converted(scalar: Scalar, key: str, field_type: FieldType, reading: Reading) -> Any:
    """Return a text as a value of a type; record a fault and return None if it is wrong."""
    try:
        return field_type.convert(scalar.text)
    except BadValueError as error:
        reading.fault(scalar.position, f"`{key}`: {error}")
    except ValueError:
        message = f"`{key}` takes {field_type.expected}, not {shown(scalar.text)}"
        reading.fault(scalar.position, message)
    return None


def value(level: Level, key: str, field_type: FieldType) -> Any:
    """Return the text of a key as a value of a type; None if it is absent or wrong."""
    scalar = level.scalar(key)
    return None if scalar is None else converted(scalar, key, field_type, level.reading)


def values(level: Level, types: dict[str, FieldType]) -> dict[str, Any]:
    """Return the valid values of the keys that are present; a dash becomes `_`."""
    found = {
        key.replace("-", "_"): value(level, key, field_type) for key, field_type in types.items()
    }
    return {key: value for key, value in found.items() if value is not None}


def list_value(level: Level, key: str, field_type: FieldType) -> tuple[Any, ...]:
    """Return the texts of a list, or a single one, as values of a type."""
    node = level.get(key)
    if node is None:
        return ()
    items = node.items if isinstance(node, Sequence) else [node]
    scalars = [level.reading.scalar(item, f"`{key}`") for item in items]
    values = [
        converted(scalar, key, field_type, level.reading)
        for scalar in scalars
        if scalar is not None
    ]
    return tuple(value for value in values if value is not None)


def named(node: Node, section: str, reading: Reading) -> Iterator[tuple[Scalar, Node]]:
    """Iterate over a mapping of names."""
    if isinstance(node, Mapping):
        yield from node.items.values()
    else:
        message = f"`{section}` takes a mapping of names, not {kind_of(node)}"
        reading.fault(node.position, message)


def entries(node: Node) -> list[Node]:
    """Return the items of a list, or a node that is not a list as the only one."""
    return node.items if isinstance(node, Sequence) else [node]


def is_installed(kind: str, scalar: Scalar, reading: Reading) -> bool:
    """Record a fault for a plug-in that no package has, or that can't be used."""
    try:
        plugin = plugins.named(kind, scalar.text)
        if plugin is not None:
            plugin.function()
            return True
        hint = did_you_mean(scalar.text, [plugin.name for plugin in plugins.installed(kind)])
        message = f"no installed package has a {kind} {shown(scalar.text)}{hint}"
    except plugins.PluginFailed as error:
        message = str(error)
    reading.fault(scalar.position, message)
    return False
