"""P7: wrappers beside binaries that run long, tell their progress and are watched for all."""

import statistics
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from d0ctl.config import Home
from d0ctl.jobfile.reader import read
from d0ctl.nodes.transports.transport import Address
from d0ctl.store import Store, open_store
from d0ctl.store.jobs.submission.submit import submit
from d0ctl.store.nodes import registry
from tests.bench.measure import Figure, Options, cpu_to_the_nanosecond, pss_of
from tests.bench.site import counts, daemon, passing_home, wait_done
from tests.support.waiting import wait_until

AT_ONCE = (4, 64)
"""How many packages run side by side: a few, and as many as a large node has cpus."""

STEPS = 60
SETTLED_S = 20.0
WATCHED_S = 25.0

JOB = """job: bench
stages:
  - name: a
    lines:
      - for: {{i: {{range: [1, {packages}]}}}}
        memory: 50MB
        wall-time: 1h
        looping: 30m
        run: |
          date +%s.%N
          for step in $(seq {steps}); do echo "$step/{steps}" >> "$D0CTL_PROGRESS"; sleep 1; done
"""


def measure(options: Options) -> Iterator[Figure]:
    """CPU share and memory of a wrapper, and the time from its start to that of its binary."""
    for packages in AT_ONCE:
        yield from _measure(packages)


def _measure(packages: int) -> Iterator[Figure]:
    with passing_home() as home:
        with open_store(home) as store:
            registry.add(store, Address("here", "local"), cpus=packages)
            path = home.root.parent / "bench.yaml"
            path.write_text(JOB.format(packages=packages, steps=STEPS))
            submit(store, read(path), now=time.time(), actor="bench")
        with daemon(home, 1), open_store(home, read_only=True) as store:
            wait_until(lambda: counts(store).get("running", 0) == packages, 30, "all run")
            threading.Event().wait(SETTLED_S)
            yield from _watched(home, packages)
            wait_done(store, packages)
            waits = [_start_to_exec(home, store, attempt) for attempt in range(1, packages + 1)]
    took = statistics.median(waits) * 1000
    yield Figure("P7", f"start to exec, {packages} at once", took, "ms", "30 ms")


def _watched(home: Home, packages: int) -> Iterator[Figure]:
    wrappers = [int(path.read_text().split()[0]) for path in _files(home, "wrapper")]
    before = sum(map(cpu_to_the_nanosecond, wrappers))
    threading.Event().wait(WATCHED_S)
    used = sum(map(cpu_to_the_nanosecond, wrappers)) - before
    share = used / WATCHED_S * 100
    if packages == min(AT_ONCE):
        yield Figure("P7", "wrapper, share of a core", share / len(wrappers), "%", "0.02 %")
    else:
        yield Figure("P7", f"{packages} wrappers altogether, of a core", share, "%", "1 %")
    memory = statistics.median(map(pss_of, wrappers)) / 1e6
    yield Figure("P7", f"wrapper of {packages}, memory (PSS)", memory, "MB", "5 MB")


def _start_to_exec(home: Home, store: Store, attempt: int) -> float:
    """From the start that a wrapper tells to what its binary prints first of all."""
    row = store.connection.execute("select started from attempt where id = ?", [attempt]).fetchone()
    printed = next(p for p in _files(home, "1.out") if p.parent.name == str(attempt))
    return float(printed.read_text()) - float(row[0])


def _files(home: Home, name: str) -> list[Path]:
    """These files of all attempts on this machine."""
    return list(home.nodes.glob(f"*/*/attempts/*/{name}"))
