"""Reaching a node: jump hosts, host keys on every hop, logins, and what is said when it fails."""

import logging
import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from d0ctl.errors import NodeUnreachable
from d0ctl.nodes.transports import hostkeys
from d0ctl.nodes.transports.connect import LoginRefused, connect
from d0ctl.nodes.transports.hostkeys import ChangedKey, UnknownKey
from d0ctl.nodes.transports.openssh import OpenSshTransport
from d0ctl.nodes.transports.ssh import FabricTransport
from d0ctl.nodes.transports.transport import Address
from tests.nodes.conftest import SshdStarter, in_config, one_plain_line, trust
from tests.support.sshd import Sshd, free_port, make_key

SSH = pytest.mark.parametrize("via", ["fabric", "openssh"])


def home_of(address: Address, known_hosts: Path) -> str:
    """Connect, ask for the home directory, and part."""
    node = connect(address, known_hosts, connect_timeout=10, io_timeout=10)
    try:
        return node.home()
    finally:
        node.close()


def failure_of(address: Address, known_hosts: Path, timeout: float = 10) -> NodeUnreachable:
    """What connecting says when it fails."""
    with pytest.raises(NodeUnreachable) as failure:
        connect(address, known_hosts, connect_timeout=timeout, io_timeout=timeout)
    assert one_plain_line(str(failure.value))
    return failure.value


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
def test_one_jump_and_two(chain: list[Sshd], known_hosts: Path, via: str) -> None:
    trust(known_hosts, *chain)

    assert home_of(Address("n", destination="inner", via=via), known_hosts) == str(chain[1].home)
    assert home_of(Address("n", destination="farm", via=via), known_hosts) == str(chain[2].home)
    assert "Accepted publickey" in chain[0].log()


@SSH
def test_an_alias_for_the_host_key(chain: list[Sshd], known_hosts: Path, via: str) -> None:
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
def test_a_changed_key_on_any_hop_stops_us(
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
def test_the_users_own_known_hosts_do_not_count(
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
def test_a_proxy_command_leads_there(
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
@pytest.mark.parametrize("kind", ["ed25519", "rsa", "ecdsa"])
def test_a_key_of_any_kind_logs_in(
    sshd: Sshd, known_hosts: Path, tmp_path: Path, kind: str, via: str
) -> None:
    trust(known_hosts, sshd)
    key = make_key(tmp_path / "key", kind)
    sshd.authorize(tmp_path / "key.pub")

    address = Address("n", destination=sshd.destination, identity=str(key), via=via)

    assert home_of(address, known_hosts) == str(sshd.home)


def test_a_key_in_its_usual_place_is_found(sshd: Sshd, known_hosts: Path, user: Path) -> None:
    trust(known_hosts, sshd)
    (user / ".ssh").mkdir()
    make_key(user / ".ssh/id_ed25519")
    sshd.authorize(user / ".ssh/id_ed25519.pub")

    address = Address("n", destination=sshd.destination, via="fabric")

    assert home_of(address, known_hosts) == str(sshd.home)


@SSH
def test_an_agent_logs_in(
    sshd: Sshd, known_hosts: Path, agent: Callable[[Path], None], via: str
) -> None:
    trust(known_hosts, sshd)
    agent(sshd.identity)

    address = Address("n", destination=sshd.destination, via=via)

    assert home_of(address, known_hosts) == str(sshd.home)


def test_the_agent_of_the_ssh_config_logs_in(
    sshd: Sshd,
    known_hosts: Path,
    ssh_config: Path,
    agent: Callable[[Path], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    trust(known_hosts, sshd)
    agent(sshd.identity)
    ssh_config.write_text(f"IdentityAgent {os.environ['SSH_AUTH_SOCK']}\n")
    monkeypatch.delenv("SSH_AUTH_SOCK")

    address = Address("n", destination=sshd.destination, via="fabric")

    assert home_of(address, known_hosts) == str(sshd.home)


def test_an_identity_with_a_passphrase_is_taken_from_the_agent(
    sshd: Sshd, known_hosts: Path, tmp_path: Path, agent: Callable[[Path], None]
) -> None:
    trust(known_hosts, sshd)
    key = make_key(tmp_path / "key")
    sshd.authorize(tmp_path / "key.pub")
    for number in range(7):  # more than sshd lets anyone try
        agent(make_key(tmp_path / f"other{number}"))
    agent(key)
    lock(key)

    address = Address("n", destination=sshd.destination, identity=str(key), via="fabric")

    assert home_of(address, known_hosts) == str(sshd.home)


def lock(key: Path) -> None:
    """Give a key a passphrase."""
    words = ["ssh-keygen", "-q", "-p", "-P", "", "-N", "secret words", "-f", str(key)]
    subprocess.run(words, check=True)


def test_a_passphrase_that_nobody_can_type_is_named(
    sshd: Sshd, known_hosts: Path, tmp_path: Path
) -> None:
    trust(known_hosts, sshd)
    key = make_key(tmp_path / "key")
    lock(key)

    failure = failure_of(
        Address("n", destination=sshd.destination, identity=str(key), via="fabric"), known_hosts
    )

    assert isinstance(failure, LoginRefused)
    assert f"`{key}`, which has a passphrase and is in no agent" in str(failure)


def test_a_refused_login_says_who_and_with_what(
    sshd: Sshd, known_hosts: Path, tmp_path: Path, agent: Callable[[Path], None]
) -> None:
    trust(known_hosts, sshd)
    agent(make_key(tmp_path / "agents"))
    (tmp_path / "junk").write_text("no key\n")

    def tried_with(identity: Path) -> str:
        address = Address("n", destination=sshd.destination, identity=str(identity), via="fabric")
        return str(failure_of(address, known_hosts)).partition("tried ")[2]

    address = Address("n", destination=sshd.destination, via="fabric")
    with_agent = failure_of(address, known_hosts)

    assert (
        str(with_agent)
        == f"`{sshd.destination}` refuses the login; tried `d0ctl-test` of the agent"
    )
    junk, missing = tmp_path / "junk", tmp_path / "missing"
    assert tried_with(junk) == f"`{junk}`, which is no key that can be read"
    assert tried_with(missing) == f"`{missing}`, which is not there"
    assert "--identity FILE" in (with_agent.hint or "")


def test_an_agent_that_is_gone_is_named(
    sshd: Sshd, known_hosts: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trust(known_hosts, sshd)
    monkeypatch.setenv("SSH_AUTH_SOCK", "/nowhere/agent")

    failure = failure_of(Address("n", destination=sshd.destination, via="fabric"), known_hosts)

    assert "the agent at `/nowhere/agent`, which does not answer" in str(failure)


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
