"""A look at an attempt on its node, beside the courier that may hold its link."""

import base64
import uuid
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass

from d0ctl.config import Home
from d0ctl.errors import NodeUnreachable, NotFound
from d0ctl.nodes.link import Frame, Link, Site, open_link
from d0ctl.nodes.transport import IO_TIMEOUT_S, Address

PIECE = 1 << 20
"""How many bytes of a file are asked for at a time."""


@dataclass(frozen=True, slots=True)
class Where:
    """An attempt by its id, with the node that it is on and our folder there, if that is known."""

    home: Home
    site: str
    address: Address
    base: str | None
    attempt: int


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a file: its place in the file, and the size of the whole."""

    offset: int
    data: bytes
    size: int


@contextmanager
def visit(where: Where) -> Iterator["Visit"]:
    """Go to the node of an attempt, only to look. Raises NodeUnreachable."""
    home = where.home
    site = Site(where.site, home.nodes, home.known_hosts, home.dropbox)
    link = open_link(where.address, site, visit=True, base=where.base)
    with closing(link):
        yield Visit(link, where)


class Visit:
    """A relay that only looks. All it is asked may raise NodeUnreachable."""

    def __init__(self, link: Link, where: Where) -> None:
        self._link = link
        self._where = where

    def listing(self, path: str = "") -> Frame:
        """What lies in a folder of the attempt, or one file; why not is in its `message`."""
        return self._ask("listing", {"kind": "list", "path": path})

    def status(self) -> Frame:
        """How the attempt stands, in the words of its wrapper where that answers in time."""
        return self._ask("status", {"kind": "ask"})

    def read(self, path: str, offset: int, length: int) -> Piece:
        """A part of a file, at most PIECE bytes of it; a negative offset counts from its end.

        Raises NotFound when it is not there, or is none that may be read.
        """
        length = min(length, PIECE)
        frame = self._ask(
            "data", {"kind": "read", "path": path, "offset": offset, "length": length}
        )
        if frame["message"]:
            raise NotFound(f"`{path}`: {frame['message']}")
        try:
            data = base64.b64decode(frame["base64"], validate=True)
        except ValueError as error:
            raise NodeUnreachable(f"`{self._where.address.name}` sent no file: {error}") from error
        return Piece(frame["offset"], data, frame["size"])

    def pieces(self, path: str, offset: int, end: int) -> Iterator[bytes]:
        """A file from one place to another, or to where it ends by then."""
        while offset < end:
            piece = self.read(path, offset, end - offset)
            if not piece.data:
                return
            yield piece.data
            offset = piece.offset + len(piece.data)

    def _ask(self, answer: str, question: Frame) -> Frame:
        name = uuid.uuid4().hex
        with self._link.bounded(IO_TIMEOUT_S):
            self._link.send({**question, "id": name, "attempt": self._where.attempt})
            for frame in self._link.frames():
                if frame["kind"] == answer and frame["id"] == name:
                    return frame
        raise NodeUnreachable(f"node `{self._where.address.name}` ended before it answered")
