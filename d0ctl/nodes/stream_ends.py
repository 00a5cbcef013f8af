"""The ends of a stream of files: a process on a node, its orders and its answers."""

import secrets
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Protocol

from d0ctl.errors import D0Error, NodeUnreachable, NotFound
from d0ctl.nodes.carry import TAKE_TIMEOUT_S, Copy
from d0ctl.nodes.courier import Courier
from d0ctl.nodes.courier_reports import FileFacts
from d0ctl.nodes.direct import NoLogin
from d0ctl.nodes.link import Frame, Link
from d0ctl.nodes.transports.download import CorruptedInTransit, WrongFile
from d0ctl.units import clean
from d0ctl_wrapper.protocol import file_stream, stamp
from d0ctl_wrapper.protocol.checks import json_text, shape

LONGEST_S, SLOWEST = 300.0, 50_000
"""How long a stream may take, and how many bytes per second it must move beyond that.

Otherwise a node that sends single bytes would block the streams of others.
"""

IDLE_S = 60.0
"""How long an end may have waited for its next order; it ends itself some time later."""

_OFFSETS = shape.record({"offsets": shape.many(shape.many(shape.whole, 2))})

_ANSWER = shape.record(
    {"fault": shape.one_of(*file_stream.FAULTS), "message": shape.bounded(shape.string)},
    stamp.FIELDS,
)


class Pipe(Protocol):
    """The stream of a process at an end."""

    def read(self, limit: float | None = None) -> bytes:
        """Wait for bytes; empty at the end."""

    def write(self, data: bytes) -> None:
        """Send all of them."""

    def finish(self) -> None:
        """Close the stdin of the process."""

    def stderr(self) -> str:
        """Return what it printed as an error."""

    def close(self) -> None:
        """End the stream."""


def size_of(copies: Sequence[Copy]) -> int:
    """Return the total size of copies in bytes, as far as it is known."""
    return sum(copy.size or 0 for copy in copies)


@contextmanager
def bounded(size: int, *pipes: Pipe) -> Iterator[None]:
    """Close the pipes if the block takes longer than a stream of this size may."""

    def end() -> None:
        for pipe in pipes:
            with suppress(Exception):
                pipe.close()

    timer = threading.Timer(LONGEST_S + size / SLOWEST, end)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


class End:
    """One end of a stream: its process, and the base of its node."""

    def __init__(self, pipe: Pipe, base: str) -> None:
        self.pipe, self.base = pipe, base
        self._rest = b""

    @property
    def is_read(self) -> bool:
        """Whether all bytes that came were asked for."""
        return not self._rest

    def lines(self, most: int) -> Iterator[bytes]:
        """Yield up to this many lines. Raises NodeUnreachable if they end before."""
        for _ in range(most):
            yield self.line()

    def line(self) -> bytes:
        """Return the next line. Raises NodeUnreachable if there is none."""
        while b"\n" not in self._rest:
            data = self.pipe.read(TAKE_TIMEOUT_S)
            if not data or len(self._rest) > file_stream.LONGEST_LINE:
                raise NodeUnreachable(self.pipe.stderr() or "one end of the stream has ended")
            self._rest += data
        line, _, self._rest = self._rest.partition(b"\n")
        return line

    def read(self, most: int) -> bytes:
        """Return some bytes. Raises NodeUnreachable if there are none."""
        data = self._rest or self.pipe.read(TAKE_TIMEOUT_S)
        if not data:
            raise NodeUnreachable(self.pipe.stderr() or "one end of the stream has ended")
        self._rest = data[most:]
        return data[:most]

    def skip_greeting(self, nonce: str) -> None:
        """Skip the output of a login shell. Raises ValueError if that does not end."""
        mark = file_stream.greet(nonce)[:-1]
        printed = 0
        for line in self.lines(1 << 20):
            printed += len(line)
            if line.rstrip().endswith(mark):
                break
            if printed > file_stream.LONGEST_ORDER:
                raise ValueError("prints endlessly")


