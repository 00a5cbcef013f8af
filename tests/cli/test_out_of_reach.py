"""Plans and reports of actions on packages of nodes that do not answer."""

import time

import pytest

from d0ctl.store.nodes import contact
from tests.cli.conftest import Type
from tests.support.building import production
from tests.support.site import Site

RUNS_ON = "1 package runs on until its node can be reached again, and then ends"


@pytest.fixture
def site(site: Site) -> Site:
    """A site with a package on a node that is down."""
    site.submit(production())
    site.launch("prod/1/1/1")
    with site.store.writing():
        contact.down(site.store, 1, "connection refused", now=time.time())
    return site


@pytest.mark.parametrize(
    "command", ["kill prod/1/1/1", "finish prod --hard", "finish prod/1/1 --hard"]
)
def test_what_is_ended_out_of_reach_runs_on_and_keeps_no_partial_files(
    site: Site, d0ctl: Type, command: str
) -> None:
    words = [*command.split(), "--partial"]

    plan, done = d0ctl(*words, "--dry-run").stdout, d0ctl(*words).stdout

    assert f"{RUNS_ON}; its files are not kept\n" in plan
    assert f"{RUNS_ON}; its files are not kept\n" in done
    assert "to end by itself" not in plan and "being killed" not in done


@pytest.mark.parametrize("status", ["failed", "canceled"])
def test_what_is_set_to_a_status_out_of_reach_runs_on(site: Site, d0ctl: Type, status: str) -> None:
    words = ["set-status", "prod/1/1/1", status]

    plan, done = d0ctl(*words, "--dry-run").stdout, d0ctl(*words).stdout

    assert f"{RUNS_ON}\n" in plan and f"{RUNS_ON}\n" in done


@pytest.mark.parametrize("end", [["kill"], ["set-status", "failed"]])
def test_a_retry_says_that_packages_may_run_twice_until_their_node_answers(
    site: Site, d0ctl: Type, end: list[str]
) -> None:
    twice = ("1 package may run twice: its earlier attempt continues until `localhost` can be "
             "reached again\n")  # fmt: skip
    d0ctl(end[0], "prod/1/1/1", *end[1:])

    assert twice in d0ctl("retry", "prod/1/1/1", "--dry-run").stdout
    assert twice in d0ctl("set-status", "prod/1/1/1", "unscheduled", "--dry-run").stdout
    site.up()
    assert "twice" not in d0ctl("retry", "prod/1/1/1", "--dry-run").stdout
    with site.store.writing():
        contact.down(site.store, 1, "connection refused", now=time.time())
    assert "twice" not in d0ctl("retry", "prod/1/1/1").stdout, "it ended when the node answered"


def test_packages_within_reach_have_time_to_end(site: Site, d0ctl: Type) -> None:
    with site.store.writing():
        contact.unknown(site.store, 1, now=time.time())
    site.up()
    site.launch("prod/1/2/1")

    plan = d0ctl("finish", "prod", "--hard", "--partial", "--dry-run").stdout

    assert "to end by itself" in plan
