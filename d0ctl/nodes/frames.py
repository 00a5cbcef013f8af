"""What a relay may send: the only place that checks it, for nothing from a node is trusted."""

from collections.abc import Mapping
from typing import Any

from d0ctl.errors import NodeUnreachable
from d0ctl_wrapper import shape, stamp

Frame = dict[str, Any]


def read(line: bytes) -> Frame | None:
    """The frame in a line; None if it is of a kind that we do not know.

    Raises NodeUnreachable for what no relay of ours sends.
    """
    try:
        value = shape.decode(line)
        kind = shape.record({"kind": shape.string})(value)["kind"]
        check = _CHECKS.get(kind)
        if check is None:
            return None
        return {**value, **check(value)}
    except ValueError as error:
        raise NodeUnreachable(f"the relay sent what is no frame of ours: it {error}") from error


def _text(value: Any) -> str:
    """Any text at all; what is in it is judged by whoever reads it."""
    if not isinstance(value, str):
        raise ValueError("is not text")
    return value


def _identifier(value: Any) -> Any:
    return value if isinstance(value, str) else shape.maybe(shape.integer)(value)


def _facts(value: Any) -> Mapping[str, Any]:
    """What a node says of itself: the fields that we act on have to be there."""
    _FACTS(value)
    facts: Mapping[str, Any] = value
    return facts


_FACTS = shape.record(
    {
        "boot_id": shape.filled,
        "machine_id": shape.maybe(shape.string),
        "base": shape.absolute,
        "cpus": shape.positive,
        "memory": shape.maybe(shape.whole),
        "system": shape.string,
        "machine": shape.string,
    }
)

_ATTEMPTS = {"attempts": shape.many(shape.positive)}

_STATE = shape.record(
    {"attempt": shape.positive, "state": shape.one_of("running", "ended", "dead")}
)

_ANSWER = {"id": _identifier}

STATES = ("running", "ended", "dead", "absent")
"""What is known of an attempt on its node."""

_ENTRY = shape.record(
    {
        "name": _text,
        "type": _text,
        "size": shape.maybe(shape.whole),
        "time": shape.number,
        "target": shape.maybe(_text),
    }
)

_THING = shape.record(
    {
        "attempt": shape.maybe(shape.positive),
        "path": _text,
        "state": _text,
        "age": shape.number,
    },
    {
        "size": (shape.maybe(shape.whole), None),
        "checksum": (shape.maybe(_text), None),
        **stamp.FIELDS,
    },
)

_STATUS = shape.record(
    {
        "time": shape.number,
        "phase": _text,
        "why": _text,
        "since": shape.number,
        "binary": shape.maybe(shape.positive),
        "began": shape.maybe(shape.number),
        "done": shape.maybe(shape.number),
        "total": shape.maybe(shape.number),
        "percent": shape.maybe(shape.number),
        "line": _text,
        "eta": shape.maybe(shape.number),
        "cpu": shape.number,
        "rss": shape.whole,
        "processes": shape.whole,
        "disk_free": shape.maybe(shape.whole),
        "last_sign": shape.maybe(shape.number),
    }
)

_FIELDS: Mapping[str, Mapping[str, shape.Check]] = {
    "hello": {"facts": _facts, "attempts": shape.many(_STATE)},
    "accepted": _ATTEMPTS,
    "already": _ATTEMPTS,
    "absent": _ATTEMPTS,
    "refused": {"attempt": shape.positive, "reason": _text, "message": _text},
    "dead": {"attempts": shape.many(shape.record({"attempt": shape.positive, "message": _text}))},
    "messages": {"files": shape.many(shape.record({"name": _text, "text": _text}))},
    "forgotten": {**_ATTEMPTS, "paths": shape.many(_text)},
    "fault": {"message": _text},
    "taken": {**_ANSWER, "ok": shape.boolean, "message": _text},
    "hashed": {
        **_ANSWER,
        "ok": shape.boolean,
        "size": shape.maybe(shape.whole),
        "checksum": shape.maybe(_text),
    },
    "software": {**_ANSWER, "ok": shape.boolean, "message": _text, "faults": shape.many(_text)},
    "data": {
        **_ANSWER,
        "offset": shape.whole,
        "size": shape.maybe(shape.whole),
        "base64": _text,
        "message": _text,
    },
    "listing": {
        **_ANSWER,
        "state": shape.one_of(*STATES),
        "type": _text,
        "entries": shape.many(_ENTRY),
        "more": shape.boolean,
        "message": _text,
    },
    "status": {
        **_ANSWER,
        "attempt": shape.positive,
        "state": shape.one_of(*STATES),
        "status": shape.maybe(_STATUS),
        "message": _text,
    },
    "surveyed": {**_ANSWER, "entries": shape.many(_THING), "more": shape.boolean},
    "facts": _ANSWER,
    "pong": {**_ANSWER, "load": shape.number, "disk_free": shape.maybe(shape.whole)},
}

_OTHERS = {"taken": stamp.FIELDS}
"""What may be left out of an answer."""

_CHECKS = {kind: shape.record(fields, _OTHERS.get(kind, {})) for kind, fields in _FIELDS.items()}
