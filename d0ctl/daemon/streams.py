"""Streams of files between two nodes: how many there are, and a thread for each of them.

A node that hangs delays only its own streams.
"""

import itertools
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from msgspec import Struct, field

from d0ctl.nodes import collect, stream
from d0ctl.nodes.carry import Copy
from d0ctl.nodes.courier import Courier
from d0ctl.nodes.courier_reports import FileFacts, Report, StreamEnded, TransferEnded, failed
from d0ctl.nodes.direct import Login

MOST_FILES = 1000
"""The most files of a stream."""

MOST_BYTES = 256_000_000
"""No further file is added to a stream beyond this many bytes."""

FIRST_FILES, FIRST_BYTES = 4, 4_000_000
"""The most files and bytes of the first part of a stream; each part may be twice as long as the one
before it.
"""

MOST_PARTED = 100
"""A stream with more files has one part: a merge that reads them waits for all, and each part costs
a turn of the loop. With parts, a merge of 20,000 files took 9 s of CPU of the daemon instead of 5.
"""

DIRECT = 8_000_000
"""From this many bytes on, a login of one node at the other is worth its start."""


THIS_MACHINE = 0
"""Stands for the control host where a transfer names its node."""


class Pair(NamedTuple):
    """The source and the target node of files; one of them may be THIS_MACHINE."""

    source: int
    target: int


class Limits(NamedTuple):
    """How many streams there may be between two nodes, and at one node."""

    per_link: int
    per_node: int


class Streams(Struct):
    """The streams in progress."""

    busy: Counter[Pair] = field(default_factory=Counter)

    def has_room(self, pair: Pair, limits: Limits) -> bool:
        """Return whether another stream may begin."""
        loads = (self.load(node) for node in pair)
        return self.busy[pair] < limits.per_link and max(loads) < limits.per_node

    def load(self, node: int) -> int:
        """Return how many streams a node takes part in; this machine may take part in any."""
        if node == THIS_MACHINE:
            return 0
        return sum(count for pair, count in self.busy.items() if node in pair)

    def begin(self, pair: Pair) -> None:
        """Record a stream."""
        self.busy[pair] += 1

    def end(self, pair: Pair) -> None:
        """Record its end."""
        self.busy[pair] -= 1
        self.busy += Counter()


def cut(jobs: Sequence[Any]) -> Iterator[list[Any]]:
    """Divide copies into streams of limited length; a large file has one of its own."""
    yield from _divided(sorted(jobs, key=_large_size), itertools.repeat((MOST_FILES, MOST_BYTES)))


def _large_size(job: Any) -> int:
    """Return the size of a large file, which smaller ones should not wait for."""
    size = job.copy.size or 0
    return size if size >= DIRECT else 0


def parts(jobs: Sequence[Any]) -> Iterator[list[Any]]:
    """Divide a stream into parts that grow: packages start as soon as their part has arrived."""
    if len(jobs) > MOST_PARTED:
        yield list(jobs)
        return
    growth = (1 << number for number in itertools.count())
    yield from _divided(jobs, ((FIRST_FILES * by, FIRST_BYTES * by) for by in growth))


def _divided(jobs: Sequence[Any], limits: Iterator[tuple[int, int]]) -> Iterator[list[Any]]:
    """Divide copies in their order by the most files and bytes of each part, at least one file."""
    part: list[Any] = []
    size, (most_files, most_bytes) = 0, next(limits)
    for job in jobs:
        if part and (len(part) >= most_files or size + (job.copy.size or 0) > most_bytes):
            yield part
            part, size, (most_files, most_bytes) = [], 0, next(limits)
        part.append(job)
        size += job.copy.size or 0
    if part:
        yield part


def run(
    jobs: Sequence[Any],
    source: Courier | None,
    target: Courier | None,
    report: Any,
    callers: Sequence[int] = (),
) -> None:
    """Transfer files in a thread; the end of each is reported, and at last that of the stream.

    They go directly if one of the nodes `callers` can log in at the other. None stands for this
    machine.
    """

    def work() -> None:
        began, sizes, left = time.monotonic(), [], list(jobs)
        for part in [left] if callers else parts(jobs):
            copies: list[Copy] = [job.copy for job in part]
            try:
                outcomes = _carried(copies, source, target, report, callers)
            except Exception as error:  # all that are left are tried again
                part, outcomes = left, [error] * len(left)
            for job, outcome in zip(part, outcomes, strict=True):
                report(_ended(pair.target, job, outcome))
            sizes += [outcome.size for outcome in outcomes if isinstance(outcome, FileFacts)]
            left = left[len(part) :]
            if not left:
                break
        took_s = time.monotonic() - began
        report(StreamEnded(pair.target, pair.source, sum(sizes), took_s, len(sizes)))

    pair = Pair(*(THIS_MACHINE if end is None else end.node for end in (source, target)))
    name = " to ".join("here" if end is None else end.address.name for end in (source, target))
    threading.Thread(target=work, name=name, daemon=True).start()


def _carried(
    copies: Sequence[Copy],
    source: Courier | None,
    target: Courier | None,
    report: Any,
    callers: Sequence[int],
) -> Sequence[FileFacts | Exception]:
    """Transfer files and return the result for each."""
    if source is None:
        assert target is not None
        return collect.bring(copies, target)
    if target is None:
        return collect.fetch(copies, source)
    ends = {source.node: (source, target), target.node: (target, source)}
    logins = [Login(*ends[caller]) for caller in callers]
    return stream.carry(copies, source, target, logins, report)


def _ended(node: int, job: Any, outcome: FileFacts | Exception) -> Report:
    if isinstance(outcome, Exception):
        return failed(node, job, outcome)
    return TransferEnded(node, job, None, facts=outcome)
