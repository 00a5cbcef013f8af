"""kill -9 of the daemon, again and again: nothing is lost, and nothing runs twice."""

import random
import subprocess
import threading
from collections import Counter
from pathlib import Path

from tests.support.site import Site
from tests.support.site.commands import D0CTL, end_process
from tests.support.waiting import Pid, descendants, kill_all, wait_until

LINES = 20
KILLS = 5

JOB = """\
job: marks
parameters: {{record: {record}}}
stages:
  - name: make
    lines:
      - for: {{n: {{range: [1, {lines}]}}}}
        run: |
          echo "$D0CTL_PACKAGE $D0CTL_ATTEMPT_ID" >> {{record}}
          sleep 0.2
          echo {{n}} > {{n}}.made
        outputs: "{{n}}.made"
  - name: use
    lines:
      - for: {{n: {{range: [1, {lines}]}}}}
        run: |
          echo "$D0CTL_PACKAGE $D0CTL_ATTEMPT_ID" >> {{record}}
          sleep 0.2
          cat {{n}}.made {{n}}.made > {{n}}.used
        inputs: "{{n}}.made"
        outputs: "{{n}}.used"
  - name: merge
    lines:
      - run: echo "$D0CTL_PACKAGE $D0CTL_ATTEMPT_ID" >> {{record}}; sort -n {{inputs}} > all
        inputs: {{from: use}}
        outputs: all
"""

PACKAGES = 2 * LINES + 1


def test_a_zombie_daemon_does_not_keep_another_from_starting(site: Site) -> None:
    site.ok("node", "drain", "localhost")
    daemon = subprocess.Popen([D0CTL, "daemon", "run"], env=site.environment)
    try:
        wait_until(lambda: site.d0ctl("daemon", "status").code == 0, what="it runs")
        daemon.kill()
        wait_until(lambda: Pid.of(daemon.pid) is None, what="it is dead")

        assert site.d0ctl("daemon", "status").code == 3
        assert site.start_daemon().pid != daemon.pid
    finally:
        end_process(daemon)


def test_a_run_that_is_killed_again_and_again_can_be_continued(site: Site) -> None:
    moments = random.Random(3)
    record = site.folder / "record"
    words: list[object] = ["run", site.write(JOB.format(record=record, lines=6))]
    for number in sorted(moments.sample(range(10), 3)):
        process = subprocess.Popen(
            [D0CTL, *map(str, words)],
            env=site.environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            wait_until(lambda n=number: len(marks(record)) > n, what=f"{number} have run")  # type: ignore[misc]
        finally:
            end_process(process)
        words = ["run", "marks"]

    site.ok("run", "marks")

    assert_each_ran_once(site, record, 6)


def test_a_relay_that_is_killed_again_and_again_loses_nothing(site: Site) -> None:
    record = site.folder / "record"
    site.add("farm")
    site.alone()
    site.start_daemon()
    site.submit(JOB.format(record=record, lines=6))
    for number in (0, 4, 8):
        wait_until(lambda n=number: len(marks(record)) > n, what=f"{number} have run")  # type: ignore[misc]
        wait_until(lambda: relay(site), what="a relay serves the node")
        kill_all(relay(site))
    assert site.ok("wait", "marks") == "`marks` is successful\n"

    assert_each_ran_once(site, record, 6)


def relay(site: Site) -> list[Pid]:
    """The relay of the node, which has its lock, if it lives."""
    (lock,) = (site.folder / "farm" / "home").glob(".d0ctl/*/farm/lock")
    found = Pid.of(int(lock.read_text().split()[0]))
    return [found] if found and found.command_line().endswith(".pyz relay") else []


WAITS = """\
job: waits
parameters: {{record: {record}, go: {go}}}
stages:
  - lines:
      - run: |
          echo "$D0CTL_PACKAGE $D0CTL_ATTEMPT_ID" >> {{record}}
          until [ -e {{go}} ]; do sleep 0.05; done
          echo done > end
        outputs: end
"""


def test_a_wrapper_that_is_killed_takes_its_binary_along_and_the_package_runs_again(
    site: Site,
) -> None:
    record, go = site.folder / "record", site.folder / "go"
    site.add("farm")
    site.alone()
    site.start_daemon()
    site.submit(WAITS.format(record=record, go=go))
    wait_until(lambda: len(marks(record)) == 1, what="it runs")
    (note,) = (site.folder / "farm" / "home").glob(".d0ctl/*/farm/attempts/*/wrapper")
    wrapper = Pid.of(int(note.read_text().split()[0]))
    assert wrapper
    binaries = descendants(wrapper.number)
    assert binaries

    kill_all([wrapper])
    wait_until(lambda: len(marks(record)) == 2, what="it runs again")
    assert not any(binary.lives() for binary in binaries)
    go.touch()

    assert site.ok("wait", "waits") == "`waits` is successful\n"
    first, second = site.package("waits/1/1/1")["attempts"]
    assert (first["reason"], second["outcome"]) == ("lost", "successful")
    assert len(set(marks(record))) == 2
    assert site.d0ctl("doctor").code == 0


def marks(record: Path) -> list[str]:
    """The package and attempt of each binary that ran."""
    return record.read_text().splitlines() if record.exists() else []


def test_no_binary_runs_twice_however_often_the_daemon_is_killed(site: Site) -> None:
    moments = random.Random(1)
    record = site.folder / "record"
    for name in ("north", "south"):
        site.add(name, None, "--dir", site.folder / name / "work", cpus=3)
    site.alone()
    site.start_daemon()
    site.submit(JOB.format(record=record, lines=LINES))

    for number in sorted(moments.sample(range(PACKAGES - 4), KILLS)):
        wait_until(lambda n=number: len(marks(record)) > n, what=f"{number} have run")  # type: ignore[misc]
        threading.Event().wait(moments.uniform(0, 0.3))
        site.kill_daemon()
        site.start_daemon()
    answer = site.ok("wait", "marks")

    assert answer == "`marks` is successful\n"
    assert_each_ran_once(site, record, LINES)
    packages = site.json("status", "marks/*/*/*")["packages"]
    assert {one["node"] for one in packages} == {"north", "south"}


def assert_each_ran_once(site: Site, record: Path, lines: int) -> None:
    """Each binary ran once, in the first attempt, and all of them are in the result."""
    ran = marks(record)
    assert Counter(line.split()[0] for line in ran).most_common(1)[0][1] == 1
    assert len(set(ran)) == len(ran) == 2 * lines + 1
    numbers = (site.home.root / "results" / "marks" / "all").read_text().split()
    assert numbers == [str(n) for n in range(1, lines + 1) for _ in (1, 2)]
    packages = site.json("status", "marks/*/*/*")["packages"]
    assert {one["attempts"] for one in packages} == {1}
    assert site.d0ctl("doctor").code == 0
