"""Whose key is trusted is a person's decision, at a terminal or by name."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.e2e.terminal import terminal
from tests.support.rows import change
from tests.support.site import Site
from tests.support.site.commands import Done, fingerprint
from tests.support.sshd import Sshd
from tests.support.waiting import wait_until

STRANGER = "SHA256:" + "A" * 43


@pytest.fixture
def farm(site: Site) -> Sshd:
    """A machine whose key nobody has seen."""
    return site.start_sshd("farm")


def known(site: Site) -> str:
    """The keys that were accepted."""
    path = site.home.root / "known_hosts"
    return path.read_text() if path.exists() else ""


def names(site: Site) -> list[str]:
    """The nodes that we have."""
    return [node["node"] for node in site.json("node", "list")["nodes"]]


def add(farm: Sshd, *more: str) -> list[str]:
    """The words that add it."""
    trust = ["--identity", str(farm.identity), "--same-machine"]
    return ["node", "add", "farm", farm.destination, *trust, *more]


def test_without_a_terminal_the_line_that_accepts_the_key_is_reported(
    site: Site, farm: Sshd
) -> None:
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


def test_a_key_other_than_the_named_one_is_refused(site: Site, farm: Sshd) -> None:
    done = site.d0ctl(*add(farm, "--accept-key", STRANGER))

    assert done.code == 6
    first = done.err.splitlines()[0]
    assert f"is {fingerprint(farm)}, not {STRANGER}" in first
    assert known(site) == ""
    assert "farm" not in names(site)
    assert farm.log().count("Accepted") == 0


def test_the_named_key_is_compared_with_one_that_is_known_already(
    site: Site, farm: Sshd, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    subprocess.run(["ssh-keygen", "-q", "-N", "", "-t", "ed25519", "-f", other], check=True)
    named = ["node", "add", "farm", farm.destination, "--same-machine", "--cpus", "2"]
    trusted = ["--accept-key", fingerprint(farm)]
    refused = site.d0ctl(*named, "--identity", str(other), *trusted)
    known_before = known(site)

    done = site.d0ctl(*named, "--identity", str(farm.identity), "--accept-key", STRANGER)

    assert refused.code == 6
    assert known_before == farm.known_hosts_line
    assert done.code == 6
    first, second = done.err.splitlines()
    assert first == f"d0ctl: the host key of `farm` is {fingerprint(farm)}, not {STRANGER}"
    assert "farm" not in names(site)
    assert site.ok(*second.partition("   #")[0].split()[1:]).startswith("added `farm`")


def test_the_key_of_a_node_that_moves_goes_into_the_site_file(site: Site, farm: Sshd) -> None:
    moved = site.start_sshd("moved")

    def apply(machine: Sshd, *keys: str) -> Done:
        text = f"destination: {machine.destination}, identity: {machine.identity}, "
        text += f"same-machine: yes, accept-key: [{', '.join(keys)}]"
        return site.d0ctl("site", "apply", site.write(f"nodes: {{farm: {{{text}}}}}", "site.yaml"))

    assert apply(farm, fingerprint(farm)).code == 0
    unnamed, outdated = apply(moved), apply(moved, fingerprint(farm))

    advice = f"write `accept-key: [{fingerprint(moved)}]` under `farm`, then d0ctl site apply "
    for refused in (unnamed, outdated):
        assert refused.code == 6
        assert refused.err.splitlines()[-1].startswith(advice)
    assert fingerprint(moved) not in known(site)
    assert apply(moved, fingerprint(moved)).code == 0
    assert names(site) == ["localhost", "farm"]


def test_a_site_file_with_an_earlier_key_is_no_match_and_changes_no_accepted_key(
    site: Site, farm: Sshd
) -> None:
    entry = f"destination: {farm.destination}, identity: {farm.identity}, same-machine: yes"

    def said(*command: str, also: str = "") -> tuple[int, str, str]:
        text = f'nodes: {{farm: {{{entry}, accept-key: ["{key}", "{STRANGER}"]{also}}}}}'
        done = site.d0ctl("site", *command[:1], site.write(text, "site.yaml"), *command[1:])
        return done.code, done.out, done.err

    key = fingerprint(farm)
    said("apply")
    site_file = ["diff"], ["apply", "--dry-run"], ["apply"]
    same = [said(*command) for command in site_file]
    farm.replace_host_key()
    site.ok("node", "accept-key", "farm", fingerprint(farm))

    stale = [said(*command) for command in site_file]
    changed = [said(*command, also=", speed: 2") for command in site_file[:2]]

    remark = (
        f"node `farm`: its accepted host key is {fingerprint(farm)}, which is not under "
        "`accept-key` in the file; `site apply` changes no accepted key\n"
    )
    assert same == [(0, "no changes: the site matches the file\n", "")] * 3
    assert stale == [(0, "no changes\n", remark)] * 3
    assert [(code, remark in err) for code, _, err in changed] == [(1, True), (0, True)]
    assert known(site) == farm.known_hosts_line


def test_a_python_that_is_none_is_named_as_the_cause(site: Site, farm: Sshd) -> None:
    trust = ["--accept-key", fingerprint(farm)]
    done = site.d0ctl(*add(farm, *trust, "--python", "/bin/true"))

    fault, hint = done.err.splitlines()

    assert done.code == 6
    assert fault.startswith("d0ctl: node `farm` can't run the relay: `/bin/true`: ")
    assert hint.startswith("--python of `node add`, or `python` in the site file, ")


def test_at_a_terminal_the_fingerprint_is_shown_and_asked_for_once(site: Site, farm: Sshd) -> None:
    with terminal(site, *add(farm)) as screen:
        screen.expect("trust this key?")
        assert fingerprint(farm) in screen.text
        screen.type("y\n")

        assert screen.end() == 0, screen.text
        assert screen.text.count("trust this key?") == 1
    assert known(site) == farm.known_hosts_line
    assert "farm" in names(site)


def test_at_a_terminal_a_new_key_can_be_declined(site: Site, farm: Sshd) -> None:
    with terminal(site, *add(farm)) as screen:
        screen.expect("trust this key?")
        screen.type("\n")

        assert screen.end() == 6, screen.text
    assert known(site) == ""
    assert farm.log().count("Accepted") == 0


SLOW = """\
job: slow
stages:
  - lines:
      - nodes: [farm]
        run: until [ -e {gate} ]; do sleep 0.1; done; echo done > out
        outputs: out
