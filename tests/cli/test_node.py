"""node and daemon, as they are typed."""

import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from d0ctl.config import Home
from d0ctl.jobfile.spec import Disposition
from d0ctl.store.nodes import contact, leases, registry
from tests.cli.conftest import Type
from tests.store.copying import made, work
from tests.support.building import document, production
from tests.support.jobs import job, simple
from tests.support.rows import change
from tests.support.site import Site

PROGRAM = Path(sys.executable).with_name("d0ctl")


def test_nodes_are_listed_with_their_slots(site: Site, d0ctl: Type) -> None:
    site.submit(production())
    site.up(cpus=4)
    site.launch("prod/1/1/1")

    (answer,) = document(d0ctl("node", "list", "--json").stdout)["nodes"]

    assert (answer["node"], answer["state"], answer["cpus"]) == ("localhost", "up", 4)
    assert (answer["used"], answer["free"], answer["launched"]) == (1, 3, 1)
    assert "1/4 in use" in d0ctl("node", "list").stdout


def test_slots_of_packages_that_wait_on_a_node_are_not_called_in_use(
    site: Site, d0ctl: Type
) -> None:
    site.submit(production())
    site.up(cpus=1)
    site.launch("prod/1/1/1")
    site.assign("prod/1/2/1")

    assert "1/1 in use, 1 next  this machine" in d0ctl("node", "list").stdout


def test_without_a_home_there_are_no_nodes(d0ctl: Type, usual_home: Home) -> None:
    assert document(d0ctl("node", "list", "--json").stdout) == {"nodes": []}
    assert d0ctl("node", "remove", "localhost").exit_code == 3
    assert not usual_home.root.exists()


def test_a_full_disk_is_named_by_every_command_about_its_node(site: Site, d0ctl: Type) -> None:
    with site.store.writing():
        leases.take_lease(site.store, "daemon", now=time.time())
    site.up(disk_free=1_400_000, disk_total=63_000_000)

    nodes, doctor = d0ctl("node", "list").stdout, d0ctl("doctor")
    why = " ".join(d0ctl("why", "localhost").stdout.split())
    assert "takes no packages: 1.4 MB of 63 MB free on its disk, less than its reserve" in nodes
    assert "its disk is nearly full: 1.4 MB of 63 MB free" in why
    assert "up, but takes no new packages: its disk has less free space than its reserve" in why
    assert "its packages are suspended" not in why and "d0ctl node free" not in why
    assert "`node free` can remove nothing there of the 2.5 MB that its reserve lacks" in why
    assert "localhost: is nearly full: 1.4 MB of 63 MB free" in doctor.stdout.replace("\n   ", "")
    assert (doctor.exit_code, "d0ctl report disk control" in why) == (5, True)

    site.up(disk_free=900_000_000, disk_total=1_000_000_000)

    assert "nearly full" not in d0ctl("node", "list").stdout


def test_why_of_a_full_node_names_its_suspended_packages_and_the_space_that_can_be_made(
    site: Site, d0ctl: Type
) -> None:
    site.submit(job("one", [simple(outputs=[made("a", Disposition.RETAIN_TEMP)])]))
    work(site.store, Site.of(site.store, cpus=2))
    site.submit(job("two", [simple()]))
    site.launch("two/1/1/1")
    site.up(disk_free=1_400_000, disk_total=63_000_000)

    small = d0ctl("why", "localhost").stdout
    change(site.store, "file", {"name": "a"}, size=3_000_000)
    why = d0ctl("why", "localhost").stdout

    assert "`node free` can remove only 7 B there" in small and "$ d0ctl node free" not in small
    assert "its packages are suspended until more space is free" in why
    assert "d0ctl node free localhost 3MB" in why and "by hand" not in why
    assert d0ctl("node", "free", "localhost", "1GB").exit_code == 0


def test_a_node_is_drained_and_resumed(site: Site, d0ctl: Type) -> None:
    d0ctl("node", "drain", "localhost", "--reason", "new disk")

    (answer,) = document(d0ctl("node", "list", "--json").stdout)["nodes"]
    assert (answer["drained"], answer["drain_note"]) == (True, "new disk")
    assert re.search(r"drained since \d\d:\d\d:\d\d: new disk", d0ctl("node", "list").stdout)
    assert d0ctl("node", "resume", "localhost").exit_code == 0
    assert d0ctl("node", "resume", "localhost").exit_code == 4
    assert d0ctl("node", "drain", "none").exit_code == 3


