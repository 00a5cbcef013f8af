"""The finished work that an unsuccessful attempt retains for the next one.

The first `through` binaries are done, and all files that they declare are complete. `supplied`
has a digest of each binary with its inputs; its files count only for the same digest.
`parts` holds the finished events of a binary that is not done.
`left` are outputs of a binary that failed; only a person can accept them. With `whole` all
binaries are done, and outputs that are not in `stored` still have to be stored.
"""

import re
from typing import Any, Dict, Tuple

from d0ctl_wrapper.protocol.checks import quick, ranges, shape

Retained = Dict[str, Any]

_CHECKSUM = re.compile(r"sha256:[0-9a-f]{64}\Z")


@quick.test(shape.PLAIN + " and pattern(x)", pattern=_CHECKSUM.match)
def checksum(value: Any) -> str:
    """Accept a checksum in the form that wrappers write."""
    if not _CHECKSUM.match(shape.string(value)):
        raise ValueError("is not a checksum")
    return str(value)


LATE: "Dict[str, Tuple[shape.Check, Any]]" = {
    "late": (shape.maybe(shape.bounded(shape.relative)), None)
}
"""The pattern of an output whose name was not known at the launch."""

STORED = shape.record(
    {"name": shape.bounded(shape.relative), "locator": shape.bounded(shape.filled)}
)
"""An output that has reached one of its locators."""

FIELDS = {
    "name": shape.bounded(shape.relative),
    "path": shape.bounded(shape.absolute),
    "size": shape.whole,
    "checksum": checksum,
}

_TEXT = shape.bounded(shape.string)

FILE = shape.record({**FIELDS, "binary": shape.positive}, LATE)

PART = shape.record({**FIELDS, "binary": shape.positive, "done": ranges.check, "supplied": _TEXT})

LEFT = shape.record(
    {
        "name": shape.bounded(shape.relative),
        "path": shape.bounded(shape.absolute),
        "size": shape.whole,
        "changed": shape.whole,
        "binary": shape.positive,
    },
    LATE,
)
"""An output that was not verified; `changed` is its modification time in nanoseconds."""

RETAINED = shape.record(
    {
        "through": shape.whole,
        "why": _TEXT,
        "supplied": shape.many(_TEXT),
        "files": shape.many(FILE),
    },
    {
        "parts": (shape.many(PART), []),
        "left": (shape.many(LEFT), []),
        "stored": (shape.many(STORED), []),
        "whole": (shape.boolean, False),
    },
)

CONTENTS = shape.record(
    {"binary": shape.positive, "name": _TEXT, "size": shape.whole, "checksum": _TEXT}
)
"""The contents of an input of a binary: its size and checksum."""

TWIN = shape.record({"path": _TEXT, "files": shape.many(FILE), "inputs": shape.many(CONTENTS)})
"""A package of another job with the same binaries and inputs, and its files on this node."""

PREVIOUS = shape.record(
    {"attempt": shape.positive},
    {
        "retained": (shape.maybe(RETAINED), None),
        "number": (shape.positive, 1),
        "twin": (shape.maybe(TWIN), None),
    },
)
"""A previous attempt; without `retained` it sent no record, and the one on the node is used.

`number` counts the attempts of the package from 1, `attempt` those of the whole site. With `twin`
it is the successful attempt of a package of another job.
"""

EVENTS = shape.record({"first": shape.whole, "last": shape.whole, "part": shape.relative})
"""The events of a binary, and the file with the finished ones."""

Stamp = Tuple[int, int, int, int]
"""The state of a file as seen from outside: device, inode, size, modification time."""
