"""Jobs of single packages that a real Slurm ends, and what becomes of their packages."""

import os
import signal
from pathlib import Path

import pytest

from tests.e2e.pilots import apply, began, begin, preempt, runs_again, start
from tests.e2e.test_direct import DIRECT
from tests.support.site import Site
from tests.support.slurm import Slurm

STATE = """\
#!/bin/sh
for real in $(which -a squeue); do :; done
"$real" "$@" | sed 's/|CANCELLED|/|{state}|/'
"""


def test_a_package_whose_job_is_preempted_runs_again(batch: Site, engine: Slurm) -> None:
    start(batch, DIRECT)

    preempt(batch, engine)
    runs_again(batch)


def test_a_package_whose_wrapper_is_killed_runs_again(batch: Site) -> None:
    start(batch, DIRECT)

    (wrapper,) = batch.wrappers().values()
    os.kill(wrapper, signal.SIGKILL)
    runs_again(batch)


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
