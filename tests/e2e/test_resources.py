"""What packages on a node share: its memory and its disk."""

import os

from tests.support.site import Site
from tests.support.site.machines import PATIENCE_S
from tests.support.waiting import wait_until

TOTAL = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")

SHARES = """\
job: shares
stages:
  - lines:
      - for: {n: [1, 2]}
        memory: %d
        run: "until test -e %s; do sleep 0.05; done"
"""

HUGE = """\
job: huge
stages:
  - lines:
      - {run: "x > a", outputs: {file: a, size: 900TB}}
      - {run: x, work-size: 900TB}
      - {run: x, disk: 900TB}
"""


def test_two_packages_that_do_not_fit_in_memory_run_one_after_the_other(site: Site) -> None:
    gate = site.folder / "gate"
    site.start_daemon()
    site.submit(SHARES % (TOTAL * 6 // 10, gate))
    site.wait_phase("shares/1/1/1", "running")

    answer = ""

    def is_waiting() -> bool:
        nonlocal answer
        answer = site.ok("why", "shares/1/2/1")
        return "it waits for memory or disk on `localhost`" in answer

    wait_until(is_waiting, PATIENCE_S)
    assert "of memory left" in answer
    assert site.phase("shares/1/2/1") == "ready"

    gate.touch()
    site.wait_phase("shares/1/2/1", "done")


def test_a_package_that_is_larger_than_every_disk_never_runs_and_says_so(site: Site) -> None:
    site.submit(HUGE)
    site.start_daemon()
    site.wait_node("localhost", "up")

    for line in (1, 2, 3):
        answer = site.ok("why", f"huge/1/{line}/1")
        assert "no node can take it" in answer
        assert "a disk of" in answer
    assert site.look() == {"ready": 3}
