"""P8: a real production on this machine, against the work in it."""

import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from d0ctl.config import Home
from d0ctl.store import open_store
from tests.bench.measure import Figure, Options, process
from tests.bench.site import d0ctl

JOB = Path(__file__).resolve().parents[2] / "examples" / "zpeak" / "job.yaml"

WORK = """
select stage.lines, sum(attempt.ended - attempt.started)
  from binary_attempt as attempt
  join attempt as whole on whole.id = attempt.attempt_id
  join package on package.id = whole.package_id
  join stage on stage.id = package.stage_id
 group by stage.id
"""
"""The seconds that the binaries of each stage ran."""


def measure(options: Options) -> Iterator[Figure]:
    """Wall seconds of `d0ctl run`, and their ratio to the binaries' own divided by the slots."""
    slots = os.cpu_count() or 1
    with tempfile.TemporaryDirectory(prefix="d0ctl-bench-") as folder:
        home = Home(Path(folder) / "home")
        took = process(d0ctl(home, "run", JOB, "--set", f"python={sys.executable}")).wall
        with open_store(home, read_only=True) as store:
            stages = store.connection.execute(WORK).fetchall()
    ideal = sum(work / min(slots, lines) for lines, work in stages)
    yield Figure("P8", "examples/zpeak, d0ctl run", took, "s", "90 s")
    yield Figure("P8", f"  over pure work in {slots} slots", took / ideal, "x", "1.03")
