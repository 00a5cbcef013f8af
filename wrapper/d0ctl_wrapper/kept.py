"""The only place that says what an attempt that did not succeed leaves for the next one.

`through` binaries, from the first, are done, and all files that they declare lie there whole;
`given` has a digest of each with its inputs, so that it counts for no other.
Of one binary with event ranges that is not, `part` holds what it has done so far.
"""

import re
from typing import Any, Dict, Tuple

from d0ctl_wrapper import ranges, shape

Kept = Dict[str, Any]

_CHECKSUM = re.compile(r"sha256:[0-9a-f]{64}\Z")


def checksum(value: Any) -> str:
    """Accept a checksum as wrappers make them."""
    if not _CHECKSUM.match(shape.string(value)):
        raise ValueError("is not a checksum")
    return str(value)


FILE = {
    "name": shape.relative,
    "path": shape.absolute,
    "size": shape.whole,
    "checksum": checksum,
}

_PART = shape.record(
    {**FILE, "binary": shape.positive, "done": ranges.check, "given": shape.string}
)

KEPT = shape.record(
    {
        "through": shape.whole,
        "why": shape.string,
        "given": shape.many(shape.string),
        "files": shape.many(shape.record({**FILE, "binary": shape.positive})),
    },
    {"parts": (shape.many(_PART), [])},
)

FORMER = shape.record({"attempt": shape.positive}, {"kept": (shape.maybe(KEPT), None)})
"""A former attempt; without `kept` it could not say, so what it recorded on its node counts."""

EVENTS = shape.record({"first": shape.whole, "last": shape.whole, "part": shape.relative})
"""The events of a binary, and the file that holds what it has done of them."""

Stamp = Tuple[int, int, int, int]
"""What tells a file from itself as it was before: device, inode, size, time of change."""
