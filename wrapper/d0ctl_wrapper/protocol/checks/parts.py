"""Splitting an end message that is too long: its long lists go before it, in `part` messages.

All of them are in one file, so an end and its parts arrive together or not at all.
"""

from typing import Any, Dict, Iterator, List

from d0ctl_wrapper.protocol.checks import json_text

Message = Dict[str, Any]

FIELDS = (
    "binaries",
    "outputs",
    "missing",
    "staged",
    "stored",
    "events",
    "retained.files",
    "retained.parts",
    "retained.left",
    "retained.stored",
)
"""The lists of an end message; a dot leads to a list of `retained`."""

SHORT = 16 * 1024
"""A list with fewer characters stays in the end message."""

FULL = 256 * 1024
"""A part with this many characters gets no further item.

A single item has fewer than 400,000: 10,000 ranges of events, and two texts.
"""


def split(end: Message) -> "List[Message]":
    """Return the parts of an end message and the rest of it, numbered from its `seq` on."""
    rest = dict(end)
    if rest.get("retained"):
        rest["retained"] = dict(rest["retained"])
    common = {name: end[name] for name in ("attempt", "token", "seq", "time")}
    parts: "List[Message]" = []
    for field in FIELDS:
        holder, name = _holder(rest, field)
        items = holder.get(name) or []
        if sum(len(json_text.encode(item)) for item in items) < SHORT:
            continue
        holder[name] = []
        parts += [{**common, "kind": "part", "field": field, "items": some} for some in _cut(items)]
    return [{**part, "seq": end["seq"] + offset} for offset, part in enumerate([*parts, rest])]


def join(messages: "List[Message]") -> "List[Message]":
    """Put the parts back into their end messages; raise ValueError if a part has no end."""
    found: "List[Message]" = []
    waiting: "List[Message]" = []
    for message in messages:
        if message["kind"] == "part":
            waiting.append(message)
            continue
        if waiting and message["kind"] != "end":
            raise ValueError("message %d is a part without its end" % waiting[-1]["seq"])
        for part in reversed(waiting):
            _put_back(message, part)
        waiting = []
        found.append(message)
    if waiting:
        raise ValueError("message %d is a part without its end" % waiting[-1]["seq"])
    return found


def _put_back(end: Message, part: Message) -> None:
    holder, name = _holder(end, part["field"])
    if name not in holder:
        raise ValueError("message %d is a part of a list that its end does not have" % part["seq"])
    holder[name] = [*part["items"], *holder[name]]


def _holder(end: Message, field: str) -> "tuple[Message, str]":
    """Return the object with a list, and the name of the list in it."""
    head, dot, name = field.partition(".")
    return (end.get(head) or {}, name) if dot else (end, field)


def _cut(items: "List[Any]") -> "Iterator[List[Any]]":
    some: "List[Any]" = []
    size = 0
    for item in items:
        some.append(item)
        size += len(json_text.encode(item))
        if size >= FULL:
            yield some
            some, size = [], 0
    if some:
        yield some
