"""What an attempt that did not succeed leaves for the next one.

`through` binaries, from the first, are done, and all files that they declare are there, whole;
`given` has a digest of each with its inputs, so that it counts for no other.
Of one binary with event ranges that is not done, `parts` holds what it has done so far.
`left` are outputs of a binary that failed: only a person can accept them. With `whole` all
binaries are done, and what is not in `stored` has yet to reach its locator.
"""

import re
from typing import Any, Dict, Tuple

from d0ctl_wrapper.protocol import ranges, shape

Kept = Dict[str, Any]

_CHECKSUM = re.compile(r"sha256:[0-9a-f]{64}\Z")


def checksum(value: Any) -> str:
    """Accept a checksum as wrappers make them."""
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

FILE = {
    "name": shape.bounded(shape.relative),
    "path": shape.bounded(shape.absolute),
    "size": shape.whole,
    "checksum": checksum,
}

_TEXT = shape.bounded(shape.string)

KEPT_FILE = shape.record({**FILE, "binary": shape.positive}, LATE)

KEPT_PART = shape.record(
    {**FILE, "binary": shape.positive, "done": ranges.check, "supplied": _TEXT}
)

KEPT_LEFT = shape.record(
    {
        "name": shape.bounded(shape.relative),
        "path": shape.bounded(shape.absolute),
        "size": shape.whole,
        "changed": shape.whole,
        "binary": shape.positive,
    },
    LATE,
)
"""An output that no one has verified; `changed` is its time of change, in nanoseconds."""

KEPT = shape.record(
    {
        "through": shape.whole,
        "why": _TEXT,
        "supplied": shape.many(_TEXT),
        "files": shape.many(KEPT_FILE),
    },
    {
        "parts": (shape.many(KEPT_PART), []),
        "left": (shape.many(KEPT_LEFT), []),
        "stored": (shape.many(STORED), []),
        "whole": (shape.boolean, False),
    },
)

FORMER = shape.record(
    {"attempt": shape.positive},
    {"retained": (shape.maybe(KEPT), None), "number": (shape.positive, 1)},
)
"""A former attempt; without `kept` it could not say, so what it recorded on its node counts.

`number` counts the attempts of the package from 1, `attempt` those of the whole site.
"""

EVENTS = shape.record({"first": shape.whole, "last": shape.whole, "part": shape.relative})
"""The events of a binary, and the file that holds what it has done of them."""

Stamp = Tuple[int, int, int, int]
"""What tells a file from itself as it was before: device, inode, size, time of change."""
