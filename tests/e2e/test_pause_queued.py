"""Packages that are queued on a node when their job is suspended: others get their CPUs."""

import pytest

from tests.support.site import Site

SHORT = """\
job: short
stages:
  - name: sim
    lines:
      - for: {n: {range: [1, 8]}}
        run: "[ {n} = 7 ] && GATE; echo {n} > {n}.txt"
        outputs: "{n}.txt"
"""

OTHER = "{job: other, stages: [{name: a, lines: [{run: echo > o, outputs: o}]}]}"


@pytest.mark.parametrize("part", ["short", "short/1"])
def test_a_package_queued_on_its_node_gives_its_slot_to_others_while_its_job_is_suspended(
    site: Site, part: str
) -> None:
    site.ok("node", "set", "localhost", "cpus=1")
    site.start_daemon()
    site.submit(SHORT.replace("GATE", site.gate("seventh")))
    site.wait_phase("short/1/7/1", "running")
    site.wait_phase("short/1/8/1", "starting")

    site.ok("pause", part, "--running")
    site.wait_phase("short/1/8/1", "ready" if part == "short" else "held")
    site.wait_phase("short/1/7/1", "suspended")
    site.ok("kill", "short/1/7/1", "--yes")
    site.submit(OTHER)

    assert site.ok("wait", "other", "--timeout", "60s") == "`other` is successful\n"
    assert "it was to pause before it began" in site.ok("status", "short/1/8/1")
    site.open("seventh")
    site.ok("resume", part)
    site.wait_phase("short/1/8/1", "done")
    assert site.ok("doctor").startswith("✔ no problems found")
