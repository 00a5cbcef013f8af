"""Nodes and connections that go away: running packages go on, waiting ones wait, nothing fails."""

import subprocess
from pathlib import Path

import pytest

from tests.support.site import Site
from tests.support.site.commands import D0CTL, end_process, fingerprint
from tests.support.sshd import Sshd
from tests.support.waiting import PATIENCE_S, Pid, wait_until

HELD_UP = """\
job: {name}
parameters: {{record: {record}, go: {go}}}
stages:
  - lines:
      - for: {{n: [1, 2]}}
        run: |
          echo "start {{n}} $D0CTL_ATTEMPT_ID" >> {{record}}
          until [ -e {{go}} ]; do sleep 0.05; done
          echo {{n}} > {{n}}.out
          echo "end {{n}} $D0CTL_ATTEMPT_ID" >> {{record}}
        outputs: "{{n}}.out"
"""


@pytest.fixture
def record(site: Site) -> Path:
    """A line for each start and end of a binary."""
    path = site.folder / "record"
    path.touch()
    return path


@pytest.fixture
def farm(site: Site, record: Path) -> Sshd:
    """The only node, with a daemon, and two packages on it that wait for the file `go`."""
    site.add("farm")
    site.alone()
    site.start_daemon()
    site.submit(HELD_UP.format(name="held", record=record, go=site.folder / "go"))
    wait_until(lambda: words(record).count("start") == 2, what="both run")
    return site.sshds["farm"]


def words(record: Path) -> list[str]:
    """The first words of the record."""
    return [line.split()[0] for line in record.read_text().splitlines()]


def let_go(site: Site, record: Path) -> None:
    """Let both packages end, and return when they have."""
    (site.folder / "go").touch()
    wait_until(lambda: words(record).count("end") == 2, what="both have ended")


def assert_whole(site: Site, record: Path) -> None:
    """Both packages ended well, and ran once."""
    assert site.ok("wait", "held") == "`held` is successful\n"
    assert sorted(words(record)) == ["end", "end", "start", "start"]
    attempts = [site.package(f"held/1/{line}/1")["attempts"] for line in (1, 2)]
    assert [[one["outcome"] for one in each] for each in attempts] == [["successful"]] * 2
    assert site.json("history", "held")["reasons"] == []
    results = site.home.root / "results" / "held"
    assert [(results / f"{n}.out").read_text() for n in (1, 2)] == ["1\n", "2\n"]


def test_packages_on_a_disconnected_node_end_there_and_are_reported_later(
    site: Site, farm: Sshd, record: Path
) -> None:
    farm.stop()
    site.wait_node("farm", "down")
    site.wait_phase("held/1/1/1", "unreachable")
    why = site.ok("why", "held/1/1/1")
    assert "was launched on `farm`, which has been down since" in why
    assert "it may continue there" in why
    assert site.json("status", "held")["status"] == "running"

    let_go(site, record)
    farm.start()

    assert_whole(site, record)


GIVEN_UP = """\
job: given
stages:
  - lines:
      - run: |
          echo start >> {record}
          while [ ! -e {record}.go ]; do sleep 0.05; done
          echo end >> {record}
"""


def test_packages_of_a_node_that_is_given_up_run_elsewhere_and_end_there(
    site: Site, tmp_path: Path
) -> None:
    sshd = site.start_sshd("farm")
    site.add("farm", sshd)
    site.alone()
    settings = site.write("defaults: {lease: 1s, unreachable-after: 2s}\n", "site.yaml")
    site.ok("site", "apply", settings, "--yes")
    site.start_daemon()
    record = tmp_path / "record"
    site.submit(GIVEN_UP.format(record=record))
    wait_until(record.exists, what="it runs on the farm")
    sshd.stop()
    wait_until(lambda: len(site.package("given/1/1/1")["failures"]) == 1, what="given up")

    site.ok("node", "resume", "localhost")
    wait_until(lambda: record.read_text() == "start\nstart\n", what="it runs here")
    sshd.start()
    site.wait_node("farm", "up")
    wait_until(lambda: len(running(site)) == 1, what="the first one is ended")
    Path(f"{record}.go").touch()

    assert site.ok("wait", "given") == "`given` is successful\n"
    assert record.read_text() == "start\nstart\nend\n"
    first, second = site.package("given/1/1/1")["attempts"]
    assert (first["outcome"], first["reason"]) == ("lost", "platform-failure")
    assert first["message"] == "its node did not answer for 2.0 s"
    assert (second["node"], second["kind"], second["outcome"]) == (
        "localhost",
        "restart",
        "successful",
    )
    assert site.json("doctor")["ok"]


