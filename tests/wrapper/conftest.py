"""A real relay in a zip file, as it is shipped, on a folder of the test."""

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
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
