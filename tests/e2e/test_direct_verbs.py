"""What a person sees and does of packages with jobs of their own in a real Slurm."""

from pathlib import Path

from tests.e2e.pilots import apply, begin, finish, start
from tests.e2e.test_direct import DIRECT, fill, names
from tests.support.site import Site
from tests.support.slurm import Slurm
from tests.support.waiting import wait_until

TALKS = """\
job: talks
stages:
  - lines:
      - run: |
          echo event 25 of 100
          until [ -e {folder}/go ]; do sleep 0.05; done
          echo the end
        progress: {{log: 'event (\\d+) of (\\d+)'}}
"""

ONE = "job: {name}\npriority: {priority}\nstages: [{{lines: [{{run: 'true', cpus: 2}}]}}]\n"


def test_logs_progress_and_files_of_a_running_batch_job_are_seen(batch: Site) -> None:
    apply(batch, DIRECT)
    batch.start_daemon()
    batch.submit(TALKS.format(folder=batch.folder))
    path = "talks/1/1/1"

    batch.wait_phase(path, "running")
    wait_until(lambda: batch.package(path)["progress"]["percent"] == 25.0, what="it is at 25 %")
    assert batch.ok("logs", path) == "event 25 of 100\n"
    assert batch.ok("peek", path, "1.out") == "event 25 of 100\n"
    answer = batch.json("peek", path)
    assert (answer["node"], answer["now"]["phase"]) == ("batch", "running")
    finish(batch)

    assert batch.ok("logs", path) == "event 25 of 100\nthe end\n"


def test_a_held_job_submits_nothing_until_it_is_released(batch: Site, engine: Slurm) -> None:
    apply(batch, DIRECT)
    batch.start_daemon()
    batch.submit(ONE.format(name="held", priority=50), "--hold")
    begin(batch)  # so the daemon has looked for ready packages since

    assert batch.ask("select count(*) from pilot") == [(1,)]
    assert not any("held" in name for name in names(engine))
    batch.ok("release", "held")
    batch.wait_phase("held/1/1/1", "done")
    (batch.folder / "go").touch()
    batch.wait(lambda: batch.look() == {"done": 2}, what="both are done")


def test_packages_of_a_higher_priority_are_submitted_first(batch: Site) -> None:
    apply(batch, f"{DIRECT}, max-jobs: 1")
    batch.start_daemon()
    begin(batch)
    for name, priority in (("low", 10), ("middle", 20), ("high", 90)):
        batch.submit(ONE.format(name=name, priority=priority))
    batch.ok("priority", "middle", "95")
    (batch.folder / "go").touch()

    batch.wait(lambda: batch.ask("select count(*) from attempt where ended > 0") == [(4,)], "ends")
    started = "select job.name from attempt join package on package.id = attempt.package_id"
    order = batch.ask(f"{started} join job on job.id = package.job_id order by attempt.id")
    assert [row[0] for row in order] == ["night", "middle", "high", "low"]


def lowered(engine: Slurm) -> dict[str, int]:
    """By how much each job in the queue is lowered."""
    lines = engine.call("squeue", "--noheader", "--states=PD", "--format=%j %y").splitlines()
    return {name.rpartition("-")[2]: int(nice) for name, nice in map(str.split, lines)}


def test_slurm_lowers_jobs_of_a_priority_below_the_default(batch: Site, engine: Slurm) -> None:
    apply(batch, DIRECT)
    full = fill(batch, engine)
    batch.start_daemon()
    for name, priority in (("low", 30), ("middle", 50), ("high", 90)):
        batch.submit(ONE.format(name=name, priority=priority))
    batch.wait(lambda: len(names(engine)) == 4, what="they are queued")
    assert lowered(engine) == {"low.stage1": 2000, "middle.stage1": 0, "high.stage1": 0}

    batch.ok("priority", "low", "60")
    batch.ok("priority", "middle/1", "10")

    later = {"low.stage1": 0, "middle.stage1": 4000, "high.stage1": 0}
    batch.wait(lambda: lowered(engine) == later, what="they have changed places")
    engine.call("scancel", full)
    batch.wait(lambda: batch.look() == {"done": 3}, what="all are done")


def test_a_queue_that_hangs_keeps_no_package_of_a_job_waiting(batch: Site, tools: Path) -> None:
    start(batch, DIRECT)
    asked, over = tools / "asked", tools / "over"

    (tools / "squeue").write_text(
        f"#!/bin/sh\ntouch {asked}\nuntil [ -e {over} ]; do sleep 0.1; done\nexit 1\n"
    )
    (tools / "squeue").chmod(0o755)
    wait_until(asked.exists, what="it hangs")
    finish(batch)
    assert batch.ask("select fault from cluster where fault is not null") == []

    over.touch()
    batch.wait(lambda: batch.ask("select 1 from cluster where fault_of = 'queue'"), what="it fails")
    (tools / "squeue").unlink()
    batch.wait(lambda: batch.ask("select 1 from pilot") == [], what="its job is settled")
    assert batch.ask("select count(*) from attempt") == [(1,)]
