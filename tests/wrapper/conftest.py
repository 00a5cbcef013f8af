"""A real relay in a zip file, as it is shipped, on a folder of the test."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from subprocess import PIPE
from typing import Any

import pytest

from tests.support.archives import RECO, packed
from tests.support.forks import Server
from tests.support.waiting import numbers, proc, wait_until
from tests.support.web import Web, serving
from tests.wrapper.client import Client
from tests.wrapper.fetching import DATA
from tests.wrapper.relays import ForkedRelay, server, start

Connect = Callable[..., Client]


@pytest.fixture(scope="session")
def forks() -> Iterator[Server]:
    """The python that forks the relays of this test process."""
    forks = server()
    yield forks
    forks.close()


@pytest.fixture
def connect(tmp_path: Path, forks: Server) -> Iterator[Connect]:
    """Opens connections to relays of one BASE; all that they started ends with the test."""
    clients: list[Client] = []

    def open_connection(
        python: str | None = None, environment: dict[str, str] | None = None, **hello: Any
    ) -> Client:
        base = tmp_path / "base"
        settings = {**os.environ, "D0CTL_TEST": f"{base}/", **(environment or {})}
        is_usual = python is None and not environment
        relay = (
            ForkedRelay(forks, settings) if is_usual else start(python or sys.executable, settings)
        )
        clients.append(Client(relay, base, hello))
        return clients[-1]

    yield open_connection
    for client in clients:
        client.close()
    wait_until(lambda: not _kill_left(tmp_path, forks), what="what the attempts left is gone")


@pytest.fixture
def node(connect: Connect) -> Client:
    """A connection to a relay that has greeted."""
    client = connect()
    client.wait("hello")
    return client


@pytest.fixture
def single(connect: Connect) -> Client:
    """A connection to a relay with one CPU, so that its attempts share a wrapper."""
    node = connect(cpus=1)
    node.wait("hello")
    return node


@pytest.fixture
def mounted(tmp_path: Path) -> Iterator[Callable[[str], Path]]:
    """Mounts a file system of its own with these options, if we may mount one."""
    with ExitStack() as stack:

        def mount(options: str) -> Path:
            folder = tmp_path / "disk"
            folder.mkdir(exist_ok=True)
            command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)]
            if shutil.which("mount") is None or subprocess.run(command, stderr=PIPE).returncode:
                pytest.skip("only root may mount a disk of its own")
            stack.callback(subprocess.run, ["umount", "-l", str(folder)], check=True)
            return folder

        yield mount


@pytest.fixture
def small_disk(mounted: Callable[[str], Path]) -> Path:
    """A file system of one megabyte and few files."""
    return mounted("size=1m,nr_inodes=40")


def _kill_left(folder: Path, server: Server) -> list[int]:
    """Kill all relays, wrappers and binaries of a test, and give those that were there."""
    mark = os.fsencode(f"D0CTL_TEST={folder}/")
    pids = [number for number in numbers() if _is_marked(number, mark)]
    pids += [pid.number for pid in server.processes()]
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    return pids


def _is_marked(number: int, mark: bytes) -> bool:
    try:
        return mark in proc(number, "environ")
    except OSError:
        return False


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A mass storage, which is a folder with a program beside it."""
    folder = tmp_path / "store"
    folder.mkdir()
    program = tmp_path / "xrdcp"
    program.write_text(
        "#!/bin/sh\n"
        f"[ ! -e {tmp_path}/broken ] || {{ echo no space there >&2; exit 51; }}\n"
        f"echo $$ > {tmp_path}/pid\n"
        f"while [ -e {tmp_path}/stuck ]; do sleep 0.05; done\n"
        f'cp "$1" "$(echo "$2" | sed s,root://store,{folder},)"\n'
    )
    program.chmod(0o700)
    return folder


@pytest.fixture
def web() -> Iterator[Web]:
    """A web server with one file."""
    with serving() as web:
        web.files["/raw"] = DATA
        yield web


@pytest.fixture
def xrdcp(tmp_path: Path) -> Path:
    """A program that copies files of a mass storage, which is a folder."""
    (tmp_path / "store").mkdir()
    program = tmp_path / "xrdcp"
    program.write_text(
        "#!/bin/sh\n"
        f'echo "$@" >> {tmp_path}/calls\n'
        f'from=$(echo "$1" | sed s,root://store/,{tmp_path}/store/,)\n'
        f'to=$(echo "$2" | sed s,root://store/,{tmp_path}/store/,)\n'
        f'[ ! -e {tmp_path}/stuck ] || {{ echo half > "$to"; sleep 1000; }}\n'
        'cp "$from" "$to"\n'
    )
    program.chmod(0o700)
    return program


@pytest.fixture
def reco(tmp_path: Path) -> Path:
    """The archive of a small program."""
    return packed(tmp_path / "reco.tar.gz", RECO)


@pytest.fixture
def disk(mounted: Callable[[str], Path]) -> Path:
    """A file system of 40 megabytes."""
    return mounted("size=40m")
