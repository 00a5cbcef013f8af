"""Attempts with jobs of a batch system of their own: the relay launches, and a job takes over."""

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from d0ctl.nodes import ship
from d0ctl.nodes.batch import slurm
from d0ctl.nodes.batch.tools import Tasks
from tests.support.waiting import wait_until
from tests.wrapper.client import Client, binary, launch
from tests.wrapper.conftest import Connect

Begin = Callable[..., "subprocess.Popen[bytes]"]

HOUR = 3600


@pytest.fixture
def login(connect: Connect) -> Client:
    """A connection to the relay of a login node."""
    client = connect(elsewhere=True)
    client.wait("hello")
    return client


@pytest.fixture
def begin(login: Client, tmp_path: Path) -> Iterator[Begin]:
    """Begins the job of an attempt, as Slurm does with the script of its array."""
    path = tmp_path / "wrapper.pyz"
    path.write_bytes(ship.archive())
    jobs: list[subprocess.Popen[bytes]] = []

    def start(attempt: int, seconds: int = HOUR) -> "subprocess.Popen[bytes]":
        tasks = Tasks(str(path), str(login.base), (7, attempt))
        script = slurm.task_script("", tasks, seconds)
        job = subprocess.Popen(["/bin/sh", "-c", script], env={"SLURM_ARRAY_TASK_ID": "1"})
        jobs.append(job)
        return job

    yield start
    for job in jobs:
        job.kill()
        job.wait()


def given(login: Client, attempt: int, script: str) -> None:
    """Launch an attempt, and return when its launch waits for a job."""
    login.launch(launch(attempt, binary(script=script)))
    wait_until((login.folder(attempt) / "launch").exists, what="the launch is there")


def test_of_two_jobs_of_one_attempt_only_one_runs_it(
    login: Client, begin: Begin, tmp_path: Path
) -> None:
    given(login, 1, f"echo run >> {tmp_path}/runs")

    codes = [job.wait() for job in [begin(1), begin(1)]]

    assert codes == [0, 0]
    assert login.end(1)["outcome"] == "successful"
    assert (tmp_path / "runs").read_text() == "run\n"


def test_a_job_reads_a_launch_of_any_length(login: Client, begin: Begin) -> None:
    long = {f"V{number}": "x" * 1000 for number in range(100)}
    login.launch(launch(1, binary(script="echo $V99"), environment=long))
    wait_until((login.folder(1) / "launch").exists, what="the launch is there")

    begin(1)

    assert login.end(1)["outcome"] == "successful"
    assert (login.folder(1) / "1.out").read_text() == "x" * 1000 + "\n"


def test_the_first_job_makes_a_bundle_from_which_the_next_starts(
    login: Client, begin: Begin, tmp_path: Path
) -> None:
    for attempt in (1, 2):
        given(login, attempt, "true")

    first = begin(1).wait()
    made = list(tmp_path.glob("wrapper.cpython-*"))
    (tmp_path / "wrapper.pyz").unlink()
    second = begin(2).wait()

    assert (first, second) == (0, 0)
    assert len(made) == 1
    assert login.end(2)["outcome"] == "successful"


def test_a_kill_reaches_the_job_of_an_attempt(login: Client, begin: Begin) -> None:
    given(login, 1, "sleep 300")
    job = begin(1)
    login.started(1)

    login.send("kill", attempts=[1], grace=5)

    assert login.end(1)["outcome"] == "killed"
    assert job.wait() == 0


def test_a_kill_before_the_job_begins_withdraws_the_launch(login: Client) -> None:
    given(login, 1, "true")

    login.send("kill", attempts=[1], grace=5)

    login.wait("absent", attempts=[1])
    assert not login.folder(1).exists()


def test_an_attempt_whose_job_is_over_ends_and_no_late_job_runs_it(
    login: Client, begin: Begin, tmp_path: Path
) -> None:
    given(login, 1, f"echo run >> {tmp_path}/runs")

    over = {"attempt": 1, "reason": "platform-failure", "message": "its machine has failed"}
    login.send("over", attempts=[over])

    login.wait("dead", attempts=[over])
    assert begin(1).wait() == 0
    assert not (tmp_path / "runs").exists()


def test_an_attempt_ends_before_the_time_of_its_job(login: Client, begin: Begin) -> None:
    given(login, 1, "sleep 300")

    job = begin(1, seconds=2)

    assert login.end(1)["reason"] == "wall-time"
    assert job.wait() == 0
