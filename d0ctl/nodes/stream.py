"""A stream of files from one node to another: directly, or through this machine's memory.

One process on each node sends and receives (docs/protocol.md). The receiver checks size and
checksum of each file before it moves it to its path, by an order that only this machine writes.
"""

import secrets
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from typing import Any, Protocol

from d0ctl.errors import D0Error, NodeUnreachable, NotFound
from d0ctl.nodes.carry import TAKE_TIMEOUT_S, Copy
from d0ctl.nodes.courier import Courier
from d0ctl.nodes.direct import Login, NoLogin
from d0ctl.nodes.link import Frame, Link
from d0ctl.nodes.reports import FileFacts, LoginTried
from d0ctl.nodes.transports.bulk import both
from d0ctl.nodes.transports.download import Garbled, Spoilt
from d0ctl.nodes.transports.transport import IO_TIMEOUT_S
from d0ctl.units import clean
from d0ctl_wrapper.protocol import file_stream, stamp
from d0ctl_wrapper.protocol.checks import shape

LONGEST_S, SLOWEST = 300.0, 50_000
"""How long a stream may take, and how many bytes a second it has to move beyond that.

Otherwise a node that sends a byte now and then would keep others from their streams.
"""

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
        """What it printed as an error."""

    def close(self) -> None:
        """End the stream."""


def carry(
    copies: Sequence[Copy],
    source: Courier,
    target: Courier,
    logins: Sequence[Login] = (),
    note: Callable[[LoginTried], None] = lambda tried: None,
) -> list[FileFacts | D0Error]:
    """Copy files from the cache of one node to that of another; return what came of each.

    Sizes and checksums of all of them are known. They go directly by the first of `logins` that
    can be made; `note` gets each try. Raises D0Error when none could be copied.
    """
    for login in logins:
        try:
            return _carry_directly(copies, source, target, login, note)
        except NoLogin as error:
            note(LoginTried(login.caller.node, login.callee.node, str(error)))
    here, there = source.open_link(), target.open_link()
    with ExitStack() as stack:
        size = _size(copies)
        ends = (source, here.transport), (target, there.transport)
        sender, receiver = stack.enter_context(both(ends, size))
        sink = stack.enter_context(closing(_start(receiver, there, "receive")))
        feed = stack.enter_context(closing(_start(sender, here, "send")))
        with _bounded(LONGEST_S + size / SLOWEST, feed, sink):
            answers = _carry(copies, _End(feed, here.base), _End(sink, there.base))
    return [_outcome(*pair, source, here) for pair in zip(copies, answers, strict=True)]


def _carry_directly(
    copies: Sequence[Copy],
    source: Courier,
    target: Courier,
    login: Login,
    note: Callable[[LoginTried], None],
) -> list[FileFacts | D0Error]:
    """Have one node log in at the other for the stream. Raises NoLogin."""
    here, there = source.open_link(), target.open_link()
    with ExitStack() as stack:
        sink = stack.enter_context(closing(_start(there.transport, there, "receive")))
        feed = stack.enter_context(closing(_start(here.transport, here, "send")))
        ends = _End(feed, here.base), _End(sink, there.base)
        with _bounded(LONGEST_S + _size(copies) / SLOWEST, feed, sink):
            with _faults(*ends):
                _connect(copies, *ends, login, is_push=login.caller is source)
                note(LoginTried(login.caller.node, login.callee.node, ""))
                answers = _answers(ends[1], copies)
    return [_outcome(*pair, source, here) for pair in zip(copies, answers, strict=True)]


def _connect(
    copies: Sequence[Copy], feed: "_End", sink: "_End", login: Login, *, is_push: bool
) -> None:
    """Give both ends their orders, and wait until one has logged in at the other."""
    nonce = secrets.token_hex(16)
    orders = login.order(is_caller=not is_push), login.order(is_caller=is_push)
    sink.pipe.write(_order(nonce, sink.base, _wanted(copies), orders[0]))
    offsets = _offsets(sink, nonce)
    command = login.command(sink.line()) if is_push else ""
    feed.pipe.write(_order(nonce, feed.base, _sent(copies, offsets), orders[1]))
    feed.skip_greeting(nonce)
    caller = feed if is_push else sink
    caller.pipe.write(login.call(command or login.command(feed.line())))
    login.check(caller.line())


def _size(copies: Sequence[Copy]) -> int:
    return sum(copy.size or 0 for copy in copies)


@contextmanager
def _bounded(seconds: float, *pipes: Pipe) -> Iterator[None]:
    """Close the pipes if the block takes longer."""

    def end() -> None:
        for pipe in pipes:
            with suppress(Exception):
                pipe.close()

    timer = threading.Timer(seconds, end)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


