"""Locators of files: paths, nodes and URLs (D0 Job Definition, section 2).

A locator is a path on the node that runs the package, `NODE:/path` on another, or a URL.
"""

import re
from typing import NamedTuple

from d0ctl_wrapper.protocol.paths import to_path

_URL = re.compile(r"([a-z][a-z0-9+.-]*):(?!/[^/]).+\Z")
_NODE = re.compile(r"([A-Za-z0-9][A-Za-z0-9_.-]*):(/(?!/).+)\Z")

EXPECTED = "a path `/...`, `NODE:/...` or a URL such as `SCHEME://...`"
"""The forms of a locator, for messages to people."""


class OnNode(NamedTuple):
    """A path on another node."""

    node: str
    path: str


def scheme(locator: str) -> str:
    """Return the scheme of a URL; `file` for a path on this node, empty for one on another."""
    found = _URL.match(locator)
    if found:
        return found.group(1)
    return "file" if locator.startswith("/") else ""


def on_node(locator: str) -> "OnNode | None":
    """Return node and path of a locator of the form `NODE:/path`."""
    found = _NODE.match(locator)
    return OnNode(*found.groups()) if found else None


def local_path(locator: str) -> "bytes | None":
    """Return the path on this node that a locator names, or None."""
    if locator.startswith("/"):
        return to_path(locator)
    if locator.startswith("file://"):
        from urllib.parse import unquote_to_bytes

        return b"/" + unquote_to_bytes(locator[len("file://") :].partition("/")[2])
    return None


def check(value: str) -> str:
    """Accept a locator, or raise ValueError with the end of a sentence."""
    has_controls = any(ord(letter) < 32 or ord(letter) == 127 for letter in value)
    if has_controls or not (scheme(value) or on_node(value)):
        raise ValueError("is not %s" % EXPECTED)
    return value
