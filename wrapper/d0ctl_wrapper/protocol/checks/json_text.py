"""JSON texts: how they are read, within bounds if they come from a node, and written."""

import json
from typing import Any, Callable, List

_encoders: "List[Callable[[Any], str]]" = []
"""The encoder, once it was needed."""

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


def decode_own(text: bytes) -> Any:
    """Parse a JSON text that `encode` has made on a node, without the import of `json`."""
    try:
        from _json import make_scanner  # late, and part of CPython only

        scan: Any = make_scanner(_Plain)  # type: ignore[arg-type]
        value, end = scan(text.decode("ascii"), 0)
    except (ImportError, AttributeError, StopIteration):
        return decode(text)
    return value if end == len(text) else decode(text)


class _Plain:
    """What a scanner makes of the parts of a text."""

    strict = True
    object_hook = object_pairs_hook = array_hook = None
    parse_float, parse_int, parse_constant, memo = float, int, float, {}  # type: ignore[var-annotated]


def encode(value: Any) -> str:
    """Return a value as one line of ASCII JSON."""
    if not _encoders:
        _encoders.append(_encoder())
    return _encoders[0](value)


def _encoder() -> "Callable[[Any], str]":
    """Return the encoder of `json`, without importing the rest of it where that is possible."""
    try:
        from _json import encode_basestring_ascii, make_encoder

        make = make_encoder(None, _refuse, encode_basestring_ascii, None, ":", ",", False, False,
                            True)  # fmt: skip
        return lambda value: "".join(make(value, 0))
    except (ImportError, TypeError):
        return json.JSONEncoder(separators=(",", ":")).encode


def _refuse(value: Any) -> Any:
    raise TypeError("%r has no JSON text" % (value,))


def _refuse_constant(name: str) -> None:
    raise ValueError("%s is not a number" % name)
