"""Locators of files: paths, nodes and URLs (D0 Job Definition, section 2).

A locator is a path on the node that runs the package, `NODE:/path` on another, or a URL.
"""

import re
from typing import NamedTuple

from d0ctl_wrapper.protocol.paths import to_path

_URL = re.compile(r"([a-z][a-z0-9+.-]*):(?!/[^/]).+\Z")
_NODE = re.compile(r"([A-Za-z0-9][A-Za-z0-9_.-]*):(/(?!/).+)\Z")

_STORE = re.compile(r"store:([A-Za-z0-9][A-Za-z0-9_-]*)/(.+)\Z")

STORE = "store"
"""The scheme of files in stores of the site."""

STORE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")

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


class InStore(NamedTuple):
    """A file in a store of the site."""

    store: str
    name: str


def in_store(locator: str) -> "InStore | None":
    """Return store and name of a locator of the form `store:STORE/NAME`."""
    found = _STORE.match(locator)
    return InStore(*found.groups()) if found else None


def transport(locator: str) -> str:
    """Return the key of the commands for a locator: its scheme, or `store:STORE`."""
    found = in_store(locator)
    return "store:" + found.store if found else scheme(locator)


def address(locator: str) -> str:
    """Return the argument of those commands: the locator, or its name in the store."""
    found = in_store(locator)
    return found.name if found else locator


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
    if scheme(value) == STORE:
        found = in_store(value)
        if found is None or {"", ".", ".."} & set(found.name.split("/")):
            raise ValueError("is not `store:STORE/NAME`, with a relative name without `..`")
    return value
