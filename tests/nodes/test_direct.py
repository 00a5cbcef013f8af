"""Streams of files for which one node logs in at the other, through real sshds."""

import os
import signal
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest
from msgspec.structs import replace

from d0ctl.errors import D0Error
from d0ctl.nodes import stream
from d0ctl.nodes.carry import Copy
from d0ctl.nodes.courier_reports import FileFacts, LoginTried
from d0ctl.nodes.direct import Login
from d0ctl.nodes.transports import hostkeys
from d0ctl.nodes.transports.hostkeys import HostKey
from tests.nodes.conftest import Nodes
from tests.nodes.streams import copy_of, entry, large, leftovers, made, receive
from tests.support.openssh import free_port, make_key
from tests.support.sshd import Sshd
from tests.support.waiting import descendants, wait_until


@pytest.fixture
def sshd_options() -> dict[str, object]:
    """Logins as the account has them, whose own authorized_keys count."""
    return {"is_plain": True}


def keys(sshd: Sshd) -> str:
    """The keys that the account behind an sshd lets in."""
    path = sshd.home / ".ssh" / "authorized_keys"
    return path.read_text() if path.exists() else ""


def command(pid: int) -> str:
    """The words of a process."""
    return Path(f"/proc/{pid}/cmdline").read_text()


def carried(
    copies: Sequence[Copy], nodes: Nodes, *callers: int
) -> tuple[list[FileFacts | D0Error], list[LoginTried]]:
    """Copy files from the first node to the second, by a login of one of these at the other."""
    tried: list[LoginTried] = []
    logins = [Login(nodes[caller], nodes[1 - caller]) for caller in callers]
    return stream.carry(copies, *nodes, logins, tried.append), tried


@pytest.mark.parametrize("caller", [0, 1])
def test_files_go_directly_and_the_key_is_gone(
    nodes: Nodes, sshds: list[Sshd], monkeypatch: pytest.MonkeyPatch, caller: int
) -> None:
    monkeypatch.setattr(stream, "_copy_files", None)
    for sshd in sshds:
        (sshd.home / ".ssh").mkdir()
        (sshd.home / ".ssh" / "authorized_keys").write_text("# mine, without an end")
    texts = [b"small", b"", large(), os.urandom(100_000)]
    copies = [
        copy_of(made(nodes[0], f"f{number}", text), nodes[1], text)
        for number, text in enumerate(texts)
    ]

    outcomes, tried = carried(copies, nodes, caller)

    assert all(isinstance(outcome, FileFacts) for outcome in outcomes), outcomes
    assert [Path(copy.target).read_bytes() for copy in copies] == texts
    assert tried == [LoginTried(nodes[caller].node, nodes[1 - caller].node, "")]
    assert not leftovers(nodes[1])
    assert [keys(sshd).rstrip("\n") for sshd in sshds] == ["# mine, without an end"] * 2


def test_a_large_file_that_was_cut_off_goes_on_directly(nodes: Nodes) -> None:
    data = large()
    path = made(nodes[0], "large", data)
    copy = copy_of(path, nodes[1], data)
    half = len(data) // 2
    receive(copy, nodes[1], entry(len(data)) + data[:half])
    path.chmod(0o600)
    path.write_bytes(bytes(half) + data[half:])  # only the rest is still right at the source

    (facts,), _ = carried([copy], nodes, 0)

    assert isinstance(facts, FileFacts), facts
    assert Path(copy.target).read_bytes() == data


def test_if_one_login_is_impossible_the_other_is_used_or_else_the_control_host(
    nodes: Nodes, sshds: list[Sshd], known_hosts: Path, tmp_path: Path
) -> None:
    nodes[1].address = replace(
        nodes[1].address, destination=f"{sshds[1].user}@127.0.0.1:{free_port('127.0.0.1')}"
    )
    algorithm, text = sshds[0].known_hosts_line.split()[1:]
    key = HostKey(algorithm, text)
    hostkeys.accept(known_hosts, f"[127.0.0.1]:{nodes[1].address.destination[-5:]}", key)
    copies = [copy_of(made(nodes[0], name, b"text"), nodes[1], b"text") for name in "ab"]

    (first,), pulled = carried(copies[:1], nodes, 0, 1)
    make_key(tmp_path / "other")
    other = HostKey(algorithm, (tmp_path / "other.pub").read_text().split()[1])
    hostkeys.accept(known_hosts, sshds[0].known_hosts_line.split()[0], other)
    (second,), refused = carried(copies[1:], nodes, 0, 1)

    assert isinstance(first, FileFacts) and isinstance(second, FileFacts)
    assert [tried.node for tried in pulled] == [1, 2] and not pulled[1].fault
    assert "Connection refused" in pulled[0].fault, pulled
    assert "Host key verification failed" in refused[1].fault, refused
    assert not any(map(keys, sshds))


@pytest.mark.parametrize("victim", ["receive", "send", "control host"])
def test_the_key_goes_when_an_end_or_the_control_host_is_killed(
    nodes: Nodes, sshds: list[Sshd], victim: str
) -> None:
    copy = copy_of(made(nodes[0], "a", b"text"), nodes[1], b"text")
    os.kill(sshds[1].pid, signal.SIGSTOP)  # the login hangs, while the links are still at work
    outcomes: list[object] = []

    def carry() -> None:
        try:
            outcomes.append(carried([copy], nodes, 0))
        except D0Error as error:
            outcomes.append(error)

    thread = threading.Thread(target=carry)
    thread.start()
    try:
        wait_until(lambda: "d0ctl-direct-" in keys(sshds[1]), what="the key is there")
        if victim == "control host":
            sshds[1].cut()
        else:
            found = [pid for sshd in sshds for pid in descendants(sshd.pid)]
            ends = [pid.number for pid in found if command(pid.number).endswith(f"\0{victim}\0")]
            os.kill(min(ends), signal.SIGKILL)

        wait_until(lambda: not keys(sshds[1]), what="the key is gone")
    finally:
        os.kill(sshds[1].pid, signal.SIGCONT)
        thread.join(60)
    assert len(outcomes) == 1
