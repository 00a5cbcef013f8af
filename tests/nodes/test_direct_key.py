"""One-time keys in `authorized_keys`, as a real sshd sees them."""

import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from d0ctl_wrapper.host.direct import key
from tests.nodes.conftest import SshdStarter
from tests.support.openssh import make_key
from tests.support.sshd import Sshd

NAME = "0123456789abcdef" * 2


@pytest.fixture
def account(start_sshd: SshdStarter, monkeypatch: pytest.MonkeyPatch) -> Iterator[Sshd]:
    """An account with a file of keys, in whose name the test acts."""
    sshd = start_sshd(is_plain=True)
    monkeypatch.setenv("HOME", str(sshd.home))
    monkeypatch.setenv("TZ", "Pacific/Kiritimati")  # not that of sshd
    time.tzset()
    yield sshd
    monkeypatch.undo()
    time.tzset()  # or all later tests of this process had that time


@pytest.fixture
def identity(tmp_path: Path) -> Path:
    """A key that nobody knows yet."""
    make_key(tmp_path / "once")
    return tmp_path / "once"


def public(identity: Path) -> str:
    """Its public half."""
    return " ".join(Path(f"{identity}.pub").read_text().split()[:2])


def log_in(sshd: Sshd, identity: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    """Log in and ask for a command."""
    options = ["-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null",
               "-o", "IdentitiesOnly=yes", "-o", "BatchMode=yes", "-i", str(identity)]  # fmt: skip
    return subprocess.run(
        ["ssh", "-F", "/dev/null", *options, "-p", str(sshd.port), sshd.address, *words],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60,
    )  # fmt: skip


def lines(sshd: Sshd) -> bytes:
    """The keys of the account."""
    return (sshd.home / ".ssh" / "authorized_keys").read_bytes()


def test_a_key_runs_its_command_only(account: Sshd, identity: Path) -> None:
    key.add(public(identity), NAME, "exec echo -n this")

    asked = log_in(account, identity, "touch", str(account.home / "other"))

    assert (asked.returncode, asked.stdout) == (0, "this"), asked
    assert not (account.home / "other").exists()


def test_a_key_is_refused_when_it_has_expired_and_goes_with_the_next(
    account: Sshd, identity: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(key, "VALID_S", -2.0)
    key.add(public(identity), NAME, "exec echo this")

    refused = log_in(account, identity)
    key.expire()

    assert refused.returncode == 255 and "Permission denied" in refused.stderr, refused
    assert lines(account) == b""


def test_a_key_that_is_removed_leaves_all_else_as_it_was(account: Sshd, identity: Path) -> None:
    path = account.home / ".ssh" / "authorized_keys"
    path.parent.mkdir()
    mine = b'# k\xff\n\nrestrict,command="x" ssh-ed25519 AAAA d0ctl-direct-me\r\nssh-rsa B\n'
    path.write_bytes(mine)
    path.chmod(0o640)
    others = "f" * 32

    key.add(public(identity), others, "exec true")
    key.add(public(identity), NAME, "exec true")
    key.remove(NAME)
    left = lines(account)
    key.remove(others)

    assert left.startswith(mine) and left.count(b"\n") == mine.count(b"\n") + 1
    assert lines(account) == mine
    assert path.stat().st_mode & 0o777 == 0o640
    assert [entry.name for entry in path.parent.iterdir()] == ["authorized_keys"]


@pytest.mark.parametrize(
    "words", [("ssh-rsa AAAA", "exec true"), ("ssh-ed25519 A\nB", "exec true"), ("", 'a"b')]
)
def test_nothing_is_added_that_could_be_read_in_another_way(
    account: Sshd, identity: Path, words: tuple[str, str]
) -> None:
    with pytest.raises(ValueError):
        key.add(words[0] or public(identity), NAME, words[1])

    assert not (account.home / ".ssh").exists()
