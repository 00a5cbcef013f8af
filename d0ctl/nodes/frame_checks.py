"""Frames between control host and relay; those of relays are checked, as no node is trusted."""

from collections.abc import Iterator, Mapping
from typing import Any

from d0ctl import fast_json
from d0ctl.errors import NodeUnreachable
from d0ctl_wrapper.protocol import stamp
from d0ctl_wrapper.protocol.checks import shape
from d0ctl_wrapper.protocol.frames import LISTED, LONGEST
from d0ctl_wrapper.protocol.message import LARGEST_COUNT, LATEST, LONGEST_SPAN_S, LONGEST_TEXT

Frame = dict[str, Any]

PIECE = 1 << 20
"""How many characters of a long frame go into one piece."""

_KIND = shape.record({"kind": shape.string})


def read(line: bytes) -> Frame | None:
    """Return the frame in a line; None if its kind is unknown.

    Unknown fields are dropped. Raises NodeUnreachable for anything that no relay sends.
    """
    try:
        if len(line) > LONGEST:
            raise ValueError(f"is longer than {LONGEST} bytes")
        value = fast_json.decode_bounded(line)
        kind = _KIND(value)["kind"]
        check = _CHECKS.get(kind)
        if check is None:
            return None
        return {"kind": kind, **check(value)}
    except ValueError as error:
        raise NodeUnreachable(f"the relay sent an invalid frame: it {error}") from error


def write(frame: Frame) -> Iterator[bytes]:
    """Yield the lines of a frame for a relay: one, or the pieces of a frame that is too long."""
    text = fast_json.encode(frame)
    if len(text) <= LONGEST // 2:
        yield text + b"\n"
        return
    for begin in range(0, len(text), PIECE):
        piece = {"kind": "piece", "text": text[begin : begin + PIECE].decode()}
        yield fast_json.encode({**piece, "more": begin + PIECE < len(text)}) + b"\n"


class Pieces:
    """Collects a long file of messages, which arrives in pieces, one frame after another."""

    def __init__(self) -> None:
        self._name = ""
        self._texts: list[str] = []
        self._size = 0

    def complete(self, file: Frame) -> bool:
        """Return whether this piece completes a file; its text is then that of all pieces.

        Raises NodeUnreachable for anything that no relay sends.
        """
        if self._texts and self._name != file["name"]:
            raise NodeUnreachable("the relay mixed up the pieces of two files")
        if not (file["more"] or self._texts):
            return True
        self._name = file["name"]
        self._texts.append(file["text"])
        self._size += len(file["text"])
        if self._size > LONGEST_TEXT + PIECE:
            raise NodeUnreachable("the relay sent an endless file")
        if not file["more"]:
            file["text"] = "".join(self._texts)
            self._texts, self._size = [], 0
        return not file["more"]


def _text(value: Any) -> str:
    """Check that a value is text of limited length; its content is checked where it is used."""
    if not isinstance(value, str):
        raise ValueError("is not text")
    if len(value) > shape.TEXT:
        raise ValueError(f"is longer than {shape.TEXT} characters")
    return value


def _free_text(value: Any) -> str:
    """Check a text for people; only its beginning is kept."""
    return _text(value[: shape.TEXT] if isinstance(value, str) else value)


def _content(value: Any) -> str:
    """Check the text of a message or a file, which is limited by its frame."""
    if not isinstance(value, str):
        raise ValueError("is not text")
    return value


def _identifier(value: Any) -> Any:
    return _text(value) if isinstance(value, str) else shape.maybe(shape.integer)(value)


_time = shape.between(0.0, LATEST)

_file_time = shape.between(-LATEST, LATEST)

_span = shape.between(0.0, LONGEST_SPAN_S)

_count = shape.between(-LARGEST_COUNT, LARGEST_COUNT)

_rate = shape.between(1e-3, 1e9)

_name = shape.bounded(shape.string)

TASKS = ("compress", "multiply", "sort")
"""The tasks of the benchmark of a node."""

_NAMES = ("hostname", "user", "home", "shell", "os", "python", "executable", "filesystem",
          "folder")  # fmt: skip

MOST_CPUS = 65536
MOST_GPUS = 1000


def _cpus(value: Any) -> int:
    if shape.positive(value) > MOST_CPUS:
        raise ValueError(f"is more than {MOST_CPUS}")
    return int(value)


def _gpus(value: Any) -> int:
    if shape.whole(value) > MOST_GPUS:
        raise ValueError(f"is more than {MOST_GPUS}")
    return int(value)


_facts = shape.record(
    {
        "boot_id": shape.bounded(shape.filled),
        "machine_id": shape.maybe(_name),
        "base": shape.bounded(shape.absolute),
        "cpus": _cpus,
        "memory": shape.maybe(shape.whole),
        "system": _name,
        "machine": _name,
        "time": _time,
    },
    {
        **dict.fromkeys(_NAMES, (_name, "")),
        "utc_offset": (shape.maybe(shape.integer), None),
        "load": (shape.maybe(_span), None),
        "gpus": (_gpus, 0),
        "disk_total": (shape.maybe(shape.whole), None),
        "disk_free": (shape.maybe(shape.whole), None),
        "noexec": (shape.boolean, False),
    },
)
"""What a node reports about itself; facts that are only shown may be missing."""

