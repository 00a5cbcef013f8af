"""Reaching a node: jump hosts, host keys on every hop, logins, and what is said when it fails."""

import socket
import struct
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from d0ctl.nodes.transports import hostkeys
from d0ctl.nodes.transports.hostkeys import ChangedKey, UnknownKey
from d0ctl.nodes.transports.transport import Address
from tests.nodes.conftest import SshdStarter, in_config, trust
from tests.nodes.reaching import SSH, failure_of, home_of
from tests.support.openssh import make_key
from tests.support.sshd import Sshd


@pytest.fixture
def chain(start_sshd: SshdStarter, ssh_config: Path) -> list[Sshd]:
    """Three sshds, `gate`, `inner` and `farm`, each to be reached through the one before."""
    sshds = [start_sshd(name) for name in ("gate", "inner", "farm")]
    gate, inner, farm = sshds
    ssh_config.write_text(
        in_config(gate, "gate")
        + in_config(inner, "inner", "ProxyJump gate")
        + in_config(farm, "farm", "ProxyJump inner")
        + in_config(farm, "listed", "ProxyJump gate,inner", "HostKeyAlias farm-key")
    )
    return sshds


@SSH
def test_one_or_two_jump_hosts_are_passed(chain: list[Sshd], known_hosts: Path, via: str) -> None:
    trust(known_hosts, *chain)

    assert home_of(Address("n", destination="inner", via=via), known_hosts) == str(chain[1].home)
    assert home_of(Address("n", destination="farm", via=via), known_hosts) == str(chain[2].home)
    assert "Accepted publickey" in chain[0].log()


@SSH
def test_the_host_key_is_known_by_the_alias_of_the_ssh_config(
    chain: list[Sshd], known_hosts: Path, via: str
) -> None:
    gate, inner, farm = chain
    trust(known_hosts, gate, inner)
    key = hostkeys.HostKey(*farm.known_hosts_line.split()[1:])
    hostkeys.accept(known_hosts, "farm-key", key)

    home = home_of(Address("n", destination="listed", via=via), known_hosts)

    assert home == str(farm.home)


@SSH
def test_each_hop_is_accepted_in_turn(chain: list[Sshd], known_hosts: Path, via: str) -> None:
    address = Address("n", destination="farm", via=via)
    names = []

    for _ in chain:
        unknown = failure_of(address, known_hosts)
        assert isinstance(unknown, UnknownKey)
        names.append(unknown.name)
        hostkeys.accept(known_hosts, unknown.name, unknown.key)

    assert names == [sshd.known_hosts_line.split()[0] for sshd in chain]
    assert home_of(address, known_hosts) == str(chain[2].home)


@SSH
@pytest.mark.parametrize("hop", [0, 1, 2])
def test_a_changed_key_on_any_hop_is_refused(
    chain: list[Sshd], known_hosts: Path, via: str, hop: int
) -> None:
    trust(known_hosts, *chain)
    before = known_hosts.read_text()
    chain[hop].replace_host_key()

    failure = failure_of(Address("n", destination="farm", via=via), known_hosts)

    assert isinstance(failure, ChangedKey)
    assert f"[{chain[hop].address}]:{chain[hop].port}" in str(failure)
    assert f"d0ctl node accept-key n {failure.key.fingerprint}" in (failure.hint or "")
    assert known_hosts.read_text() == before


@SSH
def test_the_known_hosts_of_the_user_are_ignored(
    sshd: Sshd, user: Path, ssh_config: Path, known_hosts: Path, via: str
) -> None:
    trust(user / "theirs", sshd)
    ssh_config.write_text(
        f"UserKnownHostsFile {user}/theirs\nGlobalKnownHostsFile {user}/theirs\n"
        f"StrictHostKeyChecking no\nIdentityFile {sshd.identity}\n"
    )

    failure = failure_of(Address("n", destination=sshd.destination, via=via), known_hosts)

    assert isinstance(failure, UnknownKey)
    assert not known_hosts.exists()


@SSH
def test_a_key_of_another_type_that_we_know_is_asked_for(
    sshd: Sshd, known_hosts: Path, via: str
) -> None:
    sshd.stop()
    make_key(sshd.folder / "second_key", "ecdsa")
    sshd.more_settings = (f"HostKey {sshd.folder}/second_key",)
    sshd.start()
    algorithm, text = (sshd.folder / "second_key.pub").read_text().split()[:2]
    name = sshd.known_hosts_line.split()[0]
    hostkeys.accept(known_hosts, name, hostkeys.HostKey(algorithm, text))

    address = Address("n", destination=sshd.destination, identity=str(sshd.identity), via=via)

    assert home_of(address, known_hosts) == str(sshd.home)


@SSH
def test_a_node_is_reached_by_a_proxy_command(
    sshd: Sshd, ssh_config: Path, known_hosts: Path, tmp_path: Path, via: str
) -> None:
    pipe = tmp_path / "pipe.py"
    pipe.write_text(PIPE)
    ssh_config.write_text(
        in_config(sshd, "farm", "HostName farm.invalid", f"ProxyCommand {sys.executable} {pipe} %p")
    )
    ssh_config.write_text(ssh_config.read_text().replace(f"HostName {sshd.address}\n", ""))
    _, algorithm, text = sshd.known_hosts_line.split()
    hostkeys.accept(known_hosts, f"[farm.invalid]:{sshd.port}", hostkeys.HostKey(algorithm, text))

    assert home_of(Address("n", destination="farm", via=via), known_hosts) == str(sshd.home)


PIPE = """
import os, select, socket, sys
far = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
while True:
    for ready in select.select([0, far], [], [])[0]:
        data = os.read(0, 65536) if ready == 0 else far.recv(65536)
        if not data:
            sys.exit()
        far.sendall(data) if ready == 0 else os.write(1, data)
"""


@SSH
@pytest.mark.parametrize("is_reset", [False, True])
def test_a_host_that_accepts_and_closes_without_a_line_is_named_so(
    known_hosts: Path, via: str, is_reset: bool
) -> None:
    def answer(listener: socket.socket) -> None:
        connection, _ = listener.accept()
        with connection:
            connection.recv(4096)
            if is_reset:
                at_once = struct.pack("ii", 1, 0)
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, at_once)

    with socket.create_server(("127.0.0.1", 0)) as listener, ThreadPoolExecutor(1) as pool:
        address = Address("n", "ssh", f"127.0.0.1:{listener.getsockname()[1]}", via=via)
        answered = pool.submit(answer, listener)
        said = str(failure_of(address, known_hosts))
        answered.result()

    assert said.endswith("` closed the connection before it answered as an sshd: look at its log")
