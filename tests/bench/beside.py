"""P7: wrappers beside binaries that run long, tell their progress and are watched for all."""

import statistics
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from d0ctl.config import Home
from d0ctl.jobfile.reader import read
from d0ctl.nodes.transports.transport import Address
from d0ctl.store import Store, open_store
from d0ctl.store.jobs.submission.submit import submit
from d0ctl.store.nodes import registry
from tests.bench.bounds import end_leftovers
from tests.bench.measure import Figure, Options, cpu_to_the_nanosecond, pss_of
from tests.bench.site import counts, daemon, passing_home
from tests.support.waiting import wait_until

AT_ONCE = (4, 64)
"""How many packages run side by side: a few, and as many as a large node has cpus."""

SETTLED_S = 20.0
WATCHED_S = 25.0

UP_S = 90.0
"""How long all packages may take until they run; the machine may have other work."""

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
          for step in $(seq 3600); do echo "$step/3600" >> "$D0CTL_PROGRESS"; sleep 1; done
"""


@dataclass(frozen=True, slots=True)
class Field:
    """Packages that run side by side on a node of their own."""

    home: Home
    store: Store
    packages: int

    def wrappers(self) -> list[int]:
        """The process ids of their wrappers."""
        return [int(path.read_text().split()[0]) for path in _files(self.home, "wrapper")]


def measure(options: Options) -> Iterator[Figure]:
    """CPU share and memory of a wrapper, and the time from its start to that of its binary.

    Both fields are watched at the same time, and ended then: one after the other takes 130 s.
    """
    with ExitStack() as stack:
        fields = [stack.enter_context(_at_work(packages)) for packages in AT_ONCE]
        threading.Event().wait(SETTLED_S)
        before = [_cpu(field) for field in fields]
        began = time.monotonic()
        threading.Event().wait(WATCHED_S)
        watched_s = time.monotonic() - began
        shares = [(_cpu(field) - was) / watched_s * 100
                  for field, was in zip(fields, before, strict=True)]  # fmt: skip
        yield Figure("P7", "wrapper, share of a core", shares[0] / min(AT_ONCE), "%", "0.02 %")
        what = f"{max(AT_ONCE)} wrappers altogether, of a core"
        yield Figure("P7", what, shares[1], "%", "1.28 %")
        for field in fields:
            yield from _weighed(field)


def _cpu(field: Field) -> float:
    return sum(map(cpu_to_the_nanosecond, field.wrappers()))


@contextmanager
def _at_work(packages: int) -> Iterator[Field]:
    with passing_home() as home:
        with open_store(home) as store:
            registry.add(store, Address("here", "local"), cpus=packages)
            path = home.root.parent / "bench.yaml"
            path.write_text(JOB.format(packages=packages))
            submit(store, read(path), now=time.time(), actor="bench")
        try:
            with daemon(home, 1), open_store(home, read_only=True) as store:
                wait_until(lambda: counts(store).get("running", 0) == packages, UP_S, "all run")
                yield Field(home, store, packages)
        finally:
            end_leftovers()


def _weighed(field: Field) -> Iterator[Figure]:
    memory = statistics.median(map(pss_of, field.wrappers())) / 1e6
    yield Figure("P7", f"wrapper of {field.packages}, memory (PSS)", memory, "MB", "5 MB")
    waits = [_start_to_exec(field.home, field.store, one) for one in range(1, field.packages + 1)]
    took = statistics.median(waits) * 1000
    yield Figure("P7", f"start to exec, {field.packages} at once", took, "ms", "30 ms")


def _start_to_exec(home: Home, store: Store, attempt: int) -> float:
    """From the start that a wrapper tells to what its binary prints first of all."""
    row = store.connection.execute("select started from attempt where id = ?", [attempt]).fetchone()
    printed = next(p for p in _files(home, "1.out") if p.parent.name == str(attempt))
    return float(printed.read_text()) - float(row[0])


def _files(home: Home, name: str) -> list[Path]:
    """These files of all attempts on this machine."""
    return list(home.nodes.glob(f"*/*/attempts/*/{name}"))
