"""What is wrong with a node is found by doing there what a production will do."""

import json
from pathlib import Path

import pytest

from d0ctl.config import Home
from d0ctl.nodes import frame_checks, ship
from d0ctl.nodes.link import Link
from d0ctl.nodes.node_check import _disk as check_disk
from d0ctl.nodes.node_check import _facts as check_facts
from d0ctl.nodes.node_check import check
from d0ctl.nodes.transports.local import LocalTransport
from d0ctl.nodes.transports.transport import Address
from d0ctl.store.nodes import registry
from tests.support.site import Site
from tests.support.sshd import Sshd


def by_name(home: Home, address: Address) -> dict[str, bool | None]:
    return {finding.what: finding.ok for finding in check(home, address, "site")}


def address_of(sshd: Sshd, directory: Path) -> Address:
    return Address("north", "ssh", sshd.destination, str(sshd.identity), str(directory))


def made_home(tmp_path: Path) -> Home:
    home = Home(tmp_path / "home")
    home.create()
    return home


def test_this_machine_passes_the_check(tmp_path: Path) -> None:
    found = by_name(made_home(tmp_path), Address("localhost", "local"))

    assert found["reach"] and found["python"] and found["clock"]
    assert found["detached processes"]


def test_a_node_behind_ssh_passes_the_check_and_is_left_clean(tmp_path: Path) -> None:
    home = made_home(tmp_path)
    with Sshd(tmp_path / "north") as sshd:
        home.known_hosts.write_text(sshd.known_hosts_line + "\n")

        found = by_name(home, address_of(sshd, tmp_path / "there"))

    assert found["reach"] and found["python"] and found["detached processes"]
    assert [path for path in (tmp_path / "there").rglob("*") if path.is_file()] == []


def test_a_check_that_is_broken_off_leaves_nothing_behind(tmp_path: Path) -> None:
    home = made_home(tmp_path)
    there = tmp_path / "there"
    with Sshd(tmp_path / "north") as sshd:
        home.known_hosts.write_text(sshd.known_hosts_line + "\n")
        findings = check(home, address_of(sshd, there), "site")
        assert next(findings).ok
        assert list(there.rglob("check-*"))

        findings.close()

    assert list(there.rglob("check-*")) == []


def test_an_unknown_host_key_is_reported_as_the_problem(tmp_path: Path) -> None:
    home = made_home(tmp_path)
    with Sshd(tmp_path / "north") as sshd:
        (finding,) = check(home, address_of(sshd, tmp_path / "there"), "site")

    assert not finding.ok
    assert "key" in finding.detail


def test_a_missing_host_is_reported_as_the_problem(tmp_path: Path) -> None:
    home = made_home(tmp_path)
    sshd = Sshd(tmp_path / "north")
    with sshd:
        home.known_hosts.write_text(sshd.known_hosts_line + "\n")

    (finding,) = check(home, address_of(sshd, tmp_path / "there"), "site")

    assert not finding.ok
    assert "refuses the connection" in finding.detail


def test_a_missing_named_python_is_reported_as_the_problem(tmp_path: Path) -> None:
    home = made_home(tmp_path)
    with Sshd(tmp_path / "north") as sshd:
        home.known_hosts.write_text(sshd.known_hosts_line + "\n")
        address = Address(
            "north",
            "ssh",
            sshd.destination,
            str(sshd.identity),
            str(tmp_path / "there"),
            python="/nowhere/python3",
        )

        (finding,) = check(home, address, "site")

    assert not finding.ok
    assert "/nowhere/python3" in finding.detail


def test_without_a_usable_python_the_first_cause_comes_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = made_home(tmp_path)
    broken = tmp_path / "python3"
    broken.write_text("#!/bin/sh\necho libpython is missing >&2\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setattr(ship, "PYTHONS", (str(broken), "/nowhere/platform-python"))
    with Sshd(tmp_path / "north") as sshd:
        home.known_hosts.write_text(sshd.known_hosts_line + "\n")

        (finding,) = check(home, address_of(sshd, tmp_path / "there"), "site")

    first, second = finding.detail.split("; ")
    assert first.endswith(f"can't run the relay: `{broken}`: libpython is missing")
    assert second.startswith("`/nowhere/platform-python`: ")


def test_invalid_facts_are_findings_not_errors(tmp_path: Path) -> None:
    facts = {
        "boot_id": "b", "base": "/x", "cpus": 1, "system": "", "machine": "", "time": 0.0,
        "machine_id": None, "memory": None, "python": "three", "disk_free": None, "load": None,
    }  # fmt: skip
    hello = frame_checks.read(
        json.dumps({"kind": "hello", "facts": facts, "attempts": []}).encode()
    )
    assert hello is not None
    link = Link(LocalTransport("n1"), None, "/x")  # type: ignore[arg-type]
    link.facts = hello["facts"]

    found = {finding.what: finding for finding in check_facts(link, Address("n1", "local"))}

    assert (found["python"].ok, found["disk"].ok) == (False, False)
    assert found["memory"].detail == "-"
    assert found["disk"].detail == "- of - free: unknown"


@pytest.mark.parametrize(
    ("free", "total", "detail"),
    [
        (900_000_000, 1_000_000_000, "900 MB of 1.0 GB free"),
        (900_000_000, 100_000_000_000, "900 MB of 100 GB free: nearly full"),
        (90_000_000, 1_000_000_000, "90 MB of 1.0 GB free: nearly full"),
        (2_000_000_000, 100_000_000_000, "2.0 GB of 100 GB free"),
    ],
)
def test_a_disk_is_full_for_the_check_when_it_is_for_the_list_of_nodes(
    site: Site, free: int, total: int, detail: str
) -> None:
    site.up(disk_free=free, disk_total=total)
    facts = {"disk_free": free, "disk_total": total, "filesystem": "ext4", "noexec": False}

    disk, _ = check_disk(facts, Address("n1", "ssh", "n1"))

    listed = registry.full_disk(registry.named(site.store, "localhost"))
    assert (disk.ok, disk.detail) == (listed is None, detail)
    assert disk.ok or disk.advice == (
        "free some, or use another disk: d0ctl node remove n1, then d0ctl node add n1 ... "
        "--dir DIR, or `dir` in the site file"
    )
