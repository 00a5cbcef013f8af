"""Logins: keys, agents, passphrases, and what is reported when they are refused."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from d0ctl.nodes.transports import openssh
from d0ctl.nodes.transports.login import LoginRefused
from d0ctl.nodes.transports.transport import Address, refusal
from tests.nodes.conftest import trust
from tests.nodes.reaching import SSH, failure_of, home_of
from tests.support.openssh import make_key
from tests.support.sshd import Sshd


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
    assert tried_with(junk) == f"`{junk}`, which can't be read as a key"
    assert tried_with(missing) == f"`{missing}`, which does not exist"
    assert "--identity FILE" in (with_agent.hint or "")


def test_a_missing_agent_is_named(
    sshd: Sshd, known_hosts: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trust(known_hosts, sshd)
    monkeypatch.setenv("SSH_AUTH_SOCK", "/nowhere/agent")

    failure = failure_of(Address("n", destination=sshd.destination, via="fabric"), known_hosts)

    assert "the agent at `/nowhere/agent`, which does not answer" in str(failure)


def test_a_refused_login_names_the_ways_that_may_help() -> None:
    log = "emmy@farm: Permission denied (publickey).\n"

    without_key = openssh.failure(Address("n", destination="emmy@farm"), log)
    with_key = openssh.failure(Address("n", destination="emmy@farm", identity="key"), log)

    login = (
        "d0ctl node login emmy@farm   # if it asks for a password, a passphrase or a second factor"
    )
    assert "the key `key` was refused" in str(with_key)
    assert with_key.hint == (
        f"check the user name, or name another key: d0ctl node add ... --identity FILE; or {login}"
    )
    assert without_key.hint == f"{login}; or name its key: d0ctl node add ... --identity FILE"


def test_a_command_that_is_missing_on_a_node_makes_the_path_of_the_account_a_suspect() -> None:
    missing = refusal("bash: line 1: exec: sh: not found")
    other = refusal("/data: Permission denied")

    assert missing.hint and "PATH" in missing.hint
    assert other.hint is None
