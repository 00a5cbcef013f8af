"""What a destination means."""

import shutil
from pathlib import Path

import pytest

from d0ctl.errors import BadUsage, NodeUnreachable
from d0ctl.nodes.transports.resolve import resolve
from d0ctl.sitefile.addresses.destination import Destination, parse


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("host", Destination("host")),
        ("me@host", Destination("host", "me")),
        ("me@host:2222", Destination("host", "me", 2222)),
        ("[::1]:2222", Destination("::1", "", 2222)),
        ("me@[fe80::1%eth0]", Destination("fe80::1%eth0", "me")),
        ("::1", Destination("::1")),
        ("10.0.0.1:22", Destination("10.0.0.1", "", 22)),
    ],
)
def test_a_destination_is_taken_apart(text: str, meant: Destination) -> None:
    assert parse(text) == meant


@pytest.mark.parametrize(
    "text",
    [
        "",
        "-oProxyCommand=touch x",
        "me@-host",
        "-l@host",
        "a b",
        "host:x",
        "host:99999",
        "h;id",
        "@h",
    ],
)
def test_an_invalid_destination_is_refused(text: str) -> None:
    with pytest.raises(BadUsage):
        parse(text)


def test_an_alias_means_what_ssh_says(ssh_config: Path, tmp_path: Path) -> None:
    (tmp_path / "included").write_text(
        "Host farm\n HostName 192.0.2.7\n HostKeyAlias Farm\n"
        " IdentityAgent none\n ConnectTimeout 7\n"
    )
    ssh_config.write_text(
        f"Include {tmp_path}/included\nMatch host 192.0.2.7\n Port 2200\n User prod\n"
        'Match originalhost farm\n IdentityFile "~/key one"\n IdentitiesOnly yes\n'
    )

    hop = resolve("farm").target

    assert (hop.host, hop.known_as, hop.agent) == ("192.0.2.7", "farm", "")
    assert hop.identities == (Path.home() / "key one",)
    assert hop.identities_only
    assert hop.connect_timeout == 7


def test_user_and_port_of_the_destination_win(ssh_config: Path) -> None:
    ssh_config.write_text("Host farm\n HostName 192.0.2.7\n Port 2200\n User prod\n")

    assert str(resolve("me@farm:22").target) == "me@192.0.2.7:22"
    assert resolve("farm").target.known_as == "[192.0.2.7]:2200"


def test_jumps_come_in_order_each_resolved(ssh_config: Path) -> None:
    ssh_config.write_text(
        "Host outer\n HostName 192.0.2.1\n"
        "Host gate\n HostName 192.0.2.2\n ProxyJump outer\n"
        "Host inner\n HostName 192.0.2.3\n Port 2203\n ProxyCommand false\n"
        "Host farm\n HostName 192.0.2.4\n ProxyJump me@gate:2202,inner\n"
    )

    route = resolve("farm")

    assert [hop.host for hop in route.hops] == ["192.0.2.1", "192.0.2.2", "192.0.2.3", "192.0.2.4"]
    assert (route.jumps[1].user, route.jumps[1].port) == ("me", 2202)
    assert not any(hop.proxy_command for hop in route.hops)


def test_a_circle_of_jumps_is_an_error(ssh_config: Path) -> None:
    ssh_config.write_text("Host a\n ProxyJump b\nHost b\n ProxyJump a\n")

    with pytest.raises(NodeUnreachable, match="circle"):
        resolve("a")


def test_a_proxy_command_has_its_tokens_replaced(ssh_config: Path) -> None:
    ssh_config.write_text("Host farm\n HostName 192.0.2.7\n ProxyCommand nc -X %% %h %p %r\n")

    assert resolve("me@farm:23").target.proxy_command == "nc -X % 192.0.2.7 23 me"


def test_an_identity_is_the_only_key(ssh_config: Path) -> None:
    ssh_config.write_text("Host farm\n IdentityFile /other\n")

    target = resolve("farm", "~/lab").target

    assert target.identities == (Path.home() / "lab",)
    assert target.identities_only


def test_a_broken_ssh_config_is_named(ssh_config: Path) -> None:
    ssh_config.write_text("Hots farm\n")

    with pytest.raises(NodeUnreachable, match="ssh -G farm"):
        resolve("farm")


def test_without_an_ssh_program_the_words_stand_for_themselves(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)

    hop = resolve("me@farm:2200").target

    assert str(hop) == "me@farm:2200"
    assert Path.home() / ".ssh/id_ed25519" in hop.identities
