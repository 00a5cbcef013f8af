"""What a logout would end: the daemon, its agent, its tickets."""

import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from d0ctl.doctor.logins import agent, session, tickets
from tests.support.kdc import find_client
from tests.support.waiting import wait_until

IN_SESSION = "0::/user.slice/user-1000.slice/session-4.scope\n"
AS_SERVICE = "0::/user.slice/user-1000.slice/user@1000.service/app.slice/d0ctl.service\n"


@pytest.fixture
def sshd_process(tmp_path: Path) -> Iterator[int]:
    """A process that has the name of sshd; the kernel sets the name after Popen has returned."""
    program = shutil.copy(shutil.which("sleep") or "", tmp_path / "sshd")
    with subprocess.Popen([program, "60"]) as process:
        comm = Path(f"/proc/{process.pid}/comm")
        wait_until(lambda: comm.read_text() == "sshd\n")
        yield process.pid
        process.kill()


def listening(place: Path) -> socket.socket:
    """A socket there."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(place))
    return listener


def test_an_agent_that_sshd_forwards_ends_at_logout(tmp_path: Path, sshd_process: int) -> None:
    place = tmp_path / f"agent.{sshd_process}"
    with closing(listening(place)):
        (finding,) = agent({"SSH_AUTH_SOCK": str(place)})

    assert finding.detail == "is forwarded to here, and ends when you log out"


def test_an_agent_of_this_machine_survives_logout(tmp_path: Path) -> None:
    place = tmp_path / f"agent.{os.getpid()}"
    with closing(listening(place)):
        assert list(agent({"SSH_AUTH_SOCK": str(place)})) == []


def test_a_missing_agent_is_named(tmp_path: Path) -> None:
    (finding,) = agent({"SSH_AUTH_SOCK": str(tmp_path / "agent.1")})

    assert f"is gone: `{tmp_path}/agent.1`" in finding.detail


def test_without_tickets_in_the_cache_kinit_is_advised(tmp_path: Path) -> None:
    cache = f"FILE:{tmp_path}/none"

    (finding,) = tickets({"KRB5CCNAME": cache, "PATH": str(find_client())})

    assert finding.advice == f"KRB5CCNAME={cache} kinit"


@pytest.mark.parametrize(
    ("cache", "ends"),
    [
        ("FILE:/tmp/krb5cc_1000_a1B2c3", True),
        ("/tmp/krb5cc_1000_a1B2c3", True),
        ("KEYRING:session:x", True),
        ("KEYRING:persistent:1000", False),
        ("FILE:/tmp/krb5cc_1000", False),
        ("FILE:/home/emmy/.krb5cc", False),
        ("KCM:", False),
    ],
)
def test_tickets_of_a_session_end_at_logout(tmp_path: Path, cache: str, ends: bool) -> None:
    program(tmp_path / "klist", "exit 0")

    found = [finding.detail for finding in tickets({"KRB5CCNAME": cache, "PATH": str(tmp_path)})]

    assert found == ([f"tickets in `{cache}` end when you log out"] if ends else [])


@pytest.mark.parametrize(
    ("group", "kills", "lingers", "advice"),
    [
        (IN_SESSION, "yes", "no", "loginctl enable-linger; d0ctl daemon stop; "
         "systemd-run --user --scope d0ctl daemon start"),
        (IN_SESSION, "no", "no", None),
        (AS_SERVICE, "no", "no", "loginctl enable-linger"),
        (AS_SERVICE, "yes", "yes", None),
        ("0::/\n", "yes", "no", None),
    ],
)  # fmt: skip
def test_a_daemon_that_systemd_stops_at_logout_is_reported(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    group: str,
    kills: str,
    lingers: str,
    advice: str | None,
) -> None:
    (tmp_path / "cgroup").write_text(group)
    program(
        tmp_path / "loginctl",
        f'case "$*" in *Linger) echo Linger={lingers};; *) echo KillUserProcesses={kills};; esac',
    )
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)

    assert [finding.advice for finding in session(tmp_path)] == ([advice] if advice else [])


def program(path: Path, text: str) -> None:
    """A stand-in for a program that the machines of tests may lack."""
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
