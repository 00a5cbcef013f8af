"""A site at work: its daemon has done all it can, the rest runs until a gate opens, or waits."""

import time

from d0ctl.actions import apply, request
from d0ctl.select import parse
from d0ctl.store.nodes import leases, placement
from tests.support import building
from tests.support.homes import equip_nodes, make_home
from tests.support.site import Site

RECO = """
job: reco
title: Second pass
priority: 60
stages:
  - name: make
    lines:
      - for: {i: {list: [1, 2]}}
        run: "echo done > out-{i}"
        outputs: ["out-{i}"]
      - run: exit 3
        outputs: [out-3]
      - packages:
          - {name: gen, run: "echo a > gen", outputs: [gen]}
          - {name: sim, run: "cat gen > sim", inputs: [gen], outputs: [sim]}
  - name: merge
    lines:
      - run: "cat {inputs} > all"
        inputs: {from: make}
        outputs: [all]
"""

LONG = """
job: long
stages:
  - name: scan
    lines:
      - for: {{i: {{list: [1, 2, 3, 4]}}}}
        run: "{gate}; echo done > out-{{i}}"
        outputs: ["out-{{i}}"]
"""


def drive(site: Site) -> None:
    """Let a daemon live, which does nothing."""
    with site.store.writing():
        leases.take_lease(site.store, leases.LEASE, now=time.time())


def lacks_files(site: Site) -> None:
    """Let a job `lost` lack the file of a failed package of `maker`, which is acknowledged."""
    site.submit(building.job(("s", [building.line(building.package("all"))]), name="maker"))
    site.fail("maker/1/1/1")
    site.submit(
        building.job(
            ("s", [building.line(building.package("end", needs=["maker:all"]))]), name="lost"
        )
    )
    with site.store.writing():
        placement.end_jobs(site.store, now=time.time())
    known = request("acknowledge", parse("maker:failed"))
    apply(site.store, known, actor="tester", note=None, now=time.time())


def put_to_work(site: Site) -> None:
    """Run some jobs until they stand still."""
    equip_nodes(make_home(site.home.root))
    site.ok("node", "set", "localhost", "cpus=2")
    site.submit(RECO)
    site.submit(RECO.replace("job: reco", "job: later"), "--hold")
    site.start_daemon()
    site.wait_phase("reco/1/3/1", "failed")
    site.ok("retry", "reco/1/3/1")
    failed = "select count(*) from attempt where outcome = 'failed'"
    site.wait(lambda: site.ask(failed) == [(2,)], "it has failed again")
    site.wait_phase("reco/1/4/2", "done")
    site.submit(LONG.format(gate=site.gate("go")))
    for package in ("long/1/1/1", "long/1/2/1"):
        site.wait_phase(package, "running")
    site.ok("kill", "long/1/4/1")
