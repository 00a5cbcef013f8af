"""The only place for making and checking messages, one JSON object a line.

Nodes make them; the control host, which trusts none, checks them with `parse`.
"""

import hashlib
import hmac
import re
from typing import Any, Dict, List, Tuple

from d0ctl_wrapper import kept, ranges, shape, stamp

Message = Dict[str, Any]

REASONS = (
    "platform-failure",
    "looping",
    "seg-fault",
    "signal",
    "exit-code",
    "missing-output",
    "verification",
    "log-message",
    "out-of-memory",
    "disk-full",
    "wall-time",
    "missing-input",
    "no-inputs",
    "stage-in",
    "stage-out",
    "software-missing",
    "hook",
    "launch-failed",
    "lost",
    "killed",
)
"""Why an attempt can fail; a site adds its own as `site:NAME`."""

STDERR_LIMIT = 2000
"""How many characters of the last binary's stderr an end message holds."""


LINE_LIMIT = 1000
"""How many characters a line has that a message holds."""


def token(key: bytes, attempt: int) -> str:
    """What proves that a message of `attempt` comes from the wrapper that we started."""
    return hmac.new(key, str(attempt).encode("ascii"), hashlib.sha256).hexdigest()


def without_token(text: bytes) -> bytes:
    """Hide the tokens in the text of a message file, which stays as long as it is."""
    return _TOLD_TOKEN.sub(lambda found: found[1] + b"." * len(found[2]), text)


def text(messages: "List[Message]") -> str:
    """Write messages as the text of one file."""
    return "".join(shape.encode(message) + "\n" for message in messages)


def parse(text: str) -> "List[Message]":
    """Read the text of one file, or raise ValueError with a plain reason.

    Fields that are not in the contract are left out. All messages of a file belong to one
    attempt and follow one another in their sequence.
    """
    if not text.endswith("\n"):
        raise ValueError("the text does not end with a line end")
    messages = [_parse_line(place, line) for place, line in enumerate(text[:-1].split("\n"), 1)]
    for before, after in zip(messages, messages[1:]):
        if (before["attempt"], before["token"]) != (after["attempt"], after["token"]):
            raise ValueError("the messages are of several attempts")
        if before["seq"] + 1 != after["seq"]:
            raise ValueError("message %d follows message %d" % (after["seq"], before["seq"]))
    return messages


def _parse_line(place: int, line: str) -> Message:
    try:
        value = shape.decode(line)
        kind = shape.record({"kind": _kind})(value)["kind"]
        message: Message = _CHECKS[kind](value)
        if kind == "end":
            _check_outcome(message)
    except ValueError as error:
        raise ValueError("line %d %s" % (place, error))
    return message


def _check_outcome(end: Message) -> None:
    reason = end["reason"]
    expected = {"successful": reason is None, "killed": reason == "killed"}
    if not expected.get(end["outcome"], reason not in (None, "killed")):
        raise ValueError("has outcome `%s` with reason `%s`" % (end["outcome"], reason))


def _token(value: Any) -> str:
    if not _TOKEN.match(shape.string(value)):
        raise ValueError("is not a token")
    return str(value)


def _reason(value: Any) -> str:
    if shape.string(value) not in REASONS and not _SITE_REASON.match(value):
        raise ValueError("is not a known reason")
    return str(value)


def _line(value: Any) -> str:
    if len(shape.string(value)) > LINE_LIMIT or "\n" in value:
        raise ValueError("is not a line of at most %d characters" % LINE_LIMIT)
    return str(value)


def _stderr(value: Any) -> str:
    if len(shape.string(value)) > STDERR_LIMIT:
        raise ValueError("is longer than %d characters" % STDERR_LIMIT)
    return str(value)


_TOKEN = re.compile(r"[0-9a-f]{64}\Z")
_TOLD_TOKEN = re.compile(rb'("token": ?")([0-9a-f]+)')
_SITE_REASON = re.compile(r"site:[A-Za-z0-9._-]{1,100}\Z")

LOG_REASON = re.compile(r"(?:log-message|site:[A-Za-z0-9._-]{1,100})\Z")
"""The reasons that a log rule can give."""

_kind = shape.one_of("start", "state", "progress", "note", "need", "binary", "end")

_phase = shape.one_of("staging-in", "running", "suspended")

_COMMON = {
    "attempt": shape.positive,
    "token": _token,
    "seq": shape.positive,
    "time": shape.number,
    "kind": _kind,
}

_BINARY = {
    "binary": shape.positive,
    "started": shape.number,
    "ended": shape.number,
    "exit_code": shape.maybe(shape.whole),
    "signal": shape.maybe(shape.positive),
    "cpu": shape.number,
    "rss": shape.whole,
}

_BINARY_OTHERS: "Dict[str, Tuple[shape.Check, Any]]" = {"gap": (shape.maybe(shape.number), None)}

_STAGED = {
    "locator": shape.filled,
    "path": shape.absolute,
    "size": shape.whole,
    "checksum": kept.checksum,
}

_START = {
    "pid": shape.positive,
    "boot_id": shape.string,
    "utc_offset": shape.integer,
}

_STATE = {"phase": _phase, "why": _line}

_PROGRESS = {
    "binary": shape.positive,
    "done": shape.maybe(shape.number),
    "total": shape.maybe(shape.number),
    "percent": shape.maybe(shape.number),
    "line": _line,
    "eta": shape.maybe(shape.number),
    "cpu": shape.number,
    "rss": shape.whole,
}

_NOTE = {"binary": shape.maybe(shape.positive), "text": _line}

_NEED = {"bytes": shape.whole, "why": _line}

_END = {
    "outcome": shape.one_of("successful", "failed", "killed"),
    "started": shape.number,
    "ended": shape.number,
    "utc_offset": shape.integer,
    "binary": shape.maybe(shape.positive),
    "reason": shape.maybe(_reason),
    "detail": shape.string,
    "exit_code": shape.maybe(shape.whole),
    "signal": shape.maybe(shape.positive),
    "cpu": shape.number,
    "rss": shape.whole,
    "stderr": _stderr,
    "binaries": shape.many(shape.record(_BINARY, _BINARY_OTHERS)),
    "outputs": shape.many(shape.record(kept.FILE, {**kept.LATE, **stamp.FIELDS})),
    "missing": shape.many(shape.string),
}

_OTHERS: "Dict[str, Dict[str, Tuple[shape.Check, Any]]]" = {
    "start": {"phase": (_phase, "running")},
    "binary": _BINARY_OTHERS,
    "end": {
        "partial": (shape.boolean, False),
        "staged": (shape.many(shape.record(_STAGED, stamp.FIELDS)), []),
        "stored": (shape.many(kept.STORED), []),
        "began": (shape.positive, 1),
        "began_why": (_line, ""),
        "kept": (shape.maybe(kept.KEPT), None),
        "events": (
            shape.many(shape.record({"binary": shape.positive, "done": ranges.check})),
            [],
        ),
    },
}
"""What messages of older wrappers do not say, with what they mean by that."""

_CHECKS = {
    kind: shape.record({**_COMMON, **fields}, _OTHERS.get(kind, {}))
    for kind, fields in (
        ("start", _START),
        ("state", _STATE),
        ("progress", _PROGRESS),
        ("note", _NOTE),
        ("need", _NEED),
        ("binary", _BINARY),
        ("end", _END),
    )
}