_ATTEMPTS = {"attempts": shape.many(shape.positive)}

_STATE = shape.record(
    {"attempt": shape.positive, "state": shape.one_of("running", "ended", "dead")}
)

_DEAD = shape.record(
    {"attempt": shape.positive, "message": _free_text}, {"reason": (_text, "lost")}
)

_ANSWER = {"id": _identifier}

STATES = ("running", "ended", "dead", "absent")
"""The states of an attempt on its node."""

_ENTRY = shape.record(
    {
        "name": _text,
        "type": _text,
        "size": shape.maybe(shape.whole),
        "time": _file_time,
        "target": shape.maybe(_text),
    }
)

_IN_FOLDER = shape.record({"path": _text, "size": shape.whole, "time": shape.whole})

_THING = shape.record(
    {
        "attempt": shape.maybe(shape.positive),
        "path": _text,
        "state": _text,
        "age": _file_time,
    },
    {
        "size": (shape.maybe(shape.whole), None),
        "checksum": (shape.maybe(_text), None),
        **stamp.FIELDS,
    },
)

_STATUS = shape.record(
    {
        "time": _time,
        "phase": _text,
        "why": _text,
        "since": _time,
        "binary": shape.maybe(shape.positive),
        "began": shape.maybe(_time),
        "done": shape.maybe(_count),
        "total": shape.maybe(_count),
        "percent": shape.maybe(shape.between(0.0, 100.0)),
        "line": _text,
        "eta": shape.maybe(_time),
        "cpu": _span,
        "rss": shape.whole,
        "processes": shape.whole,
        "disk_free": shape.maybe(shape.whole),
        "last_sign": shape.maybe(_time),
    },
    {
        "wrapper_started": (shape.maybe(_time), None),
        "started": (shape.maybe(_time), None),
        "seq": (shape.whole, 0),
    },
)

_FILE = shape.record({"name": _text, "text": _content}, {"more": (shape.boolean, False)})
"""Messages from the spool, or a piece of them that is continued."""

_FIELDS: Mapping[str, Mapping[str, shape.Check]] = {
    "hello": {"facts": _facts, "attempts": shape.many(_STATE)},
    "listed": {"attempts": shape.many(_STATE), "more": shape.boolean},
    "accepted": _ATTEMPTS,
    "already": _ATTEMPTS,
    "absent": _ATTEMPTS,
    "refused": {"attempt": shape.positive, "reason": _text, "message": _free_text},
    "dead": {"attempts": shape.many(_DEAD)},
    "messages": {"files": shape.many(_FILE)},
    "forgotten": {**_ATTEMPTS, "paths": shape.many(_text)},
    "fault": {"message": _free_text},
    "driven": {"driver": _free_text},
    "superseded": {"driver": _free_text},
    "taken": {**_ANSWER, "ok": shape.boolean, "message": _free_text},
    "hashed": {
        **_ANSWER,
        "ok": shape.boolean,
        "size": shape.maybe(shape.whole),
        "checksum": shape.maybe(_text),
        "message": _free_text,
    },
    "software": {
        **_ANSWER,
        "ok": shape.boolean,
        "message": _free_text,
        "faults": shape.many(_free_text),
    },
    "data": {
        **_ANSWER,
        "offset": shape.whole,
        "size": shape.maybe(shape.whole),
        "base64": _content,
        "message": _free_text,
    },
    "listing": {
        **_ANSWER,
        "state": shape.one_of(*STATES),
        "type": _text,
        "entries": shape.many(_ENTRY),
        "more": shape.boolean,
        "message": _free_text,
    },
    "status": {
        **_ANSWER,
        "attempt": shape.positive,
        "state": shape.one_of(*STATES),
        "status": shape.maybe(_STATUS),
        "message": _free_text,
    },
    "surveyed": {**_ANSWER, "entries": shape.many(_THING), "more": shape.boolean},
    "files": {**_ANSWER, "entries": shape.many(_IN_FOLDER), "more": shape.boolean},
    "facts": {**_ANSWER, "facts": _facts},
    "benchmarked": {**_ANSWER, "rates": shape.record(dict.fromkeys(TASKS, _rate))},
    "pong": {**_ANSWER, "time": _time, "load": _span, "disk_free": shape.maybe(shape.whole)},
}

_OTHERS: Mapping[str, Mapping[str, tuple[shape.Check, Any]]] = {
    "hello": {"more": (shape.boolean, False), "cached": (shape.many(shape.positive, LISTED), [])},
    "messages": {"disk_free": (shape.maybe(shape.whole), None)},
    "taken": stamp.FIELDS,
}
"""Fields that may be missing, with their defaults."""

_CHECKS = {kind: shape.record(fields, _OTHERS.get(kind, {})) for kind, fields in _FIELDS.items()}
