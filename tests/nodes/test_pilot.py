"""The way into an allocation of Slurm: steps hand streams and commands to the host of a pilot."""

import os
import signal
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from d0ctl.errors import NodeUnreachable
from d0ctl.nodes.batch import slurm
from d0ctl.nodes.batch.call import ToolFailed, call
from d0ctl.nodes.link import Site, open_link
from d0ctl.nodes.transports.connect import connect
from d0ctl.nodes.transports.download import Limits
from d0ctl.nodes.transports.transport import Address, Transport
from d0ctl.sitefile.spec import Pilots
from tests.support.slurm import Slurm
from tests.support.waiting import Pid, wait_until

PILOTS = Pilots(cpus=1, wall_time=600)


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Slurm]:
    """A Slurm of two nodes, for all tests here."""
    with Slurm(tmp_path_factory.mktemp("slurm")) as engine:
        yield engine


@pytest.fixture(autouse=True)
def tools(engine: Slurm, monkeypatch: pytest.MonkeyPatch) -> None:
    """The tools of that Slurm, as a login shell finds them."""
    for name, value in engine.variables.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def login(tmp_path: Path) -> Iterator[Transport]:
    """The login node, which is this machine."""
    with closing(connect(PILOTS.address("batch"), tmp_path / "known")) as transport:
        yield transport


@pytest.fixture
def job(login: Transport) -> Iterator[str]:
    """A pilot that runs."""
    array = slurm.submitted(call(login, *slurm.submit(PILOTS, "d0ctl-test", 1)))
    wait_until(lambda: states(login)[array] == "RUNNING", what="the pilot runs")
    yield array
    call(login, slurm.cancel([array]))
    wait_until(lambda: states(login)[array] == "CANCELLED", what="the pilot ends")


def states(login: Transport) -> dict[str, str]:
    """The state of each job of the queue."""
    return {job.id: job.state for job in slurm.read_queue(call(login, slurm.QUEUE))}


def test_commands_and_files_go_through_an_allocation(job: str, tmp_path: Path, user: Path) -> None:
    source, back = tmp_path / "source", tmp_path / "back"
    source.write_bytes(bytes(range(256)) * 1000)

    with closing(connect(PILOTS.address("p1", job), tmp_path / "known")) as pilot:
        home = pilot.home()
        pilot.put(source, f"{tmp_path}/there/copy")
        pilot.get(f"{tmp_path}/there/copy", back, Limits())
        with closing(pilot.start("exec sh -c 'echo $SLURM_JOB_ID'")) as stream:
            number = stream.read()

    assert home == str(user)
    assert back.read_bytes() == source.read_bytes()
    assert number == f"{job}\n".encode()


def test_a_command_that_is_missing_there_says_so(job: str, tmp_path: Path) -> None:
    with closing(connect(PILOTS.address("p1", job), tmp_path / "known")) as pilot:
        stream = pilot.start("exec no-such-program")

        assert stream.read() == b""
        assert "no-such-program: No such file or directory" in stream.stderr()


def test_processes_of_a_command_outlive_its_step(job: str, tmp_path: Path) -> None:
    mark = tmp_path / "pid"
    with closing(connect(PILOTS.address("p1", job), tmp_path / "known")) as pilot:
        pilot.start(f"exec sh -c 'setsid sleep 600 & echo $! > {mark}.new; mv {mark}.new {mark}'")
        wait_until(mark.exists)
    number = int(mark.read_text())

    os.kill(number, 0)
    os.kill(number, signal.SIGKILL)


def test_a_relay_works_in_an_allocation(job: str, tmp_path: Path) -> None:
    site = Site("site", tmp_path / "nodes", tmp_path / "known", tmp_path / "dropbox")
    address = PILOTS.address("p1", job)

    with closing(open_link(address, site)) as link:
        link.send({"kind": "stat", "id": "1"})
        answer = next(frame for frame in link.frames() if frame["kind"] == "facts")

    assert answer["facts"]["base"] == link.base


def test_nobody_answers_in_an_allocation_that_has_ended(
    login: Transport, job: str, tmp_path: Path
) -> None:
    call(login, slurm.cancel([job]))
    wait_until(lambda: states(login)[job] == "CANCELLED", what="the pilot ends")
    site = Site("site", tmp_path / "nodes", tmp_path / "known", tmp_path / "dropbox")

    with pytest.raises(
        NodeUnreachable, match=rf"can't enter the allocation of job {job}: .*has expired"
    ):
        open_link(Address("p1", "slurm", job=job), site)


def test_a_tool_that_fails_gives_its_own_reason(login: Transport) -> None:
    pilots = Pilots(partition="none")

    with pytest.raises(ToolFailed, match=r"`sbatch` failed: .*Invalid partition"):
        call(login, *slurm.submit(pilots, "d0ctl-test", 1))


def test_a_tool_that_hangs_is_given_up_and_ended(
    login: Transport, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "squeue").write_text(f"#!/bin/sh\necho $$ > {tmp_path}/pid\nexec sleep 600\n")
    (tmp_path / "squeue").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")

    with pytest.raises(NodeUnreachable, match=r"`squeue` did not end within 0\.9 s"):
        call(login, slurm.QUEUE, limit_s=0.9)

    process = Pid.of(int((tmp_path / "pid").read_text()))
    wait_until(lambda: process is None or not process.lives())
