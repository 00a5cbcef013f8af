"""Ports and jump hosts that lead nowhere, and the transport that is chosen."""

import logging
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from d0ctl.nodes.transports.connect import connect
from d0ctl.nodes.transports.openssh import OpenSshTransport
from d0ctl.nodes.transports.ssh import FabricTransport
from d0ctl.nodes.transports.transport import Address
from tests.nodes.conftest import SshdStarter, in_config, trust
from tests.nodes.reaching import SSH, failure_of
from tests.support.openssh import free_port
from tests.support.sshd import Sshd


@SSH
def test_a_port_without_sshd_is_named(known_hosts: Path, via: str) -> None:
    port = free_port("127.0.0.1")

    failure = failure_of(Address("n", destination=f"me@127.0.0.1:{port}", via=via), known_hosts)

    assert "refuse" in str(failure).lower()
    assert str(port) in str(failure)


@SSH
def test_a_name_that_nobody_knows_is_named(known_hosts: Path, via: str) -> None:
    failure = failure_of(Address("n", destination="no-such.invalid", via=via), known_hosts)

    assert "no-such.invalid" in str(failure)


@SSH
def test_a_port_that_says_nothing_takes_no_longer_than_it_may(known_hosts: Path, via: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]

        failure = failure_of(
            Address("n", destination=f"127.0.0.1:{port}", via=via), known_hosts, timeout=1
        )

    assert "answer" in str(failure) or "timed out" in str(failure)


@SSH
def test_a_port_of_something_else_is_named(known_hosts: Path, via: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        other.listen()
        port = other.getsockname()[1]
        client = subprocess.Popen(
            [sys.executable, "-c", OTHER, str(other.fileno())], pass_fds=[other.fileno()]
        )

        failure_of(Address("n", destination=f"127.0.0.1:{port}", via=via), known_hosts, timeout=3)

        client.kill()
        client.wait()


OTHER = """
import socket, sys
while True:
    with socket.socket(fileno=int(sys.argv[1])).accept()[0] as visitor:
        visitor.sendall(b"220 mail ready\\r\\n" * 3)
"""


@SSH
def test_a_jump_host_that_forwards_nothing_is_named(
    start_sshd: SshdStarter, ssh_config: Path, known_hosts: Path, via: str
) -> None:
    gate, farm = start_sshd("gate", forwarding=False), start_sshd("farm")
    ssh_config.write_text(in_config(gate, "gate") + in_config(farm, "farm", "ProxyJump gate"))
    trust(known_hosts, gate, farm)

    failure = failure_of(Address("n", destination="farm", via=via), known_hosts)

    assert "prohibited" in str(failure) or "forwarding failed" in str(failure)


def test_auto_takes_fabric_and_the_ssh_program_where_fabric_is_refused(
    sshd: Sshd, known_hosts: Path, ssh_config: Path
) -> None:
    trust(known_hosts, sshd)
    good = Address("n", destination=sshd.destination, identity=str(sshd.identity))
    node = connect(good, known_hosts)
    assert isinstance(node, FabricTransport)
    node.close()

    sshd.identity.rename(f"{sshd.identity}-{os.getuid()}")
    ssh_config.write_text(f"IdentityFile {sshd.identity}-%i\n")  # only ssh knows this token
    other = connect(Address("n", destination=sshd.destination), known_hosts)
    assert isinstance(other, OpenSshTransport)
    other.close()


def test_failures_print_nothing_and_leave_nothing_open(
    sshd: Sshd, known_hosts: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    open_before = set(Path("/proc/self/fd").iterdir())

    failure_of(Address("n", destination=sshd.destination, via="fabric"), known_hosts)
    trust(known_hosts, sshd)
    failure_of(Address("n", destination=sshd.destination, via="fabric"), known_hosts)

    assert set(Path("/proc/self/fd").iterdir()) <= open_before
    assert capfd.readouterr() == ("", "")
    assert logging.getLogger("paramiko").level == logging.CRITICAL


def test_the_contract_alone_brings_no_ssh_library_in() -> None:
    code = "import sys, d0ctl.nodes.transports.transport; sys.exit('paramiko' in sys.modules)"

    subprocess.run([sys.executable, "-c", code], check=True)
