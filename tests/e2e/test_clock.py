"""Clocks that jump while packages run: nothing counts as lost, and nothing runs twice."""

import re
import subprocess
import time
from collections.abc import Iterator

import pytest

from tests.support.faketime import Clock
from tests.support.site import Site
from tests.support.site.commands import D0CTL, end_process

SLOW = """\
job: slow
stages:
  - lines:
      - for: {{n: [1, 2]}}
        packages:
          - run: 'echo {{n}} >> {record}; until [ -e {go} ]; do sleep 0.05; done'
"""


@pytest.fixture(autouse=True)
def daemon(clock: Clock, site: Site) -> Iterator[None]:
    """A daemon with that clock, which its node on this machine has, too."""
    daemon = subprocess.Popen(
        [str(D0CTL), "daemon", "run"],
        cwd=site.jobs,
        env=site.environment | clock.environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    yield
    end_process(daemon)


@pytest.mark.parametrize("offset", ["+1d", "-1d"])
def test_a_clock_jump_of_a_day_during_a_run_loses_nothing(
    clock: Clock, site: Site, offset: str
) -> None:
    record, go = site.folder / "record", site.folder / "go"
    site.submit(SLOW.format(record=record, go=go))
    site.wait(lambda: site.look() == {"running": 2}, "both run")

    clock.jump(offset)
    quick = "job: quick\nstages:\n  - lines:\n      - packages:\n          - run: 'true'\n"
    site.submit(quick)
    events = site.ask("select count(*) from event")[0][0]
    go.touch()
    site.wait(lambda: site.look() == {"done": 3}, "all are done")

    attempts = site.ask("select outcome, ended - started, launched from attempt order by id")
    assert abs(attempts[-1][2] - time.time()) > 80_000, "the clock has jumped"
    assert [outcome for outcome, *_ in attempts] == ["successful"] * 3
    assert all(0 <= took < 1000 for _, took, _ in attempts)
    for words in (["status", "slow/1/1/1"], ["status", "quick/1/1/1"], ["history", "slow"]):
        assert not re.search(r" -[0-9.]+ (s|min|h|d)\b", site.ok(*words))
    assert sorted(record.read_text().split()) == ["1", "2"]
    assert site.ask("select count(*) from event")[0][0] - events < 30
    assert site.listed_node("localhost")["state"] == "up"


COOLS_OFF = """\
job: cools
stages:
  - lines:
      - run: '[ -e {mended} ]'
        policy: {{exit-code: {{tries: 100, delay: 3s}}}}
"""


@pytest.mark.parametrize("offset", ["+1h", "-1h"])
def test_the_control_host_continues_after_its_clock_jumps(
    clock: Clock, site: Site, offset: str
) -> None:
    site.add("farm", cpus=4)
    site.alone()
    record, go, mended = (site.folder / name for name in ("record", "go", "mended"))
    site.submit(COOLS_OFF.format(mended=mended))
    site.submit(SLOW.format(record=record, go=go))
    site.wait(lambda: site.look() == {"running": 2, "cooloff": 1}, "all have begun")

    clock.jump(offset)
    site.submit("job: quick\nstages: [{lines: [{run: 'true'}]}]\n")
    mended.touch()
    go.touch()
    site.wait(lambda: site.look() == {"done": 4}, "all are done")

    assert sorted(record.read_text().split()) == ["1", "2"]
    assert site.listed_node("farm")["state"] == "up"
