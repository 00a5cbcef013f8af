"""What packages on a node share: its memory and its disk."""

import os

from tests.support.site import Site
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

GPUS = """\
job: gpus
stages:
  - lines:
      - for: {n: {range: [1, 3]}}
        gpus: 1
        run: echo "gpu=$CUDA_VISIBLE_DEVICES"; until test -e %s; do sleep 0.05; done
      - run: echo "gpu=$CUDA_VISIBLE_DEVICES."
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
        return "it waits for memory on `localhost`" in answer

    wait_until(is_waiting)
    assert "of memory left" in answer
    assert site.phase("shares/1/2/1") == "ready"

    gate.touch()
    site.wait_phase("shares/1/2/1", "done")


def test_each_package_has_a_gpu_for_itself(site: Site) -> None:
    gate = site.folder / "gate"
    site.ok("node", "set", "localhost", "cpus=8", "gpus=2")
    site.submit(GPUS % gate)
    site.start_daemon()
    for package in ("gpus/1/1/1", "gpus/1/2/1"):
        site.wait_phase(package, "running")
    site.wait_phase("gpus/1/4/1", "done")
    answer = ""

    def is_waiting() -> bool:
        nonlocal answer
        answer = site.ok("why", "gpus/1/3/1")
        return "has 0 GPUs left, needs 1" in answer

    wait_until(is_waiting)
    assert site.phase("gpus/1/3/1") == "ready"
    gate.touch()
    site.wait_phase("gpus/1/3/1", "done")

    said = [site.ok("logs", f"gpus/1/{line}/1") for line in (1, 2, 3, 4)]
    assert {"gpu=0" in said[0], "gpu=0" in said[1]} == {True, False}
    assert {"gpu=1" in said[0], "gpu=1" in said[1]} == {True, False}
    assert "gpu=." in said[3]
    assert site.listed_node("localhost")["gpus"] == 2
    site.submit("job: many\nstages: [{lines: [{run: x, gpus: 3}]}]", "--force")
    assert "without its GPUs, `localhost` could take it" in site.ok("why", "many/1/1/1")


def test_a_package_that_is_larger_than_every_disk_never_runs_and_says_so(site: Site) -> None:
    site.submit(HUGE)
    site.start_daemon()
    site.wait_node("localhost", "up")

    for line in (1, 2, 3):
        answer = site.ok("why", f"huge/1/{line}/1")
        assert "no node can take it" in answer
        assert "a disk of" in answer
    assert site.look() == {"ready": 3}
