"""The frames that a relay understands, and their fields."""

import re
from typing import Any, Dict, Tuple

from d0ctl_wrapper.protocol import software_order
from d0ctl_wrapper.protocol.checks import json_text, shape
from d0ctl_wrapper.protocol.launch import LATE_INPUT

Frame = Dict[str, Any]

KEEP_LOGS_S = 30 * 86400
"""Default for the seconds that the logs of an ended attempt stay."""

_HELLO_DEFAULTS = {
    "cpus": None,
    "gpus": None,
    "spool": None,
    "read_only": False,
    "elsewhere": False,
    "silence": 120,
    "keep_logs": KEEP_LOGS_S,
    "driver": "",
    "restored": 0,
}


_NONCE = re.compile(r"[A-Za-z0-9._-]{1,200}\Z")


def _identifier(value: Any) -> Any:
    if isinstance(value, str):
        return shape.string(value)
    return shape.maybe(shape.integer)(value)


def _nonce(value: Any) -> str:
    if not _NONCE.match(shape.filled(value)):
        raise ValueError("is not made of letters and digits")
    return str(value)


_HELLO = shape.record(
    {
        "kind": shape.one_of("hello"),
        "nonce": _nonce,
        "base": shape.filled,
        "cpus": shape.maybe(shape.positive),
        "gpus": shape.maybe(shape.whole),
        "spool": shape.maybe(shape.absolute),
        "read_only": shape.boolean,
        "elsewhere": shape.boolean,
        "silence": shape.number,
        "keep_logs": shape.number,
        "driver": shape.string,
        "restored": shape.number,
    }
)

_ATTEMPTS = shape.many(shape.positive)

_INPUT_STREAM = shape.record(
    {"attempt": shape.positive, "inputs": shape.many(LATE_INPUT), "closed": shape.boolean}
)

_OVER = shape.record({"attempt": shape.positive, "reason": shape.filled, "message": shape.string})

_CHECKS: "Dict[str, Dict[str, shape.Check]]" = {
    "launch": {"attempts": shape.many(lambda value: value)},
    "input_stream": {"attempts": shape.many(_INPUT_STREAM)},
    "ack": {"names": shape.many(shape.string)},
    "kill": {"attempts": _ATTEMPTS, "grace": shape.number},
    "pause": {"attempts": _ATTEMPTS, "grace": shape.number},
    "resume": {"attempts": _ATTEMPTS},
    "resend": {"attempts": _ATTEMPTS},
    "over": {"attempts": shape.many(_OVER)},
    "forget": {"attempts": _ATTEMPTS, "paths": shape.many(shape.filled)},
    "lease": {"seconds": shape.number},
    "keep": {"seconds": shape.number},
    "take": {
        "id": _identifier,
        "aside": shape.filled,
        "path": shape.filled,
        "size": shape.maybe(shape.whole),
        "checksum": shape.maybe(shape.string),
    },
    "hash": {"id": _identifier, "path": shape.filled},
    "read": {
        "id": _identifier,
        "path": shape.filled,
        "offset": shape.integer,
        "length": shape.whole,
    },
    "software": {
        "id": _identifier,
        "verb": shape.one_of("pull", "purge", "verify"),
        **software_order.FIELDS,
    },
    "list": {"id": _identifier, "attempt": shape.positive, "path": shape.string},
    "ask": {"id": _identifier, "attempt": shape.positive},
    "survey": {"id": _identifier},
    "folder": {"id": _identifier, "path": shape.string, "match": shape.string},
    "stat": {"id": _identifier},
    "ping": {"id": _identifier},
    "benchmark": {"id": _identifier},
    "piece": {"text": shape.string, "more": shape.boolean},
}

_OTHERS: "Dict[str, Dict[str, Tuple[shape.Check, Any]]]" = {
    "kill": {"partial": (shape.boolean, False), "partial_grace": (shape.number, 0.0)},
    "take": {"outside": (shape.boolean, False), "executable": (shape.boolean, False)},
    "read": {"attempt": (shape.maybe(shape.positive), None)},
    "survey": {"checksums": (shape.boolean, False)},
}
"""Optional fields with their defaults."""

_FRAMES = {kind: shape.record(fields, _OTHERS.get(kind, {})) for kind, fields in _CHECKS.items()}

_KIND = shape.record({"kind": shape.string})


def hello(line: bytes) -> Frame:
    """Parse the first frame, or raise ValueError."""
    value = json_text.decode(line)
    if isinstance(value, dict):
        value = {**_HELLO_DEFAULTS, **value}
    frame: Frame = _HELLO(value)
    return frame


def read(line: bytes) -> "tuple[str, Frame]":
    """Parse a later frame, or raise ValueError; one of an unknown kind is returned empty."""
    value = json_text.decode(line)
    kind = _KIND(value)["kind"]
    if kind not in _FRAMES:
        return kind, {}
    try:
        return kind, _FRAMES[kind](value)
    except ValueError as error:
        raise ValueError("of kind `%s` %s" % (kind, error))