def test_a_removed_localhost_does_not_come_back(site: Site, d0ctl: Type) -> None:
    assert d0ctl("node", "remove", "localhost").exit_code == 0

    d0ctl("daemon", "stop")
    assert document(d0ctl("node", "list", "--json").stdout) == {"nodes": []}
    assert d0ctl("node", "add", "localhost", "--local").exit_code == 0
    (answer,) = document(d0ctl("node", "list", "--json").stdout)["nodes"]
    assert (answer["kind"], answer["cluster"]) == ("local", "control")


def test_a_node_in_use_is_not_removed(site: Site, d0ctl: Type) -> None:
    site.submit(production())
    site.launch("prod/1/1/1")

    assert d0ctl("node", "remove", "localhost").exit_code == 4
    refused = d0ctl("node", "remove", "localhost", "--lost")
    assert (refused.exit_code, "is not down" in refused.stderr) == (4, True)
    assert "d0ctl node drain localhost" in refused.stderr


def test_a_dead_node_is_removed_with_its_packages_by_what_the_refusal_says(
    site: Site, d0ctl: Type
) -> None:
    site.submit(production())
    site.launch("prod/1/1/1")
    with site.store.writing():
        contact.down(site.store, 1, "no route to host", now=time.time())

    refused = d0ctl("node", "remove", "localhost")
    removal = "d0ctl node remove localhost --lost   # if it is gone for good"
    rehearsed = d0ctl("node", "remove", "localhost", "--lost", "--dry-run")

    assert refused.stderr == f"d0ctl: node `localhost` has 1 launched package\n{removal}\n"
    assert removal in d0ctl("why", "localhost").stdout
    assert "1 package there would count as lost" in rehearsed.stdout
    done = d0ctl("node", "remove", "localhost", "--lost", "--yes")
    assert done.stdout == (
        "removed `localhost`: 1 package there counted as lost, to run again elsewhere\n"
    )
    assert site.attempts() == [("localhost", "lost", "lost")]
    assert site.phase("prod/1/1/1") == "ready"


@pytest.mark.parametrize(
    ("is_drained", "phase", "hint"),
    [(False, "running", "d0ctl node drain localhost --wait   # and then the same again"),
     (True, "transferring",
      "d0ctl status '*' --node localhost   # it is drained: they continue to their end")],
)  # fmt: skip
def test_the_refusal_to_remove_a_node_in_use_says_what_helps(
    site: Site, d0ctl: Type, is_drained: bool, phase: str, hint: str
) -> None:
    site.submit(production())
    site.launch("prod/1/1/1")
    change(site.store, "package", {"id": 1}, phase=phase)
    if is_drained:
        d0ctl("node", "drain", "localhost")

    assert d0ctl("node", "remove", "localhost").stderr.splitlines()[1] == hint


@pytest.mark.parametrize(
    "words",
    [["a b", "host"], ["n", "host", "--via", "rsh"], ["n", "host", "--dir", "rel"],
     ["n", "host", "--dir", "/a b"], ["n", "host", "--identity", "/none"], ["n", "-oProxy=x"],
     ["n", "host", "--cpus", "0"], ["n"], ["n", "host", "--local"]],
    ids=" ".join,
)  # fmt: skip
def test_an_invalid_node_is_bad_usage(site: Site, d0ctl: Type, words: list[str]) -> None:
    assert d0ctl("node", "add", *words).exit_code == 2


def test_a_node_of_a_name_in_use_is_refused(site: Site, d0ctl: Type) -> None:
    assert d0ctl("node", "add", "localhost", "somewhere").exit_code == 4


def test_a_node_without_a_destination_is_asked_for_one(site: Site, d0ctl: Type) -> None:
    result = d0ctl("node", "add", "x")

    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.splitlines() == [
        "d0ctl: no destination for `x`",
        "d0ctl node add x [user@]host   # or --local for this machine",
    ]


@pytest.mark.parametrize("more", [[], ["--dry-run"]], ids=["done", "rehearsed"])
def test_this_machine_is_added_a_second_time_only_on_purpose(
    site: Site, d0ctl: Type, more: list[str]
) -> None:
    refused = d0ctl("node", "add", "x", "--local", *more)
    answer, hint = refused.stderr.splitlines()

    assert refused.exit_code == 4
    assert answer == (
        "d0ctl: `x` is the same machine as node `localhost`, so it would be used twice"
    )
    line = hint.partition("   #")[0]
    assert line == "d0ctl node add x --local --same-machine"
    assert d0ctl(*line.split()[1:], *more).exit_code == 0


