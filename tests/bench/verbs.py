"""What a verb takes in the database: for 10^5 packages, a whole job by its flag, and for marks."""

import time
from collections.abc import Iterator
from typing import Any

from d0ctl import actions
from d0ctl.actions import Request, request
from d0ctl.select import parse
from d0ctl.store import Store, open_store
from d0ctl.store.jobs.submission.submit import submit
from d0ctl_tui.read.marks import Marks
from tests.bench.measure import Figure, Options, timed
from tests.bench.site import job, passing_home

COUNT = 100_000
BUDGET = "2 s"
MARKS = 10_000
MARKS_BUDGET = "1 s"
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
    for layout, step in (("contiguous", 1), ("scattered", 2)):
        with passing_home() as home, open_store(home) as store:
            submit(store, job(step * MARKS), now=time.time(), actor="bench", name="bench")
            yield _kill_marked(store, layout, range(1, step * MARKS + 1, step))


def _kill_marked(store: Store, layout: str, lines: range) -> Figure:
    """Time marks of packages, from the selection and its preview to the commit."""
    marks = Marks({f"{PARTS}/{line}/1" for line in lines})
    with timed() as clock:
        asked = request("kill", marks.selection() or parse(PARTS))
        seen = actions.preview(store, asked, now=time.time()).seen
        actions.apply(store, asked, actor="bench", note=None, now=time.time(), seen=seen)
    name = f"kill of {MARKS:,} {layout} marks in the dashboard, with its preview"
    return Figure("", name, clock.wall, "s", MARKS_BUDGET, note=f"{clock.cpu:.1f} s of CPU")


def _figure(store: Store, asked: Request[Any]) -> Figure:
    with timed() as clock:
        plan = actions.apply(store, asked, actor="bench", note=None, now=time.time())
    name = f"{asked.name} of {plan.packages:,} packages"
    return Figure("", name, clock.wall, "s", BUDGET, note=f"{clock.cpu:.1f} s of CPU")
