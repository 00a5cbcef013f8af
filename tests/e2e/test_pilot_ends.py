"""Allocations of a real Slurm that end, before their packages or after the last of them."""

import os
import signal
from pathlib import Path

from tests.e2e.pilots import (
    BY_SIGTERM,
    KEYS,
    apply,
    began,
    begin,
    check_end,
    finish,
    pilots,
    preempt,
    runs_again,
    start,
    write,
)
from tests.support.site import Site
from tests.support.site.commands import EXAMPLES
from tests.support.slurm import Slurm
from tests.support.waiting import wait_until


def test_packages_of_a_pilot_that_is_cancelled_run_again(batch: Site, engine: Slurm) -> None:
    start(batch)

    engine.call("scancel", *began(batch))
    runs_again(batch)


def test_a_pilot_that_ends_a_wrapper_gets_no_more_packages(batch: Site) -> None:
    """The processes of an allocation that ends get SIGTERM before its queue says that it ends."""
    start(batch)

    (wrapper,) = batch.wrappers().values()
    os.kill(wrapper, signal.SIGTERM)
    first, second = runs_again(batch)

    assert first["message"] == BY_SIGTERM
    assert (first["node"], second["node"]) == ("batch-1", "batch-2")
    wait_until(lambda: pilots(batch) == ["ended", "ended"], what="both pilots end as they are idle")


def test_accounts_name_who_cancelled_a_pilot(batch: Site, engine: Slurm, tools: Path) -> None:
    start(batch)

    (job,), sacct = began(batch), tools / "sacct"
    sacct.write_text(f"#!/bin/sh\necho $* > {tools}/asked\necho '{job}_0|CANCELLED by 1000'\n")
    sacct.chmod(0o755)
    engine.call("scancel", job)
    first, _ = runs_again(batch)

    check_end(batch, first, "CANCELLED by 1000")
    assert f"--jobs={job}_0" in (tools / "asked").read_text()


def test_accounts_that_hang_keep_no_package_from_running_again(
    batch: Site, engine: Slurm, tools: Path
) -> None:
    start(batch)

    (job,), sacct = began(batch), tools / "sacct"
    sacct.write_text(f"#!/bin/sh\necho x >> {tools}/asked\nexec sleep 600\n")
    sacct.chmod(0o755)
    engine.call("scancel", job)
    first, _ = runs_again(batch)

    check_end(batch, first, "CANCELLED")
    assert (tools / "asked").read_text() == "x\n"
    assert "cluster `batch`: `sacct` " in batch.log()


def test_packages_on_a_machine_that_fails_run_again(batch: Site, engine: Slurm) -> None:
    start(batch)
    machine = engine.call("squeue", "--noheader", "--format=%N").strip()

    with engine.without(machine):
        wait_until(lambda: len(began(batch)) == 2, what="it runs again")
    first, _ = runs_again(batch)

    check_end(batch, first, "NODE_FAIL")


def test_packages_of_a_pilot_that_is_preempted_run_again(batch: Site, engine: Slurm) -> None:
    start(batch)

    preempt(batch, engine)
    first, _ = runs_again(batch)

    check_end(batch, first, "PREEMPTED", "NODE_FAIL")


def test_packages_of_a_pilot_that_is_requeued_run_again_in_another(
    batch: Site, engine: Slurm
) -> None:
    start(batch)

    (job,) = began(batch)
    engine.call("scontrol", "update", f"JobId={job}", "Requeue=1")
    engine.call("scontrol", "requeue", job)
    runs_again(batch)

    assert began(batch)[1] != job
    alive = ("squeue", "--noheader", f"--job={job}", "--states=PENDING,RUNNING")
    wait_until(lambda: not engine.call(*alive), what="the first pilot is cancelled")


def test_packages_of_a_pilot_without_memory_run_again(batch: Site, tools: Path) -> None:
    start(batch)

    (job,), real = began(batch), batch.variables["PATH"].split(":")[1]
    squeue, new = tools / "squeue", tools / "new"
    new.write_text(f'#!/bin/sh\n{real}/squeue "$@" | sed "/^{job}|/s/RUNNING/OUT_OF_MEMORY/"\n')
    new.chmod(0o755)
    new.replace(squeue)
    first, _ = runs_again(batch)

    assert "OUT_OF_MEMORY" in first["message"]


def test_a_pilot_near_its_time_limit_takes_no_more_packages(batch: Site, engine: Slurm) -> None:
    apply(batch, ", wall-time: 10m")
    batch.start_daemon()
    begin(batch)

    engine.call("scontrol", "update", f"JobId={began(batch)[0]}", "TimeLimit=1")
    batch.wait(lambda: batch.ask("select drained from node where id = 2") == [(1,)], what="drained")
    finish(batch)

    note = batch.json("status", "night/1/1/1")
    assert note["status"] == "successful"


def test_run_without_a_daemon_ends_its_pilots(batch: Site, engine: Slurm) -> None:
    keys = KEYS.replace("idle: 2s", "idle: 1h")
    write(batch, f"kind: slurm, {keys}, dir: {batch.folder}/pilots")

    batch.ok("run", EXAMPLES / "hello/job.yaml")

    wait_until(lambda: not engine.call("squeue", "--noheader"), what="no pilot is left")
    assert "running" not in pilots(batch)


TWO = """
job: two
stages:
  - name: wait
    lines:
      - for: {{number: {{range: [1, 2]}}}}
        cpus: 2
        run: "until [ -e {folder}/go{{number}} ]; do sleep 0.05; done"
"""


def test_a_run_that_is_stopped_ends_only_the_pilots_without_packages(
    batch: Site, engine: Slurm
) -> None:
    keys = KEYS.replace("idle: 2s", "idle: 1h")
    write(batch, f"kind: slurm, {keys}, dir: {batch.folder}/pilots")
    batch.submit(TWO.format(folder=batch.folder))
    driver = batch.start("d0ctl.__main__", "run", "two")
    wait_until(lambda: batch.look() == {"running": 2}, what="each runs in a pilot")
    (batch.folder / "go1").touch()
    wait_until(lambda: batch.look() == {"done": 1, "running": 1}, what="one has ended")
    assert pilots(batch) == ["running", "running"]

    driver.send_signal(signal.SIGINT)

    assert driver.wait() == 130
    wait_until(lambda: len(engine.call("squeue", "--noheader").splitlines()) == 1,
               what="the other pilot is left")  # fmt: skip
    (batch.folder / "go2").touch()
    batch.ok("run", "two")
    assert batch.look() == {"done": 2}