class _End:
    """One end of a stream: its process, and the base of its node."""

    def __init__(self, pipe: Pipe, base: str) -> None:
        self.pipe, self.base = pipe, base
        self._rest = b""

    def lines(self, most: int) -> Iterator[bytes]:
        """Yield at most so many lines. Raises NodeUnreachable if they end before."""
        for _ in range(most):
            yield self.line()

    def line(self) -> bytes:
        """Return the next line. Raises NodeUnreachable if there is none."""
        while b"\n" not in self._rest:
            data = self.pipe.read(TAKE_TIMEOUT_S)
            if not data or len(self._rest) > file_stream.LONGEST_LINE:
                raise NodeUnreachable(self.pipe.stderr() or "the end of a stream has ended")
            self._rest += data
        line, _, self._rest = self._rest.partition(b"\n")
        return line

    def skip_greeting(self, nonce: str) -> None:
        """Read past what a login shell prints. Raises ValueError if that does not end."""
        mark = file_stream.greet(nonce)[:-1]
        printed = 0
        for line in self.lines(1 << 20):
            printed += len(line)
            if line.rstrip().endswith(mark):
                break
            if printed > file_stream.LONGEST_ORDER:
                raise ValueError("prints without end")


def _start(transport: Any, link: Link, word: str) -> Pipe:
    pipe: Pipe = transport.start(f"{link.program} {word}")
    return pipe


def _carry(copies: Sequence[Copy], feed: _End, sink: _End) -> list[Frame]:
    """Send the orders, pass on the bytes, and return the answers of the receiver."""
    nonce = secrets.token_hex(16)
    with _faults(feed, sink):
        sink.pipe.write(_order(nonce, sink.base, _wanted(copies)))
        offsets = _offsets(sink, nonce)
        feed.pipe.write(_order(nonce, feed.base, _sent(copies, offsets)))
        feed.pipe.finish()
        _pass_on(feed.pipe, sink.pipe)
        sink.pipe.finish()
        return _answers(sink, copies)


@contextmanager
def _faults(feed: _End, sink: _End) -> Iterator[None]:
    """Name the fault of an end if the stream between them breaks."""
    try:
        yield
    except NoLogin:
        raise
    except ValueError as error:
        raise NodeUnreachable(f"an end of a stream sent nonsense: it {error}") from error
    except NodeUnreachable as error:
        said = [end.pipe.stderr() for end in (sink, feed)]
        raise NodeUnreachable("; ".join(map(clean, filter(None, said))) or str(error)) from error


def _wanted(copies: Sequence[Copy]) -> list[Frame]:
    return [{"path": copy.target, "size": copy.size, "checksum": copy.checksum} for copy in copies]


def _sent(copies: Sequence[Copy], offsets: dict[int, int]) -> list[Frame]:
    return [
        {"path": copy.source, "size": copy.size, "offset": offsets.get(number, 0)}
        for number, copy in enumerate(copies)
    ]


def _order(nonce: str, base: str, files: Sequence[Frame], direct: Frame | None = None) -> bytes:
    order = {"nonce": nonce, "base": base, "files": files, "direct": direct}
    return file_stream.encode(order)


def _offsets(sink: _End, nonce: str) -> dict[int, int]:
    """Return from where on the receiver wants files that were cut off before."""
    sink.skip_greeting(nonce)
    return dict(_OFFSETS(shape.decode_bounded(sink.line()))["offsets"])


def _answers(sink: _End, copies: Sequence[Copy]) -> list[Frame]:
    return [_ANSWER(shape.decode_bounded(line)) for line in sink.lines(len(copies))]


def _pass_on(feed: Pipe, sink: Pipe) -> None:
    """Pass on bytes until the sender ends: between two processes here by the kernel."""
    forward = getattr(feed, "forward", None)
    if forward is not None and forward(sink, IO_TIMEOUT_S):
        return
    while data := feed.read(IO_TIMEOUT_S):
        sink.write(data)


def _outcome(copy: Copy, answer: Frame, source: Courier, link: Link) -> FileFacts | D0Error:
    """Return the facts of a copy that has arrived, or why it has not."""
    assert copy.size is not None and copy.checksum is not None
    fault = answer["fault"]
    if not fault:
        return FileFacts(copy.size, copy.checksum, answer["inode"], answer["mtime"])
    text = f"`{copy.source}`: {clean(answer['message'])}"
    if fault == file_stream.GONE:
        return NotFound(text)
    return _judge(copy, text, source, link) if fault == file_stream.SPOILT else D0Error(text)


def _judge(copy: Copy, text: str, source: Courier, link: Link) -> D0Error:
    """Ask the source whether another file that arrived was the fault of the way."""
    with suppress(D0Error):
        question = {"kind": "hash", "id": secrets.token_hex(16), "path": copy.source}
        answer = source.ask(link, question, TAKE_TIMEOUT_S)
        if answer["ok"] and (answer["size"], answer["checksum"]) == (copy.size, copy.checksum):
            return Garbled(f"{text}, and it is whole on its node")
        return Spoilt(text)
    return D0Error(text)
