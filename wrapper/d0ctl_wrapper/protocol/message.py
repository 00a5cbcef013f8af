"""Messages of attempts, one JSON object a line.

Nodes write them. The control host trusts no node and checks them with `parse`.
"""

import hashlib
import hmac
import re
from typing import Any, Callable, Dict, List, Tuple

from d0ctl_wrapper.protocol import retained, stamp
from d0ctl_wrapper.protocol.checks import json_text, parts, quick, ranges, shape

Message = Dict[str, Any]

REASONS = (
    "platform-failure", "looping", "seg-fault", "signal", "exit-code", "missing-output",
    "verification", "log-message", "out-of-memory", "disk-full", "wall-time", "missing-input",
    "no-inputs", "stage-in", "stage-out", "software-missing", "hook", "launch-failed", "lost",
    "killed",
)  # fmt: skip
"""The reasons of failures; a site adds its own as `site:NAME`."""

STDERR_LIMIT = 2000
"""The most characters of the last binary's stderr in an end message."""

LINE_LIMIT = 1000
"""The most characters of a line in a message."""

LONGEST = 1024 * 1024
"""The most characters of a message; the lists of a longer end go into `part` messages."""

LONGEST_TEXT = 32 * 1024 * 1024
"""The most characters of all messages of a file."""

MOST_NOTES = 100
"""The most notes of an attempt."""

LATEST = 2.0**33
"""The latest time in a message, in the year 2242; the earliest is in 1970."""

LONGEST_SPAN_S = 2.0**40
"""The most seconds of CPU or of silence in a message."""

LARGEST_COUNT = 1e18
"""The largest count of progress, in the binary's own unit."""

_TOKEN = re.compile(r"[0-9a-f]{64}\Z")


def token(key: bytes, attempt: int) -> str:
    """Return the secret that proves that the wrapper of `attempt` wrote a message."""
    return hmac.new(key, str(attempt).encode("ascii"), hashlib.sha256).hexdigest()


def without_token(text: bytes) -> bytes:
    """Replace the tokens in the text of a message file by as many dots."""
    return _TOKEN_FIELD.sub(lambda found: found[1] + b"." * len(found[2]), text)


def text(messages: "List[Message]") -> str:
    """Return messages as the text of one file; an end message above LONGEST is split into parts."""
    return "".join(line + "\n" for message in messages for line in _lines(message))


def _lines(message: Message) -> "List[str]":
    line = json_text.encode(message)
    if len(line) <= LONGEST or message["kind"] != "end":
        return [line]
    return [json_text.encode(part) for part in parts.split(message)]


def parse(text: str, decode: "Callable[[str], Any]" = json_text.decode_bounded) -> "List[Message]":
    """Read the text of one file, or raise ValueError with a plain reason.

    Unknown fields are left out. All messages of a file must belong to one attempt and have
    consecutive numbers. The parts of an end are joined.
    """
    if len(text) > LONGEST_TEXT:
        raise ValueError("the text is longer than %d characters" % LONGEST_TEXT)
    if not text.endswith("\n"):
        raise ValueError("the text does not end with a line end")
    lines = text[:-1].split("\n")
    messages = [_parse_line(number, line, decode) for number, line in enumerate(lines, 1)]
    for before, after in zip(messages, messages[1:]):
        if (before["attempt"], before["token"]) != (after["attempt"], after["token"]):
            raise ValueError("the messages are of several attempts")
        if before["seq"] + 1 != after["seq"]:
            raise ValueError("message %d follows message %d" % (after["seq"], before["seq"]))
    return parts.join(messages)


def _parse_line(number: int, line: str, decode: "Callable[[str], Any]") -> Message:
    try:
        if len(line) > LONGEST:
            raise ValueError("is longer than %d characters" % LONGEST)
        value = decode(line)
        message: Message = _check_of(value)(value)
        kind = message["kind"]
        if kind == "end":
            _check_outcome(message)
        elif kind == "part":
            message["items"] = _PART_ITEMS[message["field"]](message)["items"]
    except ValueError as error:
        raise ValueError("line %d %s" % (number, error))
    return message


def _check_of(value: Any) -> shape.Check:
    """Return the check for the kind of a message. Raises ValueError if it is unknown."""
    try:
        return _CHECKS[value["kind"]]
    except (KeyError, TypeError):
        return _CHECKS[_KIND(value)["kind"]]  # raises, with the fault


def _check_outcome(end: Message) -> None:
    reason = end["reason"]
    expected = {"successful": reason is None, "killed": reason == "killed"}
    if not expected.get(end["outcome"], reason not in (None, "killed")):
        raise ValueError("has outcome `%s` with reason `%s`" % (end["outcome"], reason))


@quick.test(shape.PLAIN + " and pattern(x)", pattern=_TOKEN.match)
def _token(value: Any) -> str:
    if not _TOKEN.match(shape.string(value)):
        raise ValueError("is not a token")
    return str(value)


@quick.test("type(x) is str and x in reasons", reasons=frozenset(REASONS))
def _reason(value: Any) -> str:
    if shape.string(value) not in REASONS and not _SITE_REASON.match(value):
        raise ValueError("is not a known reason")
    return str(value)


@quick.test(shape.PLAIN + " and len(x) <= %d and '\\n' not in x" % LINE_LIMIT)
def _line(value: Any) -> str:
    if len(shape.string(value)) > LINE_LIMIT or "\n" in value:
        raise ValueError("is not a line of at most %d characters" % LINE_LIMIT)
    return str(value)


