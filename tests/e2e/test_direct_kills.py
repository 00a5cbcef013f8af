"""Packages with jobs of their own in a real Slurm, while the daemon or its controller is killed."""

from functools import partial

from tests.e2e.pilots import apply, began, start
from tests.e2e.test_direct import DIRECT
from tests.support.site import Site
from tests.support.slurm import Slurm

MANY = """\
job: many
stages: [{lines: [{for: {i: {range: [1, 40]}}, run: 'echo {i} > {i}.txt', outputs: ['{i}.txt']}]}]
"""

WAITING = """\
job: waiting
stages:
  - lines:
      - for: {{i: {{range: [1, 20]}}}}
        run: >-
          echo {{i}} >> {folder}/began;
          until [ -e {folder}/go ]; do sleep 0.05; done; echo {{i}} > {{i}}.txt
        outputs: ["{{i}}.txt"]
"""


def has_more(batch: Site, before: int) -> bool:
    """Whether more packages are done than before."""
    return batch.look().get("done", 0) > before


def test_a_killed_daemon_loses_no_job_of_a_package(batch: Site) -> None:
    start(batch, DIRECT)
    batch.submit(MANY)
    for _ in range(2):
        before = batch.look().get("done", 0)
        batch.wait(partial(has_more, batch, before), what="some more are done")
        batch.kill_daemon()
        batch.start_daemon()
    (batch.folder / "go").touch()

    batch.wait(lambda: batch.look() == {"done": 41}, what="all are done")
    assert len(began(batch)) == 1
    assert batch.ask("select count(*) from attempt") == [(41,)]


def test_a_killed_controller_loses_no_job_of_a_package(batch: Site, engine: Slurm) -> None:
    apply(batch, DIRECT)
    batch.start_daemon()
    batch.submit(WAITING.format(folder=batch.folder))
    batch.wait(lambda: len(began(batch)) == 8, what="Slurm is full")

    with engine.without_controller():
        batch.kill_daemon()
        batch.start_daemon()
    (batch.folder / "go").touch()

    batch.wait(lambda: batch.look() == {"done": 20}, what="all are done")
    assert sorted(map(int, began(batch))) == list(range(1, 21))
    assert batch.ask("select count(*) from attempt") == [(20,)]
