"""What a verb takes in the database for 10^5 packages, and for a whole job by its flag."""

import time
from collections.abc import Iterator
from typing import Any

from d0ctl import actions
from d0ctl.actions import Request, request
from d0ctl.select import parse
from d0ctl.store import Store, open_store
from d0ctl.store.jobs.submit import submit
from tests.bench.measure import Figure, Options, timed
from tests.bench.site import job, passing_home

COUNT = 100_000
BUDGET = "2 s"
PARTS = "bench/1"

CASES: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("hold", PARTS, {}),
    ("release", PARTS, {}),
    ("kill", PARTS, {}),
    ("retry", f"{PARTS}:canceled", {}),
    ("kill-line", "bench/1/*", {"drop_outputs": True}),
    ("restore-line", "bench/1/*", {}),
    ("pause", "bench", {}),
    ("priority", "bench", {"priority": 60}),
)


def measure(options: Options) -> Iterator[Figure]:
    """Seconds from the request to the commit, one verb after the other on the same packages."""
    with passing_home() as home, open_store(home) as store:
        submit(store, job(COUNT, files=True), now=time.time(), actor="bench", name="bench")
        for verb, target, more in CASES:
            yield _figure(store, request(verb, parse(target), **more))


def _figure(store: Store, asked: Request[Any]) -> Figure:
    with timed() as clock:
        plan = actions.apply(store, asked, actor="bench", note=None, now=time.time())
    name = f"{asked.name} of {plan.packages:,} packages"
    return Figure("", name, clock.wall, "s", BUDGET, note=f"{clock.cpu:.1f} s of CPU")
