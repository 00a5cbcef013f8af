"""A look at what lies on a node, beside the courier that may hold its link."""

import base64
import uuid
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from d0ctl.config import Home
from d0ctl.errors import NodeUnreachable, NotFound
from d0ctl.nodes.link import Frame, Link, Site, open_link
from d0ctl.nodes.transport import Address

PIECE = 1 << 20
"""How many bytes of a file are asked for at a time."""


def read_log(
    home: Home, address: Address, base: str, attempt: int, name: str, offset: int, length: int
) -> bytes:
    """A piece of a file in an attempt's folder; a negative offset counts from its end.

    Raises NotFound when it is not there, NodeUnreachable when the node does not answer.
    """
    path = f"{base}/attempts/{attempt}/{name}"
    if address.kind == "local":
        return _read_here(Path(path), offset, length)
    site = Site(base.split("/")[-2], home.nodes, home.known_hosts, home.dropbox)
    with closing(open_link(address, site, visit=True)) as link:
        return b"".join(_pieces(link, path, offset, length))


def log_size(home: Home, address: Address, base: str, attempt: int, name: str) -> int:
    """How many bytes a file in an attempt's folder has. Raises as `read_log` does."""
    path = f"{base}/attempts/{attempt}/{name}"
    if address.kind == "local":
        try:
            return Path(path).stat().st_size
        except FileNotFoundError as error:
            raise NotFound(f"`{path}` is not there any more") from error
    site = Site(base.split("/")[-2], home.nodes, home.known_hosts, home.dropbox)
    with closing(open_link(address, site, visit=True)) as link:
        return int(_ask(link, path, 0, 1)["size"])


def _read_here(path: Path, offset: int, length: int) -> bytes:
    try:
        with path.open("rb") as file:
            size = file.seek(0, 2)
            file.seek(max(0, size + offset) if offset < 0 else offset)
            return file.read(length)
    except FileNotFoundError as error:
        raise NotFound(f"`{path}` is not there any more") from error


def _pieces(link: Link, path: str, offset: int, length: int) -> Iterator[bytes]:
    while length > 0:
        frame = _ask(link, path, offset, min(length, PIECE))
        data = base64.b64decode(frame["base64"])
        if not data:
            return
        yield data
        offset = frame["offset"] + len(data)
        length -= len(data)


def _ask(link: Link, path: str, offset: int, length: int) -> Frame:
    question = uuid.uuid4().hex
    link.send({"kind": "read", "id": question, "path": path, "offset": offset, "length": length})
    for frame in link.frames():
        if frame["kind"] == "data" and frame.get("id") == question:
            if frame.get("message"):
                raise NotFound(f"`{path}`: {frame['message']}")
            return frame
    raise NodeUnreachable("the relay ended before it answered")
