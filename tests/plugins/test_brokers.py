"""Brokers: nodes that a plug-in refuses or prefers."""

import pytest

from tests.plugins.conftest import Add
from tests.support.site import Site
from tests.support.waiting import wait_until

JOB = """\
job: sim
stages:
  - lines:
      - for: {n: {range: [1, 3]}}
        run: "true"
"""

QUEUE = """\
job: queue
max-running: 1
stages:
  - lines: [{run: sleep 60}, {run: sleep 60}]
"""

WITH_DESKTOP = """\
broker: near-data
nodes:
  localhost: {services: [desktop]}
"""


def why(site: Site, path: str = "sim/1/1/1") -> str:
    """What `d0ctl why` says of a package."""
    return site.ok("why", path)


def test_a_broker_refuses_nodes_and_why_says_so(site: Site) -> None:
    site.ok("site", "apply", site.write(WITH_DESKTOP, "site.yaml"), "--yes")
    site.start_daemon()
    site.submit(JOB)
    wait_until(lambda: "people work on it" in why(site))

    said = why(site)

    assert "package `sim/1/1/1` (n=1) is ready, and no node can take it" in said
    assert "node `localhost` is refused by broker `near-data`: people work on it" in said
    details = site.json("why", "sim/1/1/1")["details"]
    assert details["broker"]["refused"] == {"localhost": "people work on it"}

    site.ok("node", "add", "other", "--local", "--same-machine")

    assert site.d0ctl("wait", "sim").code == 0
    assert {site.package(f"sim/1/{n}/1")["attempts"][0]["node"] for n in (1, 2, 3)} == {"other"}


def test_a_broker_that_is_not_installed_is_a_fault(site: Site) -> None:
    done = site.d0ctl("site", "check", site.write("broker: near-date", "site.yaml"))

    said = "no installed package has a broker `near-date` (did you mean `near-data`?)"
    assert (done.code, said in done.err) == (2, True), done


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("def it(asked): return 1 / 0", "failed: ZeroDivisionError: division by zero"),
        ("def it(asked): return ['n1']", "must return a mapping of nodes, not"),
        ("def it(asked): return {'n1': True}", "must return a number, a reason or None for node"),
        ("def it(asked):\n    while True: pass", "took longer than 1 s"),
        ("import os\ndef it(asked): os._exit(3)", "ended without an answer"),
    ],
)
def test_a_broker_that_fails_stops_nothing_and_why_says_so(
    bare_site: Site, add: Add, code: str, said: str
) -> None:
    site = bare_site
    add("broker", "bad", code)
    site.ok("site", "apply", site.write("broker: bad", "site.yaml"), "--yes")
    site.start_daemon()
    site.submit(JOB)
    site.ok("wait", "sim")
    site.submit(QUEUE)
    wait_until(lambda: "has given no answer" in why(site, "queue/1/2/1"))

    found = why(site, "queue/1/2/1")

    assert "so nodes are chosen without it: plug-in `bad` of package `broken`" in found
    assert said in found
    log = (site.home.root / "logs" / "daemon.log").read_text()
    assert log.count("nodes are chosen without it for a minute") == 1
    assert "Traceback" not in log
    site.ok("kill", "queue")
    assert site.d0ctl("wait", "queue").code == 1
