"""The fields of a software order."""

import re
from typing import Any, Dict

from d0ctl_wrapper.protocol.checks import shape

_PART = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,99}\Z")


def part(value: Any) -> str:
    """Accept a name that is valid as the name of a folder."""
    if not _PART.match(shape.string(value)):
        raise ValueError("is not made of letters, digits and `._+-`")
    return str(value)


def _platform(value: Any) -> str:
    return "" if value == "" else part(value)


FIELDS: "Dict[str, shape.Check]" = {
    "name": part,
    "version": part,
    "platform": _platform,
    "source": shape.filled,
    "checksum": shape.filled,
    "manifest": shape.maybe(shape.string),
}
"""The fields and their checks; `source` is a URL, or a path, absolute or in BASE."""
