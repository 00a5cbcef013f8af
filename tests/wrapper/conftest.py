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

from d0ctl.nodes import ship
from tests.support.waiting import wait_until
from tests.wrapper.client import Client

Connect = Callable[..., Client]


@pytest.fixture(scope="session")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wrapper as one file."""
    archive = tmp_path_factory.mktemp("archive") / ship.file_name()
    archive.write_bytes(ship.archive())
    return archive


@pytest.fixture
def connect(archive: Path, tmp_path: Path) -> Iterator[Connect]:
    """Opens connections to relays of one BASE; all that they started ends with the test."""
    clients: list[Client] = []

    def open_connection(
        python: str = sys.executable, environment: dict[str, str] | None = None, **hello: Any
    ) -> Client:
        command = [python, "-I", "-S", str(archive), "relay"]
        clients.append(Client(command, tmp_path / "base", environment or {}, hello))
        return clients[-1]

    yield open_connection
    for client in clients:
        client.close()
    wait_until(lambda: not _kill_marked(tmp_path), what="what the attempts left is gone")


@pytest.fixture
def node(connect: Connect) -> Client:
    """A connection to a relay that has greeted."""
    client = connect()
    client.wait("hello")
    return client


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


def _kill_marked(folder: Path) -> list[int]:
    """Kill all relays, wrappers and binaries of a test, and give those that were there."""
    mark = os.fsencode(f"D0CTL_TEST={folder}/")
    pids = [int(entry.name) for entry in Path("/proc").glob("[0-9]*") if _is_marked(entry, mark)]
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    return pids


def _is_marked(entry: Path, mark: bytes) -> bool:
    try:
        return mark in (entry / "environ").read_bytes()
    except OSError:
        return False
