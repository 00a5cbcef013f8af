"""A stream of files from one node to another: directly, or through this machine's memory.

One process on each node sends and receives (docs/protocol.md). The receiver checks size and
checksum of each file before it moves it to its path, by an order written here.
"""

import secrets
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing

from d0ctl.errors import D0Error, NodeUnreachable
from d0ctl.nodes.carry import Copy
from d0ctl.nodes.courier import Courier
from d0ctl.nodes.courier_reports import FileFacts, LoginTried
from d0ctl.nodes.direct import Login, NoLogin
from d0ctl.nodes.link import Frame
from d0ctl.nodes.stream_ends import (
    End,
    Pipe,
    answers_of,
    bounded,
    faults,
    offsets_of,
    order,
    outcome,
    sent,
    size_of,
    standing,
    start,
    wanted,
)
from d0ctl.nodes.transports import bulk
from d0ctl.nodes.transports.transport import IO_TIMEOUT_S
from d0ctl_wrapper.protocol import file_stream
from d0ctl_wrapper.protocol.checks import json_text

MOST_READ = 1 << 20
"""The most bytes that are passed on at once."""


def carry(
    copies: Sequence[Copy],
    source: Courier,
    target: Courier,
    logins: Sequence[Login] = (),
    note: Callable[[LoginTried], None] = lambda tried: None,
) -> list[FileFacts | D0Error]:
    """Copy files from the cache of one node to that of another; return the result for each.

    All sizes and checksums are known. They go directly by the first of `logins` that
    works; `note` gets each try. Raises D0Error if none could be copied.
    """
    for login in logins:
        try:
            return _carry_directly(copies, source, target, login, note)
        except NoLogin as error:
            note(LoginTried(login.caller.node, login.callee.node, str(error)))
    here, there = source.open_link(), target.open_link()
    size = size_of(copies)
    with ExitStack() as stack:
        if size < bulk.BULK:
            sink = stack.enter_context(standing(there, file_stream.RECEIVES))
            source_end = stack.enter_context(standing(here, file_stream.SENDS))
        else:
            reached = (source, here.transport), (target, there.transport)
            sender, receiver = stack.enter_context(bulk.both(reached, size))
            sink = End(stack.enter_context(closing(start(receiver, there, "receive"))), there.base)
            source_end = End(stack.enter_context(closing(start(sender, here, "send"))), here.base)
        with bounded(size, source_end.pipe, sink.pipe):
            answers = _carry(copies, source_end, sink, is_last=size >= bulk.BULK)
    return [outcome(*pair, source, here) for pair in zip(copies, answers, strict=True)]


def _carry_directly(
    copies: Sequence[Copy],
    source: Courier,
    target: Courier,
    login: Login,
    note: Callable[[LoginTried], None],
) -> list[FileFacts | D0Error]:
    """Have one node log in to the other for the stream. Raises NoLogin."""
    here, there = source.open_link(), target.open_link()
    with ExitStack() as stack:
        sink = stack.enter_context(closing(start(there.transport, there, "receive")))
        source_end = stack.enter_context(closing(start(here.transport, here, "send")))
        ends = End(source_end, here.base), End(sink, there.base)
        with bounded(size_of(copies), source_end, sink):
            with faults(*ends):
                _connect(copies, *ends, login, is_push=login.caller is source)
                note(LoginTried(login.caller.node, login.callee.node, ""))
                answers = answers_of(ends[1], copies)
    return [outcome(*pair, source, here) for pair in zip(copies, answers, strict=True)]


def _connect(
    copies: Sequence[Copy], source: End, sink: End, login: Login, *, is_push: bool
) -> None:
    """Send both ends their orders, and wait until one has logged in to the other."""
    nonce = secrets.token_hex(16)
    orders = login.order(is_caller=not is_push), login.order(is_caller=is_push)
    sink.pipe.write(order(nonce, sink.base, wanted(copies), orders[0]))
    offsets = offsets_of(sink, nonce)
    command = login.command(sink.line()) if is_push else ""
    source.pipe.write(order(nonce, source.base, sent(copies, offsets), orders[1]))
    source.skip_greeting(nonce)
    caller = source if is_push else sink
    caller.pipe.write(login.call(command or login.command(source.line())))
    login.check(caller.line())


def _carry(copies: Sequence[Copy], source: End, sink: End, *, is_last: bool) -> list[Frame]:
    """Send the orders, pass on the bytes, and return the answers of the receiver."""
    nonce = secrets.token_hex(16)
    with faults(source, sink):
        sink.pipe.write(order(nonce, sink.base, wanted(copies)))
        offsets = offsets_of(sink, nonce)
        source.pipe.write(order(nonce, source.base, sent(copies, offsets)))
        if is_last:
            source.pipe.finish()
            try:
                _copy_bytes(source.pipe, sink.pipe)
                sink.pipe.finish()
            except NodeUnreachable as error:
                # the receiver may end when it has all files, before the last byte of the sender
                if not isinstance(error.__cause__, BrokenPipeError):
                    raise
        else:
            source.skip_greeting(nonce)
            sink.pipe.write(file_stream.greet(nonce))
            _copy_files(source, sink, len(copies))
        return answers_of(sink, copies)


def _copy_bytes(source: Pipe, sink: Pipe) -> None:
    """Pass on bytes until the sender ends: between two processes here, by the kernel."""
    forward = getattr(source, "forward", None)
    if forward is not None and forward(sink, IO_TIMEOUT_S):
        return
    while data := source.read(IO_TIMEOUT_S):
        sink.write(data)


def _copy_files(source: End, sink: End, files: int) -> None:
    """Pass on so many files. Raises ValueError if the sender goes on behind their END."""
    line, left = b"", 0
    while True:
        data = source.read(MOST_READ)
        at = 0
        while at < len(data):
            if left:
                step = min(left, len(data) - at)
                at, left = at + step, left - step
                continue
            if not files and data[at:] == file_stream.END:
                sink.pipe.write(data[:at])
                return
            end = data.find(b"\n", at)
            line += data[at:] if end < 0 else data[at:end]
            if len(line) > file_stream.LONGEST_LINE or not files:
                raise ValueError("goes on behind its files")
            if end < 0:
                break
            left = file_stream.ENTRY(json_text.decode_bounded(line))["size"]
            line, files, at = b"", files - 1, end + 1
        sink.pipe.write(data)
