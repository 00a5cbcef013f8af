"""kill -9 of the daemon, again and again: nothing is lost, and nothing runs twice."""

import random
import subprocess
import threading
from collections import Counter
from pathlib import Path

import pytest

from tests.e2e.site import D0CTL, PATIENCE_S, Site, end_process
from tests.support.waiting import Pid, wait_until

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
          echo "$D0CTL_PACKAGE $D0CTL_ATTEMPT" >> {{record}}
          sleep 0.2
          echo {{n}} > {{n}}.made
        outputs: "{{n}}.made"
  - name: use
    lines:
      - for: {{n: {{range: [1, {lines}]}}}}
        run: |
          echo "$D0CTL_PACKAGE $D0CTL_ATTEMPT" >> {{record}}
          sleep 0.2
          cat {{n}}.made {{n}}.made > {{n}}.used
        inputs: "{{n}}.made"
        outputs: "{{n}}.used"
  - name: merge
    lines:
      - run: echo "$D0CTL_PACKAGE $D0CTL_ATTEMPT" >> {{record}}; sort -n {{inputs}} > all
        inputs: {{from: use}}
        outputs: all
"""

PACKAGES = 2 * LINES + 1


def test_a_dead_daemon_that_nobody_collects_keeps_no_other_from_starting(site: Site) -> None:
    site.ok("node", "drain", "localhost")
    daemon = subprocess.Popen([D0CTL, "daemon", "run"], env=site.environment)
    try:
        wait_until(lambda: site.json("daemon", "status")["running"], PATIENCE_S, "it runs")
        daemon.kill()
        wait_until(lambda: Pid.of(daemon.pid) is None, PATIENCE_S, "it is dead")

        assert not site.json("daemon", "status")["running"]
        assert site.start_daemon() != daemon.pid
    finally:
        end_process(daemon)


def marks(record: Path) -> list[str]:
    """The package and attempt of each binary that ran."""
    return record.read_text().splitlines() if record.exists() else []


@pytest.mark.parametrize("seed", [1, 2])
def test_no_binary_runs_twice_however_often_the_daemon_is_killed(site: Site, seed: int) -> None:
    moments = random.Random(seed)
    record = site.folder / "record"
    for name in ("north", "south"):
        site.add(name, None, "--dir", site.folder / name / "work", cpus=3)
    site.alone()
    site.start_daemon()
    site.submit(JOB.format(record=record, lines=LINES))

    for number in sorted(moments.sample(range(PACKAGES - 4), KILLS)):
        wait_until(lambda n=number: len(marks(record)) > n, PATIENCE_S, f"{number} have run")  # type: ignore[misc]
        threading.Event().wait(moments.uniform(0, 0.3))
        site.kill_daemon()
        site.start_daemon()
    told = site.ok("wait", "marks")

    assert told == "`marks` is successful\n"
    ran = marks(record)
    assert Counter(line.split()[0] for line in ran).most_common(1)[0][1] == 1
    assert len(set(ran)) == len(ran) == PACKAGES
    numbers = (site.home / "results" / "marks" / "all").read_text().split()
    assert numbers == [str(n) for n in range(1, LINES + 1) for _ in (1, 2)]
    packages = site.json("status", "marks/*/*/*")["packages"]
    assert {one["attempts"] for one in packages} == {1}
    assert {one["node"] for one in packages} == {"north", "south"}
    assert site.d0ctl("doctor").code == 0
