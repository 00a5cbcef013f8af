"""P4: the scheduler's pass beside few and many waiting packages."""

import statistics
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager

from d0ctl.daemon.desk import Desk
from d0ctl.daemon.steps.schedule import schedule
from d0ctl.daemon.turn import Turn
from d0ctl.dropbox import DropBox
from d0ctl.nodes.link import Site
from d0ctl.nodes.transports.transport import Address
from d0ctl.site_key import Signer
from d0ctl.store import open_store
from d0ctl.store.jobs.submission.submit import submit
from d0ctl.store.nodes import contact, registry
from tests.bench.measure import Figure, Options, timed
from tests.bench.site import job, passing_home

CPUS = 32
PASSES = 50


def measure(options: Options) -> Iterator[Figure]:
    """Milliseconds of a pass that fills 32 slots, and how they grow with what waits."""
    counts = (1_000, 100_000, 1_000_000) if options.full else (1_000, 100_000)
    base, *others = passes(counts)
    yield Figure("P4", f"pass for {CPUS} slots, {counts[0]:,} wait", base * 1000, "ms")
    for count, took in zip(counts[1:], others, strict=True):
        yield Figure("P4", f"pass for {CPUS} slots, {count:,} wait", took * 1000, "ms")
        yield Figure("P4", "  over that at 1,000", took / base, "x", "1.5")


def passes(counts: Sequence[int]) -> list[float]:
    """CPU seconds of one pass in a home of each size, the median of many; each is rolled back.

    The homes take turns: the machine may be slower for a second, and that would look like growth.
    """
    with ExitStack() as stack:
        desks = [stack.enter_context(_desk(count)) for count in counts]
        times: list[list[float]] = [[] for _ in desks]
        for _ in range(PASSES):
            for desk, found in zip(desks, times, strict=True):
                desk.store.connection.execute("begin immediate")
                with timed() as clock:
                    schedule(desk, Turn(time.time()))
                desk.store.connection.execute("rollback")
                found.append(clock.cpu)
        return [statistics.median(found) for found in times]


@contextmanager
def _desk(count: int) -> Iterator[Desk]:
    """The hands of a daemon in a home where so many packages wait."""
    with passing_home() as home, open_store(home) as store:
        submit(store, job(count // 2, successors=True), now=time.time(), actor="bench")
        node = registry.add(store, Address("far", "ssh", "nobody@127.0.0.1:1"), cpus=CPUS)
        with store.writing():
            contact.up(store, node, {"cpus": CPUS, "base": "/nowhere"}, now=time.time())
        site = Site("bench", home.nodes, home.known_hosts, home.dropbox)
        yield Desk(home, store, DropBox(home.dropbox, Signer(home).tokens), site)
