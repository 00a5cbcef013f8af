"""A node that is ten times slower than the others, and a share of 0, on real nodes."""

import time
from pathlib import Path

from tests.support.rows import change
from tests.support.site import Site
from tests.support.site.commands import fingerprint

LINES = 12

UNEVEN = """\
job: prod
stages:
  - lines:
      - for: {{n: {{range: [1, {lines}]}}}}
        run: |
          case $PWD in */slow/*) until [ -e {go} ]; do sleep 0.05; done;; *) sleep 0.4;; esac
          echo {{n}} >> {record}
        runtime: 1s
"""

SHARES = """\
nodes:
  farm: {{destination: {destination}, identity: {identity}, accept-key: "{key}", cpus: 1,
         same-machine: yes}}
shares:
  day: {{share: 1, jobs: "day*"}}
  night: {{share: 0, jobs: "night*"}}
"""

IN_TURN = """\
job: {job}
stages:
  - lines:
      - for: {{n: [1, 2, 3]}}
        run: |
          echo {job} >> {record}
          until [ -e {go} ]; do sleep 0.05; done
"""


def test_other_nodes_take_the_work_of_one_that_is_ten_times_slower(site: Site) -> None:
    record, go = site.folder / "record", site.folder / "go"
    site.alone()
    site.add("fast", cpus=2)
    site.add("slow", cpus=1)
    site.start_daemon()
    for name in ("fast", "slow"):
        site.wait_node(name, "up")
    site.submit(UNEVEN.format(lines=LINES, go=go, record=record))

    site.wait(
        lambda: site.look() == {"done": LINES - 1, "running": 1}, "the fast node did the rest"
    )

    ((path,),) = site.ask("select path from v_package where phase = 'running'")
    ((attempt,),) = site.ask("select id from attempt where node_name = 'slow'")
    with site.opened() as store, store.writing():
        change(store, "attempt", {"id": attempt}, started=time.time() - 600)
    late = "has been running on `slow` for 10 min"
    assert f"it is a straggler: it {late}" in site.ok("why", path)
    assert f"straggler: `{path}` {late}" in site.ok("why", "prod")

    go.touch()
    assert site.ok("wait", "prod") == "`prod` is successful\n"
    nodes = site.ask("select node_name, outcome from attempt")
    assert sorted(nodes) == [("fast", "successful")] * (LINES - 1) + [("slow", "successful")]
    assert sorted(map(int, record.read_text().split())) == list(range(1, LINES + 1))


def described(site: Site) -> Path:
    """A site file with one node of one CPU, and a share of 0."""
    farm = site.start_sshd("farm")
    return site.write(SHARES.format(destination=farm.destination, identity=farm.identity,
                                    key=fingerprint(farm)), "site.yaml")  # fmt: skip


def test_a_share_of_zero_waits_while_another_wants_the_cpus_and_runs_then(site: Site) -> None:
    record, go = site.folder / "record", site.folder / "go"
    site.alone()
    site.ok("site", "apply", described(site))
    for job in ("night", "day"):
        site.submit(IN_TURN.format(job=job, record=record, go=go))
    site.start_daemon()
    site.wait_phase("day/1/1/1", "running")

    said = site.ok("why", "night/1/1/1")
    assert "share `night` has 0 of 0.0 CPUs of its share; its recent use is " in said
    assert " of run time x CPUs (half of that is forgotten every " in said
    assert "node `farm` has 1/1 slots in use" in said
    assert "1 package of `day`" in said

    go.touch()
    assert site.ok("wait", "night") == "`night` is successful\n"

    assert record.read_text().split() == ["day"] * 3 + ["night"] * 3
