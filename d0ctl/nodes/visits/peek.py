"""Reading an attempt's files and status on its node, by a relay beside that of the courier."""

import base64
import uuid
from collections.abc import Iterator
from contextlib import closing, contextmanager

from msgspec import Struct

from d0ctl.config import Home
from d0ctl.errors import NodeUnreachable, NotFound
from d0ctl.nodes.link import Frame, Link, Site, open_link
from d0ctl.nodes.transports.transport import IO_TIMEOUT_S, Address

PIECE = 1 << 20
"""How many bytes of a file are requested at a time."""

TAIL_PIECE = 64 * 1024
"""How many bytes are read to find the last lines of a log."""


class AttemptLocation(Struct, frozen=True):
    """An attempt, its node, and d0ctl's folder there, if that is known."""

    home: Home
    site: str
    address: Address
    base: str | None
    attempt: int


class Piece(Struct, frozen=True):
    """A part of a file: its offset, and the size of the whole file."""

    offset: int
    data: bytes
    size: int


@contextmanager
def visit(where: AttemptLocation) -> Iterator["AttemptReader"]:
    """Open a read-only link to the node of an attempt. Raises NodeUnreachable."""
    home = where.home
    site = Site(where.site, home.nodes, home.known_hosts, home.dropbox)
    link = open_link(where.address, site, visit=True, base=where.base)
    with closing(link):
        yield AttemptReader(link, where)


class AttemptReader:
    """A read-only link. All its methods may raise NodeUnreachable."""

    def __init__(self, link: Link, where: AttemptLocation) -> None:
        self._link = link
        self._where = where

    def listing(self, path: str = "") -> Frame:
        """Return the entries of a folder of the attempt, or one file; or an error as `message`."""
        return self._ask("listing", {"kind": "list", "path": path})

    def status(self) -> Frame:
        """Return the status of the attempt, from its wrapper if that answers in time."""
        return self._ask("status", {"kind": "ask"})

    def read(self, path: str, offset: int, length: int) -> Piece:
        """Return a part of a file, at most PIECE bytes; a negative offset counts from its end.

        Raises NotFound if it does not exist or may not be read.
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
        """Yield a file from one offset to another, or to its end."""
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
        raise NodeUnreachable(f"node `{self._where.address.name}` ended before answering")


def start_of_last(here: AttemptReader, name: str, size: int, lines: int) -> int:
    """Return where the last lines of a log begin."""
    start, wanted = size, lines + 1  # the last line, too, ends with a line feed
    while start > 0:
        end, start = start, max(0, start - TAIL_PIECE)
        data = b"".join(here.pieces(name, start, end))
        if end == size and not data.endswith(b"\n"):
            wanted -= 1
        if (number := data.count(b"\n")) < wanted:
            wanted -= number
            continue
        at = len(data)
        for _ in range(wanted):
            at = data.rindex(b"\n", 0, at)
        return start + at + 1
    return 0
