"""An end message that is too long for one line: its long lists go before it, in `part` messages.

All of them are in one file, so an end and its parts come together or not at all.
"""

from typing import Any, Dict, Iterator, List

from d0ctl_wrapper.protocol import shape

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
"""The lists of an end message; a dot leads to a list of `kept`."""

SHORT = 16 * 1024
"""A list that takes fewer characters stays where it is."""

FULL = 256 * 1024
"""A part that takes so many characters takes no further item.

A single item has fewer than 400,000: 10,000 ranges of events, and two texts.
"""


def split(end: Message) -> "List[Message]":
    """Give the parts of an end message, and what is left of it, numbered on from its `seq`."""
    left = dict(end)
    if left.get("retained"):
        left["retained"] = dict(left["retained"])
    common = {name: end[name] for name in ("attempt", "token", "seq", "time")}
    found: "List[Message]" = []
    for field in FIELDS:
        holder, name = _holder(left, field)
        items = holder.get(name) or []
        if sum(len(shape.encode(item)) for item in items) < SHORT:
            continue
        holder[name] = []
        found += [{**common, "kind": "part", "field": field, "items": some} for some in _cut(items)]
    return [{**one, "seq": end["seq"] + place} for place, one in enumerate([*found, left])]


def join(messages: "List[Message]") -> "List[Message]":
    """Put the parts of ends back into these; raise ValueError when a part has no end."""
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
        raise ValueError("message %d is a part of what its end does not have" % part["seq"])
    holder[name] = [*part["items"], *holder[name]]


def _holder(end: Message, field: str) -> "tuple[Message, str]":
    """Give what holds a list, and its name there."""
    head, dot, name = field.partition(".")
    return (end.get(head) or {}, name) if dot else (end, field)


def _cut(items: "List[Any]") -> "Iterator[List[Any]]":
    some: "List[Any]" = []
    size = 0
    for item in items:
        some.append(item)
        size += len(shape.encode(item))
        if size >= FULL:
            yield some
            some, size = [], 0
    if some:
        yield some