@contextmanager
def standing(link: Link, word: bytes) -> Iterator[End]:
    """Yield an end that sends or receives; after a success it waits for its next order.

    To start one takes 35 ms of CPU there, which is more than most streams of small files take.
    """
    pipe = _idle(link) or start(link.transport, link, "streams")
    end = End(pipe, link.base)
    try:
        pipe.write(word)
        yield end
    except BaseException:
        pipe.close()
        raise
    if end.is_read:
        link.idle.append((time.monotonic(), pipe))
    else:
        pipe.close()


def _idle(link: Link) -> Pipe | None:
    """Return the end that has waited for the shortest time, if that is not too long."""
    with suppress(IndexError):
        since, pipe = link.idle.pop()
        if time.monotonic() - since < IDLE_S:
            return pipe
        pipe.close()
    return None


def start(transport: Any, link: Link, word: str) -> Pipe:
    """Start an end, in place of one that waits: sshd allows ten sessions per connection."""
    with suppress(IndexError):
        link.idle.popleft()[1].close()
    pipe: Pipe = transport.start(f"{link.program} {word}")
    return pipe


@contextmanager
def faults(*ends: End) -> Iterator[None]:
    """Name the error of an end if the stream between them breaks."""
    try:
        yield
    except NoLogin:
        raise
    except ValueError as error:
        raise NodeUnreachable(f"an end of a stream sent an invalid message: it {error}") from error
    except NodeUnreachable as error:
        said = [end.pipe.stderr() for end in reversed(ends)]
        raise NodeUnreachable("; ".join(map(clean, filter(None, said))) or str(error)) from error


def wanted(copies: Sequence[Copy]) -> list[Frame]:
    """Return the files of the order to a receiver."""
    return [{"path": copy.target, "size": copy.size, "checksum": copy.checksum} for copy in copies]


def sent(copies: Sequence[Copy], offsets: dict[int, int]) -> list[Frame]:
    """Return the files of the order to a sender."""
    return [
        {"path": copy.source, "size": copy.size, "offset": offsets.get(number, 0)}
        for number, copy in enumerate(copies)
    ]


def order(nonce: str, base: str, files: Sequence[Frame], direct: Frame | None = None) -> bytes:
    """Return an order."""
    fields = {"nonce": nonce, "base": base, "files": files, "direct": direct}
    return file_stream.encode(fields)


def offsets_of(sink: End, nonce: str) -> dict[int, int]:
    """Return the offsets from which the receiver wants files that were cut off before."""
    sink.skip_greeting(nonce)
    return dict(_OFFSETS(json_text.decode_bounded(sink.line()))["offsets"])


def answers_of(sink: End, copies: Sequence[Copy]) -> list[Frame]:
    """Return the answers of a receiver, a frame for each file."""
    return [_ANSWER(json_text.decode_bounded(line)) for line in sink.lines(len(copies))]


def outcome(copy: Copy, answer: Frame, source: Courier, link: Link) -> FileFacts | D0Error:
    """Return the facts of a copy that has arrived, or why it has not."""
    assert copy.size is not None and copy.checksum is not None
    if not answer["fault"]:
        return FileFacts(copy.size, copy.checksum, answer["inode"], answer["mtime"])
    return fault_of(copy, answer, source, link)


def fault_of(copy: Copy, answer: Frame, source: Courier, link: Link) -> D0Error:
    """Return why a file of a node has not arrived."""
    text = f"`{copy.source}`: {clean(answer['message'])}"
    if answer["fault"] == file_stream.GONE:
        return NotFound(text)
    if answer["fault"] == file_stream.SPOILT:
        return judge(copy, text, source, link)
    return D0Error(text)


def judge(copy: Copy, text: str, source: Courier, link: Link) -> D0Error:
    """Ask the source whether a file that arrived with other contents was damaged in transit."""
    with suppress(D0Error):
        question = {"kind": "hash", "id": secrets.token_hex(16), "path": copy.source}
        answer = source.ask(link, question, TAKE_TIMEOUT_S)
        if answer["ok"] and (answer["size"], answer["checksum"]) == (copy.size, copy.checksum):
            return CorruptedInTransit(f"{text}, but the file on its node is intact")
        return WrongFile(text)
    return D0Error(text)
