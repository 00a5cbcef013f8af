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
from tests.wrapper.pythons import found, versions

Begin = Callable[..., "subprocess.Popen[bytes]"]

HOUR = 3600

WITHOUT_A_BUNDLE = ("3.6", "3.7")


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

    def start(attempt: int, seconds: int = HOUR, python: str = "") -> "subprocess.Popen[bytes]":
        tasks = Tasks(str(path), str(login.base), (7, attempt))
        script = slurm.task_script(python, tasks, seconds)
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


@pytest.mark.parametrize("version", versions())
def test_the_first_job_of_a_python_makes_a_bundle_from_which_the_next_start(
    login: Client, begin: Begin, tmp_path: Path, version: str
) -> None:
    raw = tmp_path / "größe"
    raw.write_text("event\n")
    given = {"name": "größe", "path": str(raw), "size": 6, "required": True}
    made = {"name": "ergebnis ü", "min_size": 6}
    make = binary(script="cat größe > 'ergebnis ü'", inputs=["größe"], outputs=[made])
    for attempt, binaries in enumerate(
        [(make,), (make,), (make, binary("false")), (binary("no-such-program-é"),)], 1
    ):
        login.launch(launch(attempt, *binaries, inputs=[given], keep=["ergebnis ü"]))
        wait_until((login.folder(attempt) / "launch").exists, what="the launch is there")

    python = found()[version]
    codes = [begin(1, python=python).wait()]
    bundles = list(tmp_path.glob("wrapper.cpython-*"))
    if bundles:
        (tmp_path / "wrapper.pyz").rename(tmp_path / "moved away")
    codes += [begin(attempt, python=python).wait() for attempt in (2, 3, 4)]

    assert (codes, len(bundles)) == ([0] * 4, version not in WITHOUT_A_BUNDLE)
    ends = [login.end(attempt) for attempt in (1, 2, 3, 4)]
    assert [end["reason"] for end in ends] == [None, None, "exit-code", "software-missing"]
    assert [Path(end["outputs"][0]["path"]).read_text() for end in ends[:2]] == ["event\n"] * 2


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