def test_an_unreachable_node_is_not_added(site: Site, d0ctl: Type) -> None:
    result = d0ctl("node", "add", "n1", "127.0.0.1:1", "--via", "fabric")

    assert result.exit_code == 6
    fault, hint = result.stderr.splitlines()
    assert fault.endswith("127.0.0.1:1` refuses the connection: no sshd listens on that port")
    assert hint == "ssh -p 1 -- 127.0.0.1   # to see whether host and port are right"
    assert site.store.row("node_by_name", name="n1") is None


def test_a_missing_daemon_is_reported(d0ctl: Type, usual_home: Home) -> None:
    assert document(d0ctl("daemon", "status", "--json").stdout)["running"] is False
    assert d0ctl("daemon", "stop").exit_code == 0


def test_a_daemon_starts_drives_and_stops(tmp_path: Path, home: Home) -> None:
    path = tmp_path / "one.yaml"
    path.write_text("job: one\nstages: [{name: a, lines: [{run: 'echo 1 > x', outputs: [x]}]}]\n")

    def d0ctl(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([PROGRAM, *words], capture_output=True, text=True, timeout=120)

    started = d0ctl("daemon", "start")
    try:
        assert started.returncode == 0, started.stderr
        assert document(d0ctl("daemon", "status", "--json").stdout)["running"] is True
        done = d0ctl("submit", str(path), "--wait")
        assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "`one` is successful")
    finally:
        stopped = d0ctl("daemon", "stop")
    assert stopped.returncode == 0
    assert document(d0ctl("daemon", "status", "--json").stdout)["running"] is False
    assert registry.LOCAL == "localhost"


def test_a_node_can_be_added_after_its_key_is_accepted(
    d0ctl: Type, tmp_path: Path, home: Home
) -> None:
    from tests.support.sshd import Sshd

    with Sshd(tmp_path / "sshd") as sshd:
        words = ["node", "add", "n1", f"127.0.0.1:{sshd.port}", "--identity", str(sshd.identity),
                 "--same-machine", "--cpus", "3"]  # fmt: skip
        unknown = d0ctl(*words)
        wrong = d0ctl(*words, "--accept-key", "SHA256:another")
        line = unknown.stderr.splitlines()[1].partition("   #")[0]
        added = d0ctl(*line.split()[1:])
        again = d0ctl("node", "accept-key", "n1", line.split()[-1])
        other = d0ctl("node", "accept-key", "n1", f"SHA256:{'a' * 43}")
        misspelt = d0ctl("node", "accept-key", "n1", "new sshd", "--dry-run")

    assert (again.exit_code, again.stdout) == (
        0, "nothing to do: the host key of `n1` is trusted already\n"
    )  # fmt: skip
    assert (other.exit_code, other.stdout, other.stderr.splitlines()) == (6, "", [
        f"d0ctl: the host key of `n1` is {line.split()[-1]}, which is trusted already, "
        f"not SHA256:{'a' * 43}",
        "d0ctl node drain n1   # if that is the wrong machine",
    ])  # fmt: skip
    assert (misspelt.exit_code, misspelt.stderr.splitlines()) == (2, [
        "d0ctl: `new sshd` is no fingerprint: write `SHA256:` and 43 characters",
        "d0ctl node check n1 prints it",
    ])  # fmt: skip
    assert unknown.exit_code == 6
    assert "is not accepted yet: ssh-" in unknown.stderr
    assert line.startswith("d0ctl " + " ".join(words[:4]))
    assert wrong.exit_code == 6
    assert "not SHA256:another" in wrong.stderr
    assert added.exit_code == 0, added.stderr
    assert added.stdout.startswith("added `n1`: ")
    node = document(d0ctl("node", "list", "--json").stdout)["nodes"][1]
    assert (node["node"], node["cpus"], node["state"]) == ("n1", 3, "unknown")
    assert home.known_hosts.read_text().count("ssh-") == 1


def test_this_machine_has_no_host_key(site: Site, d0ctl: Type) -> None:
    result = d0ctl("node", "accept-key", "localhost", f"SHA256:{'a' * 43}")

    assert result.exit_code == 2
    assert result.stderr.startswith(
        "d0ctl: `localhost` is reached without ssh, so it has no host key"
    )


def test_a_misspelt_node_is_guessed(site: Site, d0ctl: Type) -> None:
    for verb in ("check", "drain", "remove"):
        assert d0ctl("node", verb, "localhst").stderr == (
            "d0ctl: there is no node `localhst`\ndid you mean `localhost`?\n"
        )


def test_a_node_that_exists_can_be_changed(site: Site, d0ctl: Type) -> None:
    answer = d0ctl("node", "add", "localhost", "farm02")

    assert answer.exit_code == 4
    assert answer.stderr.endswith("d0ctl node set localhost KEY=VALUE   # or remove it first\n")
