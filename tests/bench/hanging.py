"""P10: what nodes that hang cost the others, as a ratio within one run."""

import statistics
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from msgspec.structs import replace

from d0ctl.jobfile.spec import BinarySpec, JobSpec, LineSpec, PackageSpec, StageSpec
from d0ctl.store import Store, open_store
from d0ctl.store.jobs.submission.submit import submit
from tests.bench.measure import Figure, Options
from tests.bench.site import counts, daemon, job, passing_home, ssh_nodes, wait_done
from tests.support.sshd import Sshd
from tests.support.waiting import wait_until

SIZES = ((10, 1), (10, 2))
"""How many nodes, and how many of them hang."""

FULL_SIZES = (*SIZES, (200, 20))

ROUNDS = 4
"""An even number: each of the two comes first as often as the other, as the rate falls slowly."""

MOST = 1_500

BUDGET = "1.0 within 10 %"


def measure(options: Options) -> Iterator[Figure]:
    """The rate of nodes that work, while others answer and while they hang; and the ratio."""
    count = min(MOST, options.packages)
    for size, hung in FULL_SIZES if options.full else SIZES:
        healthy, hanging = ratio(count, size, hung)
        yield Figure("P10", f"{count} packages, {size - hung} of {size} nodes", healthy, "/s")
        yield Figure("P10", f"  while {hung} of the nodes hang", hanging, "/s")
        yield Figure("P10", "  as a part of that", hanging / healthy, "", BUDGET)


def ratio(count: int, size: int, hung: int) -> tuple[float, float]:
    """Packages a second of the nodes that work: while all answer, and while some hang.

    Both are medians of rounds, in the order of a, b, b, a. Those that are to hang have packages,
    which wait, and the link to each stays open.
    """
    rates: dict[bool, list[float]] = {False: [], True: []}
    with passing_home() as home, ssh_nodes(home, size, cpus=1) as sshds:
        names = [f"node{number}" for number in range(size)]
        with daemon(home, size), open_store(home) as store:
            _occupy(store, names[:hung])
            _rate(store, "first", count // 4, names[hung:])
            for number in range(ROUNDS):
                for is_hung in (False, True) if number % 2 == 0 else (True, False):
                    with _frozen(sshds[:hung] if is_hung else ()):
                        name = f"round{number}{'hung' if is_hung else ''}"
                        rates[is_hung].append(_rate(store, name, count, names[hung:]))
    return statistics.median(rates[False]), statistics.median(rates[True])


def _rate(store: Store, name: str, count: int, nodes: Sequence[str]) -> float:
    began = time.monotonic()
    number = _submitted(store, nodes, count, ("true",), name)
    wait_done(store, count, number)
    return count / (time.monotonic() - began)


def _submitted(
    store: Store, nodes: Sequence[str], count: int, argv: tuple[str, ...], name: str
) -> int:
    """The number of a job for some nodes only."""
    submit(store, _on(nodes, count, argv, name), now=time.time(), actor="bench", name=name)
    row = store.connection.execute("select id from job where name = ?", [name]).fetchone()
    return int(row[0])


def _occupy(store: Store, nodes: Sequence[str]) -> None:
    """Let those nodes that are to hang have something to do all the time."""
    number = _submitted(store, nodes, len(nodes), ("sleep", "3600"), "long")
    wait_until(lambda: counts(store, number).get("running", 0) == len(nodes), 60.0, "they run")


@contextmanager
def _frozen(sshds: Sequence[Sshd]) -> Iterator[None]:
    for sshd in sshds:
        sshd.freeze()
    try:
        yield
    finally:
        for sshd in sshds:
            sshd.thaw()


def _on(nodes: Sequence[str], count: int, argv: tuple[str, ...], name: str) -> JobSpec:
    """A job for some nodes only."""
    lines = tuple(
        LineSpec(str(n), (PackageSpec("p", (BinarySpec("b", argv=argv),), nodes=tuple(nodes)),))
        for n in range(count)
    )
    return replace(job(count, name=name), stages=(StageSpec("all", lines),))
