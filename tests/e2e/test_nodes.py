"""Nodes as they are found: their shells, their pythons, their limits, the way to them."""

import json

import pytest

from tests.nodes.conftest import in_config
from tests.support.site import Site
from tests.support.site.commands import fingerprint
from tests.support.sshd import Sshd
from tests.wrapper import pythons

SHELLS = ("sh", "bash", "tcsh", "fish")

NOISE = """\
echo "Welcome to the farm, $(date)"
printf 'no newline at the end'
echo "and a warning" >&2
"""

PINNED = """\
job: pinned
stages:
  - name: make
    lines:
      - for: {{node: {nodes}}}
        packages:
          - nodes: ["{{node}}"]
            run: printf '%s\\n' {{node}} > {{node}}.txt
            outputs: "{{node}}.txt"
  - name: merge
    lines:
      - run: cat {{inputs}} > all
        inputs: {{from: make}}
        outputs: all
"""


def run_on_each(site: Site, *nodes: str) -> None:
    """Run a package on each node, then a merge of all that they made somewhere."""
    site.alone()
    site.ok("run", site.write(PINNED.format(nodes=json.dumps(nodes))))

    found = site.json("status", "pinned/1/*/*")["packages"]
    assert [one["node"] for one in found] == list(nodes)
    assert {one["attempts"] for one in found} == {1}
    merged = (site.home.root / "results" / "pinned" / "all").read_text().split()
    assert merged == list(nodes)


def test_every_login_shell_works_and_so_does_a_bashrc_that_prints(site: Site) -> None:
    for shell in SHELLS:
        site.add(shell, site.start_sshd(shell, shell=shell))
    site.add("noisy", site.start_sshd("noisy", shell="bash", bashrc=NOISE))

    run_on_each(site, *SHELLS, "noisy")


def test_every_python_of_this_machine_works(site: Site) -> None:
    found = pythons.found()
    sshd = site.start_sshd("farm")
    assert found

    for version, path in found.items():
        answer = site.add(f"python{version}", sshd, "--python", path, cpus=1)
        assert f"python {version}." in answer

    run_on_each(site, *(f"python{version}" for version in found))


def test_a_python_that_is_not_there_is_refused(site: Site) -> None:
    sshd = site.start_sshd("farm")
    words = ["--identity", sshd.identity, "--accept-key", fingerprint(sshd)]

    done = site.d0ctl("node", "add", "farm", sshd.destination, *words, "--python", "/no/python3")

    assert done.code == 6
    assert "/no/python3" in done.err
    assert site.json("node", "list")["nodes"][0]["node"] == "localhost"


def test_32_packages_run_at_once_on_an_sshd_with_its_default_limits(site: Site) -> None:
    site.add("farm", cpus=32)
    site.alone()
    meeting = site.folder / "meeting"
    meeting.mkdir()
    job = f"""\
job: crowd
parameters: {{meeting: {meeting}}}
stages:
  - lines:
      - for: {{n: {{range: [1, 32]}}}}
        run: |
          touch {{meeting}}/{{n}}
          until set -- {{meeting}}/*; [ $# -ge 32 ]; do sleep 0.3; done
"""
    site.ok("run", site.write(job))

    assert site.counts("crowd") == {"done": 32}
    assert len(list(meeting.iterdir())) == 32
    assert site.sshds["farm"].log().count("Accepted publickey") <= 4


def test_two_nodes_may_share_one_home(site: Site) -> None:
    shared = site.folder / "shared"
    for name in ("north", "south"):
        site.add(name, site.start_sshd(name, home=shared))

    run_on_each(site, "north", "south")

    (ours,) = (shared / ".d0ctl").iterdir()
    assert sorted(path.name for path in ours.iterdir()) == [".folder", "north", "south"]


@pytest.fixture
def gate(site: Site) -> Sshd:
    """A jump host."""
    return site.start_sshd("gate")


@pytest.fixture
def farm(site: Site, gate: Sshd) -> Sshd:
    """A machine that is reached by an alias of ssh_config, through the gate."""
    farm = site.start_sshd("farm")
    config = in_config(gate, "gate") + in_config(farm, "farm", "ProxyJump gate")
    site.ssh_config.write_text(config)
    return farm


