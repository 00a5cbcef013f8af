"""Unreachable packages whose inputs are only on nodes that are down."""

import time

import pytest

from d0ctl.model import Address
from d0ctl.store.nodes import registry
from d0ctl.units import moment
from tests.cli.conftest import Type
from tests.cli.test_standing import down, drive
from tests.support.building import job, line, package
from tests.support.site import Site

NAMES = [f"x{number}" for number in range(6)]


@pytest.fixture
def site(site: Site) -> Site:
    """A merge on a node that is down, whose six inputs were made there."""
    drive(site)
    registry.add(site.store, Address("far", "ssh", "far"), cpus=8)
    site.up("far", machine_id="m2", base="/tmp/far")
    sims = [line(package(name), name=str(at)) for at, name in enumerate(NAMES, 1)]
    merge = [line(package("y", needs=NAMES), package("z", needs=["y"]))]
    site.submit(job(("sim", sims), ("merge", merge)))
    for number in range(1, 7):
        site.launch(f"prod/1/{number}/1", "far")
        site.end(f"prod/1/{number}/1")
    site.launch("prod/2/1/1", "far")
    site.up()
    down(site, "far")
    return site


def until(site: Site) -> str:
    """When packages of the node are given up."""
    (since,) = (node.since for node in registry.nodes(site.store) if node.name == "far")
    return moment((since or 0.0) + 3600, time.time())


WAITS = "it counts as lost, and then waits for inputs that only nodes have that are down\n"


def test_why_says_that_it_would_wait_and_how_its_inputs_are_made_again(
    site: Site, d0ctl: Type
) -> None:
    answers = [d0ctl("why", path).stdout for path in ("prod/2/1/1", "prod")]
    card, node = d0ctl("status", "prod/2/1/1").stdout, d0ctl("why", "far").stdout

    commands = [text.strip() for text in answers[0].splitlines() if text.startswith("  $ ")]
    assert commands == [
        "$ d0ctl node check far",
        "$ d0ctl set-status prod/1/1-6/1 unscheduled   # makes these 6 files again elsewhere",
    ]
    for answer in (*answers, card):
        assert f"; if the node does not answer before {until(site)}, {WAITS}" in answer
        assert "runs elsewhere" not in answer and "d0ctl kill" not in answer
    assert "`x1`, `x2` and 3 more can't be copied: node `far` is down" in answers[0]
    assert "\n- 1 package of these can't: only nodes that are down have its inputs\n" in node


def test_the_line_of_the_check_says_it(site: Site, d0ctl: Type) -> None:
    of_site, of_job = d0ctl("status", "-q").stdout, d0ctl("status", "prod", "-q").stdout

    waits = ", whose inputs are only on nodes that are down"
    assert f"; 1 package unreachable in `prod`{waits}" in of_site
    assert f"; 1 unreachable (`far` down){waits}\n" in of_job
    assert "elsewhere" not in of_site + of_job

    site.submit(job(("a", [line(package("u"))]), name="free"))
    site.up("far", machine_id="m2", base="/tmp/far")
    site.launch("free/1/1/1", "far")
    down(site, "far")

    both = d0ctl("status", "-q").stdout
    assert f"; 1 package unreachable in `free`, which may run elsewhere from {until(site)}" in both
    assert f"; 1 package unreachable in `prod`{waits}" in both


def test_the_plan_of_a_kill_says_that_a_retry_would_wait(site: Site, d0ctl: Type) -> None:
    planned = d0ctl("kill", "prod/2/1/1", "--dry-run").stdout
    killed = d0ctl("kill", "prod/2/1/1").stdout

    waits = "after a retry, 1 package would wait: only nodes that are down have its inputs\n"
    assert waits in planned and waits in killed


def test_a_package_whose_inputs_have_other_copies_runs_elsewhere(site: Site, d0ctl: Type) -> None:
    d0ctl("set-status", "prod/1/1-6/1", "unscheduled")
    for number in range(1, 7):
        site.finish(f"prod/1/{number}/1")

    answer = d0ctl("why", "prod/2/1/1").stdout

    assert "it runs elsewhere, if another node can take it\n" in answer
    assert "  $ d0ctl kill prod/2/1/1   # gives it up now" in answer
    assert "would wait" not in d0ctl("kill", "prod/2/1/1", "--dry-run").stdout


def test_files_that_can_not_all_be_made_again_elsewhere_lead_to_no_set_status(
    site: Site, d0ctl: Type
) -> None:
    site.up("far", machine_id="m2", base="/tmp/far")
    d0ctl("set-status", "prod/1/6/1", "unscheduled")
    d0ctl("edit", "prod/1/6/1", "--on", "far")
    site.launch("prod/1/6/1", "far")
    site.end("prod/1/6/1")
    down(site, "far")

    assert "set-status" not in d0ctl("why", "prod/2/1/1").stdout
