"""P5: verbs as whole processes, on a home with many packages."""

import statistics
import time
from collections.abc import Iterator, Mapping, Sequence

from d0ctl.config import Home
from d0ctl.store import open_store
from d0ctl.store.jobs.submission.submit import submit
from tests.bench.measure import D0CTL, NOTHING, PYTHON, Figure, Options, process
from tests.bench.site import d0ctl, job, passing_home

RUNS = 11

Command = tuple[str, Sequence[str], Mapping[str, str], str]
"""A name, the words, what is added to the environment, and the budget."""


def measure(options: Options) -> Iterator[Figure]:
    """CPU time of each verb, as a multiple of that of python doing nothing."""
    count = 1_000_000 if options.full else 100_000
    with passing_home() as home:
        with open_store(home) as store:
            submit(store, job(count, files=True), now=time.time(), actor="bench")
        nothing: Command = ("python -c pass", [PYTHON, "-c", "pass"], NOTHING, "")
        commands = _commands(home, count)
        found = _seconds([nothing, *commands])
    yield Figure("P5", nothing[0], found[0], "s")
    for (what, _, _, budget), took in zip(commands, found[1:], strict=True):
        yield Figure("P5", what, took / found[0], "x", budget, note=f"{took:.3f} s of CPU")


def _commands(home: Home, count: int) -> list[Command]:
    completion = {
        "_D0CTL_COMPLETE": "complete_bash",
        "COMP_WORDS": "d0ctl status be",
        "COMP_CWORD": "2",
        "D0CTL_HOME": str(home.root),
    }
    at = f"at {count:,}"
    return [
        ("d0ctl --version", [*D0CTL, "--version"], NOTHING, "2"),
        (f"d0ctl status {at}", d0ctl(home, "status"), NOTHING, "6"),
        (f"d0ctl status JOB {at}", d0ctl(home, "status", "bench"), NOTHING, "6"),
        (f"d0ctl why PACKAGE {at}", d0ctl(home, "why", f"bench/1/{count}/1"), NOTHING, "6"),
        (f"TAB after `status be` {at}", D0CTL, completion, "5"),
    ]


def _seconds(commands: Sequence[Command]) -> list[float]:
    """CPU seconds of each, the median of runs in which they take turns; the first counts not."""
    spent: list[list[float]] = [[] for _ in commands]
    for _ in range(RUNS + 1):
        for (_, words, environment, _), found in zip(commands, spent, strict=True):
            found.append(process(words, environment).cpu)
    return [statistics.median(found[1:]) for found in spent]
