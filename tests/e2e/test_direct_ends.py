"""Jobs of single packages that a real Slurm ends, and what becomes of their packages."""

import os
import signal
from pathlib import Path

import pytest

from tests.e2e.pilots import apply, began, begin, finish
from tests.e2e.test_direct import DIRECT
from tests.support.site import Site
from tests.support.slurm import Slurm
from tests.support.waiting import wait_until

STATE = """\
#!/bin/sh
for real in $(which -a squeue); do :; done
"$real" "$@" | sed 's/|CANCELLED|/|{state}|/'
"""


def test_a_package_whose_job_is_preempted_runs_again(batch: Site, engine: Slurm) -> None:
    apply(batch, DIRECT)
    batch.start_daemon()
    begin(batch)

    urgent = engine.call(
        "sbatch", "--parsable", "--partition=urgent", "--nodes=2", "--ntasks-per-node=1",
        "--cpus-per-task=4", "--output=/dev/null", "--wrap=sleep 600",
    )  # fmt: skip
    batch.wait(lambda: batch.ask("select 1 from attempt where ended > 0"), what="it is preempted")
    assert "PreemptTime=2" in engine.call("scontrol", "show", "job", began(batch)[0])
    engine.call("scancel", urgent.strip())
    wait_until(lambda: len(began(batch)) == 2, what="it runs again")
    finish(batch)

    first, second = batch.package("night/1/1/1")["attempts"]
    assert (first["reason"], second["outcome"]) == ("platform-failure", "successful")


def test_a_package_whose_wrapper_is_killed_runs_again(batch: Site) -> None:
    apply(batch, DIRECT)
    batch.start_daemon()
    begin(batch)

    (wrapper,) = batch.wrappers().values()
    os.kill(wrapper, signal.SIGKILL)
    wait_until(lambda: len(began(batch)) == 2, what="it runs again")
    finish(batch)

    first, second = batch.package("night/1/1/1")["attempts"]
    assert (first["reason"], second["outcome"]) == ("platform-failure", "successful")


@pytest.mark.parametrize(
    ("state", "reason"),
    [("OUT_OF_MEMORY", "out-of-memory"), ("DEADLINE", "wall-time"),
     ("BOOT_FAIL", "platform-failure"), ("FAILED", "platform-failure")],
)  # fmt: skip
def test_the_state_of_a_killed_job_is_the_reason_of_its_package(
    batch: Site, engine: Slurm, tools: Path, state: str, reason: str
) -> None:
    apply(batch, DIRECT)
    (tools / "squeue").write_text(STATE.format(state=state))
    (tools / "squeue").chmod(0o755)
    batch.start_daemon()
    begin(batch)

    engine.call("scancel", "--full", "--signal=KILL", began(batch)[0])
    batch.wait(lambda: batch.ask("select 1 from attempt where ended > 0"), what="it is over")

    found = batch.ask("select reason, message from attempt where number = 1")
    assert found == [(reason, f"job {began(batch)[0]}_0 of `batch` has ended: {state}")]