def add_behind(site: Site, gate: Sshd, farm: Sshd) -> None:
    """Make the machine behind the gate a node, both keys accepted."""
    keys = [word for sshd in (gate, farm) for word in ("--accept-key", fingerprint(sshd))]
    site.ok("node", "add", "farm", "farm", "--same-machine", "--cpus", "2", *keys)


def test_a_node_is_reached_by_an_alias_and_through_a_jump_host(
    site: Site, gate: Sshd, farm: Sshd
) -> None:
    add_behind(site, gate, farm)

    run_on_each(site, "farm")

    assert "Accepted publickey" in gate.log()
    assert "Accepted publickey" in farm.log()
    assert set(site.json("status", "pinned/2/1/1")) >= {"path", "status"}
    assert site.d0ctl("node", "check", "farm").code == 0


CHANGED = ["the target", "the jump host"]


@pytest.mark.parametrize("whose", CHANGED)
def test_a_changed_host_key_is_refused_and_packages_wait(
    site: Site, gate: Sshd, farm: Sshd, whose: str
) -> None:
    add_behind(site, gate, farm)
    site.alone()
    changed = farm if whose == "the target" else gate
    before = fingerprint(changed)
    changed.replace_host_key()
    line = (
        f"the host key of `[127.0.0.1]:{changed.port}` has changed: "
        f"it is {fingerprint(changed)}, not {before}"
    )
    logins = farm.log().count("Accepted publickey")

    check = site.d0ctl("node", "check", "farm")
    assert check.code == 6
    assert line in check.out
    again = site.d0ctl("node", "add", "farm2", "farm")
    assert again.code == 6
    assert f"d0ctl: {line}" in again.err
    assert f"--accept-key {fingerprint(changed)}" in again.err

    site.start_daemon()
    site.submit("job: waits\nstages: [{lines: [{run: 'true'}]}]")
    site.wait_node("farm", "down")
    why = site.ok("why", "waits/1/1/1")
    assert "no node can take it" in why
    assert line in why
    assert line in site.ok("why", "farm")
    assert site.counts("waits") == {"ready": 1}
    assert farm.log().count("Accepted publickey") == logins


def test_a_machine_that_is_a_node_already_is_added_again_only_on_purpose(site: Site) -> None:
    farm = site.start_sshd("farm")
    words = ["--cpus", "2", "--identity", farm.identity, "--accept-key", fingerprint(farm)]

    refused = site.d0ctl("node", "add", "farm", farm.destination, *words)

    assert refused.code == 4, refused
    answer, hint = refused.err.splitlines()[-2:]
    assert answer == (
        "d0ctl: `farm` is the same machine as node `localhost`, so it would be used twice"
    )
    assert [one["node"] for one in site.json("node", "list")["nodes"]] == ["localhost"]
    assert "--cpus 2" in hint
    site.ok(*hint.partition("   #")[0].split()[1:])
    assert [one["node"] for one in site.json("node", "list")["nodes"]] == ["localhost", "farm"]


def test_a_site_file_names_a_machine_twice_only_on_purpose(site: Site) -> None:
    farm = site.start_sshd("farm")
    node = f"destination: {farm.destination}, identity: {farm.identity}, cpus: 1"
    text = f'nodes: {{farm: {{{node}, accept-key: "{fingerprint(farm)}"}}}}'

    refused = site.d0ctl("site", "apply", site.write(text, "site.yaml"), "--yes")

    assert refused.code == 4, refused
    assert "if that is intended, give `farm` the key `same-machine: yes`" in refused.err
    assert [one["node"] for one in site.json("node", "list")["nodes"]] == ["localhost"]
    meant = text.replace("cpus: 1", "cpus: 1, same-machine: yes")
    site.ok("site", "apply", site.write(meant, "site.yaml"), "--yes")
    shown = site.ok("site", "show")
    assert "same-machine: true" in shown
    again = site.ok("site", "apply", site.write(shown, "site.yaml"), "--yes")
    assert again.startswith("no changes")
