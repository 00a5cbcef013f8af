"""Whose key is trusted is a person's decision, at a terminal or by name."""

import pytest

from tests.e2e.site import Site, fingerprint
from tests.e2e.terminal import terminal
from tests.support.sshd import Sshd

STRANGER = "SHA256:" + "A" * 43


@pytest.fixture
def farm(site: Site) -> Sshd:
    """A machine whose key nobody has seen."""
    return site.start_sshd("farm")


def known(site: Site) -> str:
    """The keys that were accepted."""
    path = site.home / "known_hosts"
    return path.read_text() if path.exists() else ""


def names(site: Site) -> list[str]:
    """The nodes that we have."""
    return [node["node"] for node in site.json("node", "list")["nodes"]]


def add(farm: Sshd, *more: str) -> list[str]:
    """The words that add it."""
    return ["node", "add", "farm", farm.destination, "--identity", str(farm.identity), *more]


def test_without_a_terminal_the_line_that_accepts_the_key_is_told(site: Site, farm: Sshd) -> None:
    done = site.d0ctl(*add(farm))

    assert (done.code, done.out) == (6, "")
    first, second = done.err.splitlines()
    assert first == (
        f"d0ctl: the host key of `[127.0.0.1]:{farm.port}` is not accepted yet: "
        f"ssh-ed25519 {fingerprint(farm)}"
    )
    command = second.partition("#")[0].split()
    assert command[0] == "d0ctl"
    assert ["--accept-key", fingerprint(farm)] == command[-2:]
    assert known(site) == ""
    assert "farm" not in names(site)
    assert farm.log().count("Accepted") == 0

    assert site.ok(*command[1:]).startswith("added `farm`")
    assert known(site) == farm.known_hosts_line


def test_another_key_than_the_one_named_is_refused(site: Site, farm: Sshd) -> None:
    done = site.d0ctl(*add(farm, "--accept-key", STRANGER))

    assert done.code == 6
    first = done.err.splitlines()[0]
    assert f"is {fingerprint(farm)}, not {STRANGER}" in first
    assert known(site) == ""
    assert "farm" not in names(site)
    assert farm.log().count("Accepted") == 0


def test_at_a_terminal_the_fingerprint_is_shown_and_asked_for_once(site: Site, farm: Sshd) -> None:
    with terminal(site, *add(farm)) as screen:
        screen.expect("is that right?")
        assert fingerprint(farm) in screen.text
        screen.type("y\n")

        assert screen.end() == 0, screen.text
        assert screen.text.count("is that right?") == 1
    assert known(site) == farm.known_hosts_line
    assert "farm" in names(site)


def test_at_a_terminal_no_is_an_answer(site: Site, farm: Sshd) -> None:
    with terminal(site, *add(farm)) as screen:
        screen.expect("is that right?")
        screen.type("\n")

        assert screen.end() == 6, screen.text
    assert known(site) == ""
    assert farm.log().count("Accepted") == 0
