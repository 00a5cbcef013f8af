"""Chains over ssh: verified binary by binary, and taken up in the middle by the next attempt."""

import os
import signal
from pathlib import Path

import pytest

from tests.support.site import Site
from tests.support.waiting import wait_until

CHAIN = """\
job: chain
parameters: {{record: {record}, go: {go}}}
stages:
  - lines:
      - packages:
          - binaries:
              - {{name: gen, run: "echo 1 >> {{record}}; echo gen > a", outputs: a}}
              - name: sim
                run: "echo 2 >> {{record}}; cat a > b; echo sim >> b"
                inputs: a
                outputs: b
                check: "grep -q sim {{outputs}}"
              - name: reco
                run: |
                  echo 3 >> {{record}}
                  until [ -e {{go}} ]; do sleep 0.05; done
                  cat b > c
                inputs: b
                outputs: c
                log-rules: [{{match: careful, passive: yes}}]
              - {{name: ana, run: "echo 4 >> {{record}}; cat c > d", inputs: c, outputs: d}}
"""


@pytest.fixture
def record(site: Site) -> Path:
    """The binaries that have run, one a line."""
    path = site.folder / "record"
    path.touch()
    return path


@pytest.fixture
def under_way(site: Site, record: Path) -> str:
    """A chain on a node behind ssh, whose third binary waits for the file `go`."""
    site.add("farm")
    site.alone()
    site.start_daemon()
    site.submit(CHAIN.format(record=record, go=site.folder / "go"))
    wait_until(lambda: ran(record) == "123", what="the third binary runs")
    return "chain/1/1/1"


def ran(record: Path) -> str:
    return "".join(record.read_text().split())


def folder(site: Site, path: str, number: int) -> Path:
    """Where an attempt lies on its node."""
    attempts = {one["attempt"]: one for one in site.package(path)["attempts"]}
    return Path(attempts[number]["log"])


def test_a_chain_continues_after_its_wrapper_was_killed(
    site: Site, under_way: str, record: Path
) -> None:
    first = folder(site, under_way, 1)
    os.kill(int((first / "wrapper").read_text().split()[0]), signal.SIGKILL)
    wait_until(lambda: ran(record) == "1233", what="the third binary runs again")
    (site.folder / "go").touch()
    assert site.ok("wait", "chain") == "`chain` is successful\n"

    assert ran(record) == "12334"
    assert (site.home.root / "results/chain/d").read_text() == "gen\nsim\n"
    lost, last = site.package(under_way)["attempts"]
    assert (lost["outcome"], lost["began"]) == ("lost", 1)
    assert (last["outcome"], last["kind"], last["began"]) == ("successful", "restart", 3)
    why = "the outputs of binaries 1 to 2 are intact, as attempt 1 left them"
    assert last["began_why"].startswith(why)
    for verb in ("status", "history", "logs"):
        shown = site.d0ctl(verb, under_way)
        assert f"began at binary 3: {why}" in shown.out + shown.err

    wait_until(lambda: not (first / "work").exists(), what="the first is cleared away")
    assert (first / "3.out").exists()
    assert site.ok("doctor")


FAILS = """\
job: fails
parameters: {{record: {record}, go: {go}}}
stages:
  - lines:
      - packages:
          - binaries:
              - {{run: "echo 1 >> {{record}}; echo gen > a", outputs: a}}
              - {{run: "echo 2 >> {{record}}; cat a > b", inputs: a, outputs: b}}
              - {{run: "echo 3 >> {{record}}; test -e {{go}}; cat b > c", inputs: b, outputs: c}}
              - {{run: "echo 4 >> {{record}}; cat c > d", inputs: c, outputs: d}}
"""


def test_a_retry_runs_only_unfinished_binaries(site: Site, record: Path) -> None:
    site.add("farm")
    site.alone()
    site.start_daemon()
    site.submit(FAILS.format(record=record, go=site.folder / "go"))
    assert site.d0ctl("wait", "fails").code == 1
    assert ran(record) == "123"
    cache = folder(site, "fails/1/1/1", 1).parents[1] / "cache"
    assert {path.name for path in cache.glob("[0-9]*/*")} == {"a", "b"}

    (first,) = {path.parent for path in cache.glob("[0-9]*/*")}

    (site.folder / "go").touch()
    site.ok("retry", "fails/1/1/1")
    assert site.ok("wait", "fails") == "`fails` is successful\n"
    assert ran(record) == "12334"
    package = site.package("fails/1/1/1")
    assert package["attempts"][-1]["began"] == 3
    assert [(one["exit_code"], one["attempt"]) for one in package["binaries"]] == [
        (0, 1), (0, 1), (0, 2), (0, 2)
    ]  # fmt: skip
    third = site.json("status", "fails/1/1/1/3")
    assert [(one["attempt"], one["exit_code"]) for one in third["attempts"]] == [(1, 1), (2, 0)]
    assert (third["path"], third["inputs"][0]["file"]) == ("fails/1/1/1/3", "b")
    assert "ended with exit code 0 in attempt 2" in site.ok("why", "fails/1/1/1/3")
    assert site.ok("logs", "fails/1/1/1/1") == site.ok("logs", "fails/1/1/1", "--binary", "1")
    assert site.d0ctl("status", "fails/1/1/1/5").code == 3
    assert site.d0ctl("kill", "fails/1/1/1/3").code == 2
    wait_until(lambda: not first.exists(), what="what the first kept is cleared away")


EVENTS = """\
job: events
parameters: {{go: {go}}}
stages:
  - lines:
      - run: |
          touch new
          while read first last; do
            for event in $(seq $first $last); do
              test $event -le 106 || test -e {{go}}
              echo $event >> new
              echo $event >> "$D0CTL_DONE"
            done
          done < "$D0CTL_EVENTS"
          cat $(cat "$D0CTL_PARTS") new > all
        events: {{of: 10, first: 101, part: new}}
        outputs: all
"""


def test_a_retry_takes_the_rest_of_the_events(site: Site) -> None:
    site.add("farm")
    site.alone()
    site.start_daemon()
    site.submit(EVENTS.format(go=site.folder / "go"))
    assert site.d0ctl("wait", "events").code == 1
    assert "binary 1 did 6 events: 101-106" in site.ok("status", "events/1/1/1")

    (site.folder / "go").touch()
    site.ok("retry", "events/1/1/1")
    assert site.ok("wait", "events") == "`events` is successful\n"
    assert "binary 1 did 4 events: 107-110" in site.ok("status", "events/1/1/1")
    made = (site.home.root / "results/events/all").read_text().split()
    assert made == [str(event) for event in range(101, 111)]
