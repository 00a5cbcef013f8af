"""What `status -q` says of packages whose node does not answer."""

import time

import pytest

from d0ctl.model import OTHER_DAEMON, Address
from d0ctl.store.nodes import leases, registry
from d0ctl.units import moment
from tests.cli.conftest import Type
from tests.cli.test_check import down, drive
from tests.support.building import job, line, package
from tests.support.rows import change
from tests.support.site import Site


def test_the_line_says_from_when_on_unreachable_packages_may_run_elsewhere(
    site: Site, d0ctl: Type
) -> None:
    drive(site)
    registry.add(site.store, Address("far", "ssh", "far"), cpus=2)
    site.submit(job(("make", [line(package("a"))]), name="prod"))
    site.launch("prod/1/1/1")
    down(site, "localhost")
    (since,) = (node.since for node in registry.nodes(site.store) if node.name == "localhost")

    result = d0ctl("status", "-q")

    until = moment((since or 0.0) + 3600, time.time())
    text = (
        f"moving: 1 job; 1 package unreachable in `prod`, which may run elsewhere from {until} on; "
    )
    assert (result.exit_code, result.stdout[: len(text)]) == (0, text)


def test_a_retry_of_unreachable_packages_leads_to_what_they_wait_for(
    site: Site, d0ctl: Type
) -> None:
    drive(site)
    site.submit(job(("make", [line(package("a")), line(package("b"))]), name="prod"))
    d0ctl("priority", "prod", "3", "--reason", "unrelated")
    site.launch("prod/1/1/1")
    down(site, "localhost")

    refused = d0ctl("retry", "prod:unreachable")

    assert refused.stderr == (
        "d0ctl: no packages of `prod:unreachable` can be retried: 1 unreachable\n"
        "d0ctl why prod:unreachable\n"
    )
    assert "d0ctl kill prod/1/1/1" in d0ctl("why", "prod:unreachable").stdout


def test_why_of_a_job_gives_up_all_of_its_unreachable_packages_with_one_command(
    site: Site, d0ctl: Type
) -> None:
    drive(site)
    site.submit(job(("make", [line(package("a")), line(package("b"))]), name="prod"))
    site.launch("prod/1/1/1")
    site.launch("prod/1/2/1")
    down(site, "localhost")

    of_job, of_stage = d0ctl("why", "prod").stdout, d0ctl("why", "prod/1").stdout
    done = d0ctl("kill", "prod/1/*:unreachable", "--dry-run")

    them = "   # gives them up now; a retry then runs them elsewhere\n"
    assert f"  $ d0ctl kill prod:unreachable{them}" in of_job
    assert f"  $ d0ctl kill 'prod/1/*:unreachable'{them}" in of_stage
    assert done.exit_code == 0 and "2 packages" in done.stdout


def test_packages_are_given_up_after_the_daemon_that_runs_now_has_tried_their_node(
    site: Site, d0ctl: Type
) -> None:
    site.submit(job(("make", [line(package("a"))]), name="prod"))
    site.launch("prod/1/1/1")
    down(site, "localhost")
    places = (["why", "prod"], ["why", "prod/1/1/1"], ["why", "localhost"])

    for words in places:
        assert "does not answer within 1 h 00 min once a daemon runs, " in d0ctl(*words).stdout, (
            words
        )
    for words in (["status", "-q"], ["status", "prod", "-q"]):
        said = d0ctl(*words).stdout
        assert "1 package unreachable in `prod`" in said or "1 unreachable (`localhost`" in said
        assert "elsewhere" not in said, "nobody knows when"

    drive(site)
    began = time.time() + 1800
    with site.store.writing():
        node = registry.named(site.store, "localhost").id
        leases.take_lease(site.store, f"node {node}", now=began)
    until = moment(began + 3600, time.time())
    for words in places:
        assert f"does not answer before {until}, " in d0ctl(*words).stdout, words
    for words in (["status", "-q"], ["status", "prod", "-q"]):
        assert f", which may run elsewhere from {until} on" in d0ctl(*words).stdout, words


@pytest.mark.parametrize(
    ("error", "is_named"), [("no route", True), (f"{OTHER_DAEMON}b /h", False)]
)
def test_why_of_a_job_names_the_removal_of_a_node_that_may_be_gone(
    site: Site, d0ctl: Type, error: str, is_named: bool
) -> None:
    drive(site)
    registry.add(site.store, Address("far", "ssh", "far"), cpus=2)
    site.up("far", machine_id="m2", base="/tmp/far")
    site.submit(job(("make", [line(package("a"))]), name="prod"))
    site.launch("prod/1/1/1", "far")
    down(site, "far")
    change(site.store, "node", {"name": "far"}, last_error=error)

    for target in ("prod", "prod/1", "prod/1/1/1"):
        removes = (
            "d0ctl node remove far --lost   # if it is gone for good" in d0ctl("why", target).stdout
        )
        assert removes == is_named
