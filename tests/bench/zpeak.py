"""P8: a real production on this machine, against the work in it."""

import heapq
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from d0ctl.config import Home
from d0ctl.store import open_store
from tests.bench.measure import Figure, Options, process
from tests.bench.site import d0ctl

JOB = Path(__file__).resolve().parents[2] / "examples" / "zpeak" / "job.yaml"

BINARIES = """
select stage.id as stage, stage.lines, package.line_id as line, package.id as package,
       attempt.started, attempt.ended
  from binary_attempt as attempt
  join attempt as whole on whole.id = attempt.attempt_id
  join package on package.id = whole.package_id
  join stage on stage.id = package.stage_id
 order by attempt.started
"""
"""When the binaries ran."""


def measure(options: Options) -> Iterator[Figure]:
    """Wall seconds of `d0ctl run`, and their ratio to the binaries' own divided by the slots."""
    slots = os.cpu_count() or 1
    with tempfile.TemporaryDirectory(prefix="d0ctl-bench-") as folder:
        home = Home(Path(folder) / "home")
        began = time.time()
        took = process(d0ctl(home, "run", JOB, "--set", f"python={sys.executable}")).wall
        with open_store(home, read_only=True) as store:
            rows = store.connection.execute(BINARIES).fetchall()
    ideal = sum((row["ended"] - row["started"]) / min(slots, row["lines"]) for row in rows)
    first, last = rows[0]["started"] - began, max(row["ended"] for row in rows) - began
    yield Figure("P8", "examples/zpeak, d0ctl run", took, "s", "90 s")
    yield Figure(
        "P8",
        f"  over pure work in {slots} slots",
        took / ideal,
        "x",
        "1.03",
        f"{first:.2f} s before the first binary, {took - last:.2f} s after the last",
    )
    bare = gapless(rows, slots)
    yield Figure("P8", "  over its binaries in this order, without any pause", took / bare, "x", "",
                 f"{bare - ideal:.2f} s of slots that have nothing to run")  # fmt: skip


def gapless(rows: Sequence[Mapping[str, Any]], slots: int) -> float:
    """Return how long binaries take, in the order of their starts, on slots that never pause.

    A package begins after the former one of its line, and after all of former stages.
    """
    packages: dict[int, tuple[int, int, float]] = {}
    for row in rows:
        seconds = packages.get(row["package"], (0, 0, 0.0))[2] + row["ended"] - row["started"]
        packages[row["package"]] = row["stage"], row["line"], seconds
    free, stage, ends = [0.0] * slots, 0, {0: 0.0}
    for its_stage, line, seconds in packages.values():
        if its_stage != stage:
            stage, ends = its_stage, {0: max(ends.values())}
        start = max(heapq.heappop(free), ends.get(line, ends[0]))
        ends[line] = start + seconds
        heapq.heappush(free, ends[line])
    return max(ends.values())
