"""The making of chunks of rows: in this process, or in a child while this one inserts them."""

from __future__ import annotations

import gc
import os
import signal
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, NoReturn

import msgspec

from d0ctl.errors import D0Error
from d0ctl.store.jobs.submission.insertion import Chunks
from d0ctl.store.jobs.submission.intake import Reserve
from d0ctl.store.jobs.submission.intake_rows import Chunk

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

LARGE = 10_000
"""The number of packages from which a child is worth its start."""

Make = Callable[[Reserve], Iterator[Chunk]]
"""Makes all chunks of a job, with the ids that it reserves."""

_CHUNK, _IDS, _END, _FAULT = b"c", b"i", b"e", b"f"
"""The first byte of a frame of the child: a chunk, a request for ids, the end, or a traceback."""


@contextmanager
def made(make: Make, packages: int, reserve: Reserve) -> Iterator[Chunks]:
    """Make the chunks of a job of so many packages.

    A child makes them if there are many, and if this process may fork: it has one thread, and
    the machine has a second CPU.
    """
    may_fork = threading.active_count() == 1 and len(os.sched_getaffinity(0)) > 1
    if packages < LARGE or not may_fork:
        yield _Here(make(reserve))
        return
    from multiprocessing.connection import Pipe  # its import takes longer than a small job

    ours, theirs = Pipe()
    pid = os.fork()
    if pid == 0:
        ours.close()
        _run(make, theirs)
    theirs.close()
    try:
        yield _Child(ours, reserve)
    finally:
        ours.close()
        os.waitpid(pid, 0)


class _Here:
    """Chunks that are made when they are taken."""

    def __init__(self, chunks: Iterator[Chunk]) -> None:
        self._chunks = chunks

    def take(self) -> Chunk | None:
        return next(self._chunks, None)

    def is_ready(self) -> bool:
        return True


class _Child:
    """Chunks that a child makes; it asks for the ids of its rows."""

    def __init__(self, connection: Connection, reserve: Reserve) -> None:
        self._connection = connection
        self._reserve = reserve
        self._decode = msgspec.msgpack.Decoder(Chunk).decode

    def take(self) -> Chunk | None:
        while (frame := self._frame())[:1] == _IDS:
            table, count = msgspec.msgpack.decode(frame[1:], type=tuple[str, int])
            self._connection.send_bytes(b"%d" % self._reserve(table, count))
        if frame[:1] == _FAULT:
            raise RuntimeError(frame[1:].decode())
        return self._decode(frame[1:]) if frame[:1] == _CHUNK else None

    def is_ready(self) -> bool:
        return self._connection.poll()

    def _frame(self) -> bytes:
        try:
            return self._connection.recv_bytes()
        except (EOFError, ConnectionError) as error:
            message = "the process that makes the rows of the job was killed"
            raise D0Error(message, hint="submit the job again") from error


def _run(make: Make, connection: Connection) -> NoReturn:
    """Send all chunks and end this process, whose parent knows what it was doing."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    gc.disable()
    encode = msgspec.msgpack.Encoder().encode

    def reserve(table: str, count: int) -> int:
        connection.send_bytes(_IDS + encode((table, count)))
        return int(connection.recv_bytes())

    with suppress(EOFError, ConnectionError):  # the parent is gone, or has had enough
        try:
            for chunk in make(reserve):
                connection.send_bytes(_CHUNK + encode(chunk))
            connection.send_bytes(_END)
        except (EOFError, ConnectionError):
            raise
        except BaseException:
            connection.send_bytes(_FAULT + traceback.format_exc().encode())
    os._exit(0)