"""


def test_a_new_key_is_accepted_while_packages_are_on_the_node(site: Site, farm: Sshd) -> None:
    gate = site.folder / "gate"
    site.add("farm", farm)
    site.start_daemon()
    site.submit(SLOW.format(gate=gate))
    site.wait_phase("slow/1/1/1", "running")

    farm.replace_host_key()
    site.wait_node("farm", "down")
    checked = site.d0ctl("node", "check", "farm")
    advice = next(line for line in checked.out.splitlines() if "accept-key" in line)
    command = advice.partition("#")[0].split()
    accepted = site.ok(*command[1:], "--reason", "new disk")
    gate.touch()
    site.ok("wait", "slow")

    assert checked.code == 6
    assert "known_hosts" not in checked.out + checked.err
    assert command == ["d0ctl", "node", "accept-key", "farm", fingerprint(farm)]
    assert accepted == f"accepted the host key of `[127.0.0.1]:{farm.port}`: {fingerprint(farm)}\n"
    assert known(site) == farm.known_hosts_line
    assert site.package("slow/1/1/1")["attempts"][-1]["attempt"] == 1
    assert "new disk" in site.ok("why", "farm") + str(site.ask("select note from action"))


def test_a_new_key_that_nobody_named_stays_refused(site: Site, farm: Sshd) -> None:
    site.add("farm", farm)
    before = known(site)
    farm.replace_host_key()

    unnamed = site.d0ctl("node", "accept-key", "farm")
    misnamed = site.d0ctl("node", "accept-key", "farm", STRANGER)

    assert (unnamed.code, misnamed.code) == (6, 6)
    assert f"it is {fingerprint(farm)}" in unnamed.err
    assert f"is {fingerprint(farm)}, not {STRANGER}" in misnamed.err
    for refused in (unnamed, misnamed):
        assert f"d0ctl node accept-key farm {fingerprint(farm)}" in refused.err
    assert known(site) == before


def test_at_a_terminal_a_new_key_is_shown_beside_the_old_one(site: Site, farm: Sshd) -> None:
    site.add("farm", farm)
    old = fingerprint(farm)
    farm.replace_host_key()

    with terminal(site, "node", "accept-key", "farm") as screen:
        screen.expect("trust this key?")
        assert old in screen.text
        assert fingerprint(farm) in screen.text
        screen.type("y\n")

        assert screen.end() == 0, screen.text
    assert known(site) == farm.known_hosts_line
    assert site.ok("node", "accept-key", "farm").startswith("nothing to do")


def test_a_reinstalled_node_loses_its_files(site: Site, farm: Sshd) -> None:
    site.add("farm", farm)
    site.alone()
    site.ok("run", site.write(SLOW.format(gate=os.devnull)))
    with site.opened() as store, store.writing():
        change(store, "node", {"name": "farm"}, machine="the old disk")
    farm.replace_host_key()

    refused = site.d0ctl("node", "accept-key", "farm", fingerprint(farm))
    command = refused.err.splitlines()[-1].partition("#")[0].split()
    accepted = site.ok(*command[1:])

    assert refused.code == 4
    assert f"accepted the host key of `[127.0.0.1]:{farm.port}`" in refused.err
    assert known(site) == farm.known_hosts_line
    assert command == ["d0ctl", "node", "accept-key", "farm", "--reinstalled"]
    assert "`farm` is a new machine now" in accepted
    site.start_daemon()
    site.wait_node("farm", "up")
    wait_until(lambda: not site.ask("select 1 from location where node_id ="
                                    " (select id from node where name = 'farm')"))  # fmt: skip


def test_a_node_with_the_machine_id_that_it_had_is_not_taken_for_a_reinstalled_one(
    site: Site, farm: Sshd
) -> None:
    site.add("farm", farm)
    farm.replace_host_key()

    said = site.ok("node", "accept-key", "farm", fingerprint(farm), "--reinstalled")

    assert said.startswith("accepted the host key of ")
    assert "`farm` has the same machine-id as before, so its files and attempts count as" in said
