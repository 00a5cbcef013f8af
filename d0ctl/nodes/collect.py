"""Streams of files between a node and this machine: many small files by one process there."""

import hashlib
import os
import secrets
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from d0ctl.errors import D0Error, NodeUnreachable
from d0ctl.nodes import carry
from d0ctl.nodes.carry import Copy
from d0ctl.nodes.courier import Courier
from d0ctl.nodes.courier_reports import FileFacts
from d0ctl.nodes.link import Frame
from d0ctl.nodes.stream_ends import (
    End,
    answers_of,
    bounded,
    fault_of,
    faults,
    offsets_of,
    order,
    sent,
    size_of,
    standing,
    wanted,
)
from d0ctl.nodes.transports.download import Limits
from d0ctl_wrapper.protocol import file_stream
from d0ctl_wrapper.protocol.checks import json_text

Outcome = FileFacts | Exception


def fetch(copies: Sequence[Copy], source: Courier) -> list[Outcome]:
    """Copy files from a node to this machine; return the result for each.

    All sizes and checksums are known. Raises NoSpace if less than the reserve would stay free on
    the disk here.
    """
    link = source.open_link()
    asides = [carry.new_aside(copy) for copy in copies]
    size = size_of(copies)
    Limits(size, source.site.reserve).check_space(asides[0].parent, size)
    with ExitStack() as stack:
        for aside in asides:
            stack.callback(aside.unlink, missing_ok=True)
        source_end = stack.enter_context(standing(link, file_stream.SENDS))
        with bounded(size, source_end.pipe), faults(source_end):
            answers = _receive(source_end, copies, asides)
        whole = [
            (copy, aside)
            for copy, aside, answer in zip(copies, asides, answers, strict=True)
            if not answer["fault"]
        ]
        facts = iter(carry.settle_all(whole))
        return [
            fault_of(copy, answer, source, link) if answer["fault"] else next(facts)
            for copy, answer in zip(copies, answers, strict=True)
        ]


def _receive(source: End, copies: Sequence[Copy], asides: Sequence[Path]) -> list[Frame]:
    """Write received bytes to the files aside, and check their checksums."""
    nonce = secrets.token_hex(16)
    source.pipe.write(order(nonce, source.base, sent(copies, {})))
    source.skip_greeting(nonce)
    answers = [_receive_one(source, *pair) for pair in zip(copies, asides, strict=True)]
    if source.line():
        raise NodeUnreachable("the sender of files goes on behind them")
    return answers


def _receive_one(source: End, copy: Copy, aside: Path) -> Frame:
    entry: Frame = file_stream.ENTRY(json_text.decode_bounded(source.line()))
    left, digest = entry["size"], hashlib.sha256()
    if entry["fault"]:
        return entry
    if left != copy.size:
        raise NodeUnreachable("the sender of files sent the wrong file")
    with aside.open("xb") as file:
        while left:
            data = source.read(left)
            digest.update(data)
            file.write(data)
            left -= len(data)
    if f"sha256:{digest.hexdigest()}" != copy.checksum:
        return {"fault": file_stream.SPOILT, "message": "its checksum differs"}
    return entry


def bring(copies: Sequence[Copy], target: Courier) -> list[Outcome]:
    """Copy files of this machine to the cache of a node; return the result for each.

    The size and checksum of a copy are None if unknown.
    """
    outcomes: dict[int, Outcome] = {}
    known: dict[int, Copy] = {}
    for number, copy in enumerate(copies):
        try:
            found = carry.inspected(copy)
            if (found.size or 0) < file_stream.RESUMED:
                known[number] = found
            else:
                outcomes[number] = carry.bring(copy, target, target.open_link())
        except (D0Error, OSError) as error:
            outcomes[number] = error
    if known:
        outcomes.update(zip(known, _bring(list(known.values()), target), strict=True))
    return [outcomes[number] for number in range(len(copies))]


def _bring(copies: Sequence[Copy], target: Courier) -> list[Outcome]:
    link = target.open_link()
    nonce = secrets.token_hex(16)
    with standing(link, file_stream.RECEIVES) as sink:
        with bounded(size_of(copies), sink.pipe), faults(sink):
            sink.pipe.write(order(nonce, sink.base, wanted(copies)))
            offsets = offsets_of(sink, nonce)
            sink.pipe.write(file_stream.greet(nonce))
            for number, copy in enumerate(copies):
                _send_one(sink, copy, offsets.get(number, 0))
            answers = answers_of(sink, copies)
    return [_brought(*pair) for pair in zip(copies, answers, strict=True)]


def _send_one(sink: End, copy: Copy, offset: int) -> None:
    """Send a file of this machine; if it has just changed, its checksum is refused there."""
    assert copy.size is not None
    left = copy.size - offset
    with Path(copy.source).open("rb") as file:
        is_program = bool(os.fstat(file.fileno()).st_mode & 0o100)
        entry = {"size": left, "executable": is_program, "fault": "", "message": ""}
        sink.pipe.write(file_stream.encode(entry))
        file.seek(offset)
        while left:
            data = file.read(min(left, 1 << 20))
            if not data:
                raise D0Error(f"`{copy.source}` became shorter while it was sent")
            sink.pipe.write(data)
            left -= len(data)


def _brought(copy: Copy, answer: Frame) -> Outcome:
    assert copy.size is not None and copy.checksum is not None
    if answer["fault"]:
        return D0Error(f"`{copy.target}`: {answer['message']}")
    return FileFacts(copy.size, copy.checksum, answer["inode"], answer["mtime"])
