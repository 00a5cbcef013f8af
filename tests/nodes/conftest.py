"""A private sshd or several, and a user of our own: no keys, no agent, no ssh_config but ours."""

import os
import queue
import re
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from d0ctl.model import Processors
from d0ctl.nodes.courier import Courier
from d0ctl.nodes.courier_reports import NodeUp
from d0ctl.nodes.link import Site
from d0ctl.nodes.transports import hostkeys
from d0ctl.nodes.transports.connect import connect
from d0ctl.nodes.transports.resolve import CONFIG_VARIABLE
from d0ctl.nodes.transports.transport import Address, Transport
from tests.support.openssh import find_client
from tests.support.sshd import Sshd

SshdStarter = Callable[..., Sshd]
Opener = Callable[..., Transport]
Nodes = tuple[Courier, Courier]


@pytest.fixture(autouse=True)
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home directory."""
    home = tmp_path / "user"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    return home


@pytest.fixture(autouse=True)
def ssh_config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's ssh_config, empty at first."""
    path = tmp_path / "ssh_config"
    path.touch()
    monkeypatch.setenv(CONFIG_VARIABLE, str(path))
    return path


@pytest.fixture
def known_hosts(tmp_path: Path) -> Path:
    """The home's known_hosts, which is not there at first."""
    return tmp_path / "known_hosts"


@pytest.fixture
def start_sshd(tmp_path: Path) -> Iterator[SshdStarter]:
    """Start an sshd with the options of `Sshd`, ended with the test."""
    with ExitStack() as stack:

        def start(name: str = "node", **options: object) -> Sshd:
            return stack.enter_context(Sshd(tmp_path / name, **options))  # type: ignore[arg-type]

        yield start


@pytest.fixture
def sshd(start_sshd: SshdStarter) -> Sshd:
    """An sshd like most."""
    return start_sshd()


@pytest.fixture
def reach(known_hosts: Path) -> Iterator[Opener]:
    """Open a transport to an sshd, its key accepted, closed with the test."""
    with ExitStack() as stack:

        def open_transport(
            sshd: Sshd, via: str = "fabric", connect_timeout: float = 10, io_timeout: float = 10
        ) -> Transport:
            trust(known_hosts, sshd)
            address = Address(
                "n1", destination=sshd.destination, identity=str(sshd.identity), via=via
            )
            transport = connect(
                address, known_hosts, connect_timeout=connect_timeout, io_timeout=io_timeout
            )
            stack.callback(transport.close)
            return transport

        yield open_transport


@pytest.fixture
def agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Path], None]]:
    """A private ssh-agent; call it with a key to hand the key over."""
    program = find_client().with_name("ssh-agent")
    socket = tmp_path / "agent"
    process = subprocess.Popen(
        [program, "-D", "-a", str(socket)], stdout=subprocess.PIPE, stdin=subprocess.DEVNULL
    )
    assert process.stdout
    process.stdout.readline()  # it says where it listens once it does
    monkeypatch.setenv("SSH_AUTH_SOCK", str(socket))

    def add(key: Path) -> None:
        words = [str(program.with_name("ssh-add")), "-q", str(key)]
        subprocess.run(words, check=True, env=os.environ, stdin=subprocess.DEVNULL)

    yield add
    process.terminate()
    process.wait()
    process.stdout.close()


@pytest.fixture
def sshd_options() -> dict[str, object]:
    """The options of the sshds of `nodes`."""
    return {}


@pytest.fixture
def sshds() -> list[Sshd]:
    """The sshds of the nodes."""
    return []


@pytest.fixture
def nodes(
    tmp_path: Path,
    known_hosts: Path,
    start_sshd: SshdStarter,
    sshds: list[Sshd],
    sshd_options: dict[str, object],
) -> Iterator[Nodes]:
    """Two nodes that are up, each behind an sshd of its own."""
    site = Site("site", tmp_path / "nodes", known_hosts, tmp_path / "dropbox")
    couriers = []
    with ExitStack() as stack:
        for number, name in enumerate(("n1", "n2"), 1):
            sshd = start_sshd(name, **sshd_options)
            sshds.append(sshd)
            trust(known_hosts, sshd)
            address = Address(
                name, destination=sshd.destination, identity=str(sshd.identity),
                directory=str(sshd.folder / "work"),
            )  # fmt: skip
            reports: queue.SimpleQueue[Any] = queue.SimpleQueue()
            courier = Courier(
                number, address, site, processors=Processors(1),
                deliver=lambda node, texts: None, report=reports.put,
            )  # fmt: skip
            courier.start()
            stack.callback(courier.stop)
            report = reports.get(timeout=60)
            assert isinstance(report, NodeUp), report
            courier.accept(report.link)
            couriers.append(courier)
        yield couriers[0], couriers[1]


def trust(known_hosts: Path, *sshds: Sshd) -> None:
    """Accept the keys of these sshds."""
    for sshd in sshds:
        name, algorithm, text = sshd.known_hosts_line.split()
        hostkeys.accept(known_hosts, name, hostkeys.HostKey(algorithm, text))


def in_config(sshd: Sshd, alias: str, *more: str) -> str:
    """The ssh_config block that gives an sshd a name."""
    lines = [
        f"Host {alias}",
        f"HostName {sshd.address}",
        f"Port {sshd.port}",
        f"User {sshd.user}",
        f"IdentityFile {sshd.identity}",
        *more,
    ]
    return "\n  ".join(lines) + "\n"


def one_plain_line(message: str) -> bool:
    """True for a message as d0ctl writes them: one line, lower case, no full stop."""
    return re.fullmatch(r"[^A-Z\n][^\n]*[^.\n]", message) is not None