@quick.test(shape.PLAIN + " and len(x) <= %d" % STDERR_LIMIT)
def _stderr(value: Any) -> str:
    if len(shape.string(value)) > STDERR_LIMIT:
        raise ValueError("is longer than %d characters" % STDERR_LIMIT)
    return str(value)


_TOKEN_FIELD = re.compile(rb'("token": ?")([0-9a-f]+)')
_SITE_REASON = re.compile(r"site:[A-Za-z0-9._-]{1,100}\Z")
LOG_REASON = re.compile(r"(?:log-message|site:[A-Za-z0-9._-]{1,100})\Z")
"""The reasons that a log rule may set."""

_kind = shape.one_of("start", "state", "progress", "note", "need", "part", "end")

_KIND = shape.record({"kind": _kind})

_phase = shape.one_of("staging-in", "running", "suspended")

_time = shape.between(0.0, LATEST)
_span = shape.between(0.0, LONGEST_SPAN_S)

_count = shape.between(-LARGEST_COUNT, LARGEST_COUNT)

_offset = shape.between(-86399, 86399)

_text = shape.bounded(shape.string)


@quick.test("type(x) is int and -86399 <= x <= 86399")
def _utc_offset(value: Any) -> int:
    return shape.integer(_offset(value))


_COMMON = {
    "attempt": shape.positive,
    "token": _token,
    "seq": shape.positive,
    "time": _time,
    "kind": _kind,
}

_BINARY = {
    "binary": shape.positive,
    "started": _time,
    "ended": _time,
    "exit_code": shape.maybe(shape.whole),
    "signal": shape.maybe(shape.positive),
    "cpu": _span,
    "rss": shape.whole,
}

_BINARY_OTHERS: "Dict[str, Tuple[shape.Check, Any]]" = {
    "gap": (shape.maybe(_span), None),
    "disk": (shape.maybe(shape.whole), None),
}

_STAGED = {
    "locator": shape.bounded(shape.filled),
    "path": shape.bounded(shape.absolute),
    "size": shape.whole,
    "checksum": retained.checksum,
}

_START = {
    "pid": shape.positive,
    "boot_id": _text,
    "utc_offset": _utc_offset,
}

_STATE = {"phase": _phase, "why": _line}

_PROGRESS = {
    "binary": shape.positive,
    "done": shape.maybe(_count),
    "total": shape.maybe(_count),
    "percent": shape.maybe(shape.between(0.0, 100.0)),
    "line": _line,
    "eta": shape.maybe(_time),
    "cpu": _span,
    "rss": shape.whole,
}

_NOTE = {"binary": shape.maybe(shape.positive), "text": _line}

_NEED = {"bytes": shape.whole, "why": _line}

_EVENTS = shape.record({"binary": shape.positive, "done": ranges.check})

_ITEMS: "Dict[str, shape.Check]" = {
    "binaries": shape.record(_BINARY, _BINARY_OTHERS),
    "outputs": shape.record(retained.FIELDS, {**retained.LATE, **stamp.FIELDS}),
    "missing": _text,
    "staged": shape.record(_STAGED, stamp.FIELDS),
    "stored": retained.STORED,
    "events": _EVENTS,
    "retained.files": retained.FILE,
    "retained.parts": retained.PART,
    "retained.left": retained.LEFT,
    "retained.stored": retained.STORED,
}
"""The checks of the items in the lists of an end message."""

_PART_ITEMS = {field: shape.record({"items": shape.many(check)}) for field, check in _ITEMS.items()}

_PART = {
    "field": shape.one_of(*parts.FIELDS),
    "items": lambda value: value,
}

_END = {
    "outcome": shape.one_of("successful", "failed", "killed"),
    "started": shape.maybe(_time),
    "ended": _time,
    "utc_offset": _utc_offset,
    "binary": shape.maybe(shape.positive),
    "reason": shape.maybe(_reason),
    "detail": shape.free_text,
    "exit_code": shape.maybe(shape.whole),
    "signal": shape.maybe(shape.positive),
    "cpu": _span,
    "rss": shape.whole,
    "stderr": _stderr,
    "binaries": shape.many(_ITEMS["binaries"]),
    "outputs": shape.many(_ITEMS["outputs"]),
    "missing": shape.many(_ITEMS["missing"]),
}

_OTHERS: "Dict[str, Dict[str, Tuple[shape.Check, Any]]]" = {
    "start": {"phase": (_phase, "running")},
    "state": {"started": (shape.maybe(_time), None), "suspended": (_span, 0.0)},
    "end": {
        "wrapper_started": (shape.maybe(_time), None),
        "suspended": (_span, 0.0),
        "partial": (shape.boolean, False),
        "staged": (shape.many(_ITEMS["staged"]), []),
        "stored": (shape.many(_ITEMS["stored"]), []),
        "began": (shape.positive, 1),
        "began_why": (_line, ""),
        "retained": (shape.maybe(retained.RETAINED), None),
        "events": (shape.many(_ITEMS["events"]), []),
    },
}
"""Fields that messages of older wrappers lack, with their defaults."""

_CHECKS = {
    kind: shape.record({**_COMMON, **fields}, _OTHERS.get(kind, {}))
    for kind, fields in (
        ("start", _START),
        ("state", _STATE),
        ("progress", _PROGRESS),
        ("note", _NOTE),
        ("need", _NEED),
        ("part", _PART),
        ("end", _END),
    )
}
