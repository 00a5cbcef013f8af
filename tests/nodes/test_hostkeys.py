"""The home's known_hosts."""

import stat
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from d0ctl.nodes.transports.hostkeys import (
    ChangedKey,
    HostKey,
    RevokedKey,
    UnknownKey,
    accept,
    check,
)
from tests.nodes.conftest import one_plain_line
from tests.support.openssh import make_key


@pytest.fixture
def key(tmp_path: Path) -> HostKey:
    return new_key(tmp_path / "one")


def new_key(path: Path) -> HostKey:
    make_key(path)
    return HostKey(*Path(f"{path}.pub").read_text().split()[:2])


def test_the_fingerprint_is_the_one_ssh_keygen_prints(key: HostKey, tmp_path: Path) -> None:
    words = ["ssh-keygen", "-l", "-f", str(tmp_path / "one.pub")]

    printed = subprocess.run(words, check=True, capture_output=True, text=True).stdout

    assert key.fingerprint == printed.split()[1]


def test_a_key_is_unknown_until_it_is_accepted(key: HostKey, known_hosts: Path) -> None:
    with pytest.raises(UnknownKey) as unknown:
        check(known_hosts, "farm", key)
    accept(known_hosts, unknown.value.name, unknown.value.key)

    check(known_hosts, "farm", key)
    assert stat.S_IMODE(known_hosts.stat().st_mode) == 0o600
    assert one_plain_line(str(unknown.value))
    assert key.fingerprint in str(unknown.value)


def test_accepting_twice_changes_nothing(key: HostKey, known_hosts: Path) -> None:
    accept(known_hosts, "farm", key)
    before = known_hosts.read_text()

    accept(known_hosts, "farm", key)

    assert known_hosts.read_text() == before


def test_an_unfinished_last_line_is_left_alone(key: HostKey, known_hosts: Path) -> None:
    known_hosts.write_text("# a remark")

    accept(known_hosts, "farm", key)

    assert known_hosts.read_text().startswith("# a remark\nfarm ssh-ed25519 ")


def test_a_changed_key_is_refused_until_it_is_accepted(
    key: HostKey, known_hosts: Path, tmp_path: Path
) -> None:
    known_hosts.write_text("# a remark\n")
    accept(known_hosts, "farm", key)
    other = new_key(tmp_path / "two")

    with pytest.raises(ChangedKey) as changed:
        check(known_hosts, "farm", other)
    accept(known_hosts, "farm", other)

    assert one_plain_line(str(changed.value))
    assert known_hosts.read_text() == f"# a remark\nfarm {other.algorithm} {other.text}\n"
    assert stat.S_IMODE(known_hosts.stat().st_mode) == 0o600
    with pytest.raises(ChangedKey):
        check(known_hosts, "farm", key)


def test_a_new_key_leaves_the_other_hosts_of_a_line_and_hashed_names_alone(
    key: HostKey, known_hosts: Path, tmp_path: Path
) -> None:
    accept(known_hosts, "hashed", key)
    subprocess.run(["ssh-keygen", "-H", "-f", str(known_hosts)], check=True, capture_output=True)
    hashed = known_hosts.read_text()
    known_hosts.write_text(f"{hashed}a,farm,b {key.algorithm} {key.text} comment\n")
    other = new_key(tmp_path / "two")

    accept(known_hosts, "farm", other)

    check(known_hosts, "farm", other)
    for host in ("hashed", "a", "b"):
        check(known_hosts, host, key)
    assert known_hosts.read_text() == (
        f"{hashed}a,b {key.algorithm} {key.text} comment\nfarm {other.algorithm} {other.text}\n"
    )


def test_keys_that_are_accepted_at_the_same_time_are_all_kept(
    key: HostKey, known_hosts: Path, tmp_path: Path
) -> None:
    other = new_key(tmp_path / "two")
    hosts = [f"farm{number}" for number in range(20)]
    for host in hosts[::2]:
        accept(known_hosts, host, key)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda host: accept(known_hosts, host, other), hosts))

    for host in hosts:
        check(known_hosts, host, other)
    assert len(known_hosts.read_text().splitlines()) == len(hosts)


def test_hashed_names_are_understood(key: HostKey, known_hosts: Path) -> None:
    accept(known_hosts, "[farm]:2200", key)
    subprocess.run(["ssh-keygen", "-H", "-f", str(known_hosts)], check=True, capture_output=True)
    assert "farm" not in known_hosts.read_text()

    check(known_hosts, "[farm]:2200", key)


def test_a_revoked_key_is_refused(key: HostKey, known_hosts: Path) -> None:
    accept(known_hosts, "farm", key)
    known_hosts.write_text(known_hosts.read_text() + f"@revoked farm {key.algorithm} {key.text}\n")

    with pytest.raises(RevokedKey, match="revoked"):
        check(known_hosts, "farm", key)
    with pytest.raises(RevokedKey):
        accept(known_hosts, "farm", key)


def test_lines_without_keys_are_skipped(key: HostKey, known_hosts: Path) -> None:
    known_hosts.write_text(
        "farm\nfarm ssh-ed25519 not*base64\n\n@cert-authority farm x y\n|1|x farm k\n"
    )

    accept(known_hosts, "farm", key)

    check(known_hosts, "farm", key)
