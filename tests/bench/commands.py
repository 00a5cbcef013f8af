"""P5: verbs as whole processes, on a home with many packages."""

import time
from collections.abc import Iterator, Mapping, Sequence

from d0ctl.store import open_store
from d0ctl.store.jobs.submission.submit import submit
from tests.bench.measure import D0CTL, NOTHING, PYTHON, Figure, Options, median, process
from tests.bench.site import d0ctl, job, passing_home

RUNS = 5


def measure(options: Options) -> Iterator[Figure]:
    """Seconds of each verb, and how many times those of python doing nothing."""
    count = 1_000_000 if options.full else 100_000
    with passing_home() as home:
        with open_store(home) as store:
            submit(store, job(count, files=True), now=time.time(), actor="bench")
        nothing = _seconds([PYTHON, "-c", "pass"])
        yield Figure("P5", "python -c pass", nothing, "s")
        took = _seconds([*D0CTL, "--version"])
        yield from _figure("d0ctl --version", took, nothing, "2 x python -c pass")
        for what, words, budget in (
            ("status", ["status"], "0.25 s"),
            ("status JOB", ["status", "bench"], "0.25 s"),
            ("why PACKAGE", ["why", f"bench/1/{count}/1"], "0.25 s"),
        ):
            took = _seconds(d0ctl(home, *words))
            yield from _figure(f"d0ctl {what} at {count:,}", took, nothing, budget)
        completion = {
            "_D0CTL_COMPLETE": "complete_bash",
            "COMP_WORDS": "d0ctl status be",
            "COMP_CWORD": "2",
            "D0CTL_HOME": str(home.root),
        }
        took = _seconds(list(D0CTL), completion)
        yield from _figure(f"TAB after `status be` at {count:,}", took, nothing, "0.2 s")


def _figure(what: str, took: float, nothing: float, budget: str) -> Iterator[Figure]:
    yield Figure("P5", what, took, "s", budget, note=f"{took / nothing:.1f} x python -c pass")


def _seconds(command: Sequence[str], environment: Mapping[str, str] = NOTHING) -> float:
    """Wall seconds of a process, the median of some runs after one that does not count."""
    process(command, environment)
    return median(RUNS, lambda: process(command, environment).wall)
