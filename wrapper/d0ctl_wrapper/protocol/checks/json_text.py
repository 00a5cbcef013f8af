"""JSON texts: how they are read, within bounds if they come from a node, and written."""

import json
from typing import Any

_encode = json.JSONEncoder(separators=(",", ":")).encode

MOST_CONTAINERS = 250000
"""The most lists and objects in a text from a node.

An empty one takes 3 bytes of JSON and 60 bytes of memory.
"""


def decode_bounded(text: "str | bytes") -> Any:
    """Parse one JSON text from a node, after counting its lists and objects."""
    check_containers(text)
    return decode(text)


def check_containers(text: "str | bytes") -> None:
    """Raise ValueError if a JSON text has too many lists and objects.

    Brackets inside of strings count too, so this refuses too much rather than too little.
    """
    if isinstance(text, bytes):
        found = text.count(b"[") + text.count(b"{")
    else:
        found = text.count("[") + text.count("{")
    if found > MOST_CONTAINERS:
        raise ValueError("has more than %d lists and objects" % MOST_CONTAINERS)


def decode(text: "str | bytes") -> Any:
    """Parse one JSON text, without the NaN and Infinity that Python adds to JSON."""
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except RecursionError:
        raise ValueError("is nested too deeply")
    except ValueError as error:
        raise ValueError("is not JSON: %s" % error)


def encode(value: Any) -> str:
    """Return a value as one line of ASCII JSON."""
    return _encode(value)


def _refuse_constant(name: str) -> None:
    raise ValueError("%s is not a number" % name)