def running(site: Site) -> list[Pid]:
    """The shells that run the script of the package."""
    scripts = [pid for pid in site.processes() if "1.sh" in pid.command_line()]
    return [pid for pid in scripts if "bash" in pid.command_line()]


def test_a_connection_that_is_cut_again_and_again_loses_nothing(
    site: Site, farm: Sshd, record: Path
) -> None:
    for number in range(2, 5):
        farm.cut()
        wait_until(
            lambda n=number: farm.log().count("Accepted") > n,  # type: ignore[misc]
            PATIENCE_S,
            "the node is reached again",
        )
    let_go(site, record)

    assert_whole(site, record)


def test_a_frozen_sshd_that_continues_has_lost_nothing(
    site: Site, farm: Sshd, record: Path
) -> None:
    farm.freeze()
    let_go(site, record)
    # The start message is held for a moment, so the freeze may come before it.
    assert site.counts("held").keys() <= {"starting", "running", "unreachable"}
    farm.thaw()

    assert_whole(site, record)


def test_a_host_key_that_changes_in_mid_run_is_refused_until_the_old_one_is_back(
    site: Site, farm: Sshd, record: Path
) -> None:
    names = ("host_key", "host_key.pub")
    ours = {name: (farm.folder / name).read_bytes() for name in names}
    before = fingerprint(farm)
    farm.replace_host_key()
    site.wait_phase("held/1/1/1", "unreachable")
    wait_until(
        lambda: f"has changed: it is {fingerprint(farm)}, not {before}" in site.ok("why", "farm"),
        PATIENCE_S,
        "why says so",
    )
    let_go(site, record)
    assert site.json("history", "held")["reasons"] == []

    farm.stop()
    for name, data in ours.items():
        (farm.folder / name).write_bytes(data)
    farm.start()

    assert_whole(site, record)


def test_a_login_that_is_refused_in_mid_run_fails_no_package(
    site: Site, farm: Sshd, record: Path
) -> None:
    keys = farm.folder / "authorized_keys"
    ours = keys.read_bytes()
    keys.write_bytes(b"")
    farm.cut()
    site.wait_phase("held/1/1/1", "unreachable")
    let_go(site, record)
    assert site.json("history", "held")["reasons"] == []
    keys.write_bytes(ours)

    assert_whole(site, record)


def test_a_node_that_is_down_at_launch_makes_packages_wait_or_go_elsewhere(site: Site) -> None:
    for name in ("north", "south"):
        site.add(name)
    site.alone()
    site.sshds["south"].stop()
    site.start_daemon()
    site.wait_node("south", "down")

    free = "job: free\nstages: [{lines: [{for: {n: {range: [1, 6]}}, run: 'true'}]}]"
    pinned = "job: pinned\nstages: [{lines: [{packages: [{nodes: [south], run: 'true'}]}]}]"
    site.submit(free)
    site.submit(pinned)
    site.ok("wait", "free")
    assert {one["node"] for one in site.json("status", "free/*/*/*")["packages"]} == {"north"}

    assert site.counts("pinned") == {"ready": 1}
    why = site.json("why", "pinned/1/1/1")
    assert "no node can take it" in why["answer"]
    (fact,) = [fact for fact in why["facts"] if "`south`" in fact]
    assert "down" in fact
    assert "has been down since" in site.ok("why", "south")

    site.sshds["south"].start()
    assert site.ok("wait", "pinned") == "`pinned` is successful\n"
    (attempt,) = site.package("pinned/1/1/1")["attempts"]
    assert (attempt["node"], attempt["attempt"]) == ("south", 1)


def test_run_continues_when_a_node_comes_back(site: Site) -> None:
    sshd = site.start_sshd("farm")
    site.add("farm", sshd)
    site.alone()
    sshd.stop()
    job = site.write("job: late\nstages: [{lines: [{run: 'true'}]}]")
    process = subprocess.Popen(
        [D0CTL, "run", job], env=site.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    try:
        site.wait_node("farm", "down")
        assert site.counts("late") == {"ready": 1}

        sshd.start()

        answer, _ = process.communicate(timeout=PATIENCE_S)
        assert process.returncode == 0
        assert answer.startswith(b"`late` is successful")
    finally:
        end_process(process)
