"""Streams of files between two nodes: how many there are, and a thread for each of them.

A node that hangs delays only its own streams.
"""

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
    batch: list[Any] = []
    size = 0
    for job in sorted(jobs, key=lambda job: job.copy.size or 0):
        if batch and (len(batch) >= MOST_FILES or size + (job.copy.size or 0) > MOST_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(job)
        size += job.copy.size or 0
    if batch:
        yield batch


def run(
    jobs: Sequence[Any],
    source: Courier | None,
    target: Courier | None,
    report: Any,
    callers: Sequence[int] = (),
) -> None:
    """Transfer files in a thread; the end of each is reported, and then that of the stream.

    They go directly if one of the nodes `callers` can log in at the other. None stands for this
    machine.
    """

    def work() -> None:
        copies: list[Copy] = [job.copy for job in jobs]
        began = time.monotonic()
        try:
            outcomes: Sequence[FileFacts | Exception] = _carried(
                copies, source, target, report, callers
            )
        except Exception as error:  # all of them are tried again
            outcomes = [error] * len(jobs)
        took_s = time.monotonic() - began
        sizes = [outcome.size for outcome in outcomes if isinstance(outcome, FileFacts)]
        for job, outcome in zip(jobs, outcomes, strict=True):
            report(_ended(pair.target, job, outcome))
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
