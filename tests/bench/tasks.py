"""P3 for tasks: packages that agents make of files, all at once or as nodes need them."""

from collections.abc import Iterator
from pathlib import Path

from d0ctl.agents import round as rounds
from d0ctl.store import Store, open_store
from d0ctl.store.tasks import submission
from d0ctl.taskfile import reader
from tests.bench.measure import Figure, Options, timed
from tests.bench.site import passing_home

TEXT = """task: bench
inputs: {{seeds: {{range: [1, {count}]}}}}
split: {{at-once: {at_once}}}
process:
  run: process {{files}} > out{{package.index}}.dat
  outputs: ["out{{package.index}}.dat"]
"""


def measure(options: Options) -> Iterator[Figure]:
    """CPU seconds of the agents, from the submission to the last package that is made."""
    yield Figure("P3", "task, 100,000 packages at once, CPU", made(100_000, at_once="yes"), "s")
    yield Figure("P3", "task, 1,000,000 files, 50 packages, CPU", made(1_000_000), "s")


def made(count: int, *, at_once: str = "no") -> float:
    """CPU seconds until the agents of a task over so many numbers rest."""
    with passing_home() as home, open_store(home) as store:
        text = TEXT.format(count=count, at_once=at_once)
        spec = reader.read_text(text, "bench.yaml", Path("/"))
        submission.submit(store, spec, now=0.0, actor="bench")
        with timed() as clock:
            _work(store)
        packages = store.connection.execute("select count(*) from package").fetchone()[0]
        assert packages == (count if at_once == "yes" else 50)
        return clock.cpu


def _work(store: Store) -> None:
    while rounds.take(store):
        pass
