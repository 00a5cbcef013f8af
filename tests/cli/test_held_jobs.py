"""What commands say of jobs that d0ctl itself or a person holds."""

import time

import pytest

from d0ctl.store import lifecycle
from d0ctl.store.nodes import leases
from d0ctl.store.views import browse
from tests.cli.conftest import Type
from tests.support.building import job, line, package, production
from tests.support.site import Site

WORDS = "4 packages of `prod` failed, and its `max-failures` is 4"
NOTE = '{"remark":"too-many-failed","job":"prod","failed":4,"most":4}'


@pytest.fixture
def held(site: Site) -> Site:
    """A job that is held since too many packages failed."""
    site.submit(production())
    with site.store.writing():
        job = browse.job(site.store, "prod").id
        lifecycle.hold_job(site.store, job, actor="d0ctl", note=NOTE, now=1000.0)
        lifecycle.keep_action(site.store, verb="hold", target="prod", actor="d0ctl", note=NOTE,
                              packages=0, now=1000.0, undo="d0ctl release prod")  # fmt: skip
    return site


@pytest.mark.parametrize(
    "typed",
    ["status prod", "status prod --json", "why prod", "why prod/1/1/1", "history prod",
     "history prod --json", "status --json"],
)  # fmt: skip
def test_the_reason_is_in_words(held: Site, d0ctl: Type, typed: str) -> None:
    page = d0ctl(*typed.split()).stdout

    assert WORDS in page and "remark" not in page


def test_a_second_hold_names_no_code(held: Site, d0ctl: Type) -> None:
    refused = d0ctl("hold", "prod", "--yes")

    assert refused.exit_code == 4
    assert "by d0ctl" in refused.stderr and "remark" not in refused.stderr


def test_why_a_held_package_of_a_held_job_names_both_holds(site: Site, d0ctl: Type) -> None:
    site.submit(production(), hold=True)
    d0ctl("hold", "prod/1/1/1")

    why = d0ctl("why", "prod/1/1/1").stdout

    assert "d0ctl release prod/1/1/1" in why
    assert "job `prod` has been held by me" in why


def test_why_a_reader_of_a_job_that_d0ctl_holds_does_not_advise_to_release_that(
    held: Site, d0ctl: Type
) -> None:
    held.submit(job(("read", [line(package("b", needs=["prod:all"]))]), name="reader"))

    why = d0ctl("why", "reader/1/1/1").stdout

    assert "d0ctl why prod" in why and "d0ctl release" not in why


def test_a_held_job_of_which_all_packages_were_killed_is_canceled_also_without_a_daemon(
    site: Site, d0ctl: Type
) -> None:
    site.submit(production(), hold=True)
    d0ctl("kill", "prod", "--yes")

    listed, card, line = d0ctl("status"), d0ctl("status", "prod"), d0ctl("status", "-q")

    assert listed.stdout.startswith("prod  ⊘ canceled")
    assert "\n⊘ canceled · " in card.stdout
    assert line.stdout == "nothing to do; no daemon is running\n"


@pytest.fixture
def parked(site: Site, d0ctl: Type) -> Site:
    """A job of which a person has paused all packages."""
    with site.store.writing():
        leases.take_lease(site.store, "daemon", now=time.time())
    site.up()
    site.submit(job(("a", [line(package("x")), line(package("y"))]), name="two"))
    d0ctl("pause", "two/1")
    return site


def test_why_of_a_job_with_paused_packages_names_what_lets_all_of_them_go_on(
    parked: Site, d0ctl: Type
) -> None:
    assert "d0ctl resume two:held" in d0ctl("why", "two").stdout

    d0ctl("release", "two:held")

    assert browse.job(parked.store, "two").counts == {"ready": 2}


def test_a_paused_job_is_said_to_be_paused_also_if_only_held_packages_are_left(
    parked: Site, d0ctl: Type
) -> None:
    assert d0ctl("status", "-q").exit_code == 1
    d0ctl("pause", "two")

    whole, part, waited = d0ctl("status", "-q"), d0ctl("status", "two", "-q"), d0ctl("wait", "two")

    assert (whole.exit_code, whole.stdout) == (0, "nothing to do; `two` is paused\n")
    assert (part.exit_code, part.stdout) == (0, "`two` is paused: 0 of 2 packages done\n")
    assert waited.stdout == "`two` is paused\n" and "d0ctl resume two" in waited.stderr


@pytest.mark.parametrize("verb", ["pause", "hold"])
def test_a_job_that_a_person_stops_does_not_stand_still_for_packages_that_no_node_can_take(
    site: Site, d0ctl: Type, verb: str
) -> None:
    with site.store.writing():
        leases.take_lease(site.store, "daemon", now=time.time())
    site.up()
    site.submit(job(("make", [line(package("a", cpus=64))]), name="prod"))
    d0ctl(verb, "prod", "--yes")

    why, status = d0ctl("why", "prod").stdout, d0ctl("status", "prod").stdout

    assert why.startswith("nothing of job `prod` starts: job `prod` has been ")
    assert "- `prod`: no node can take 1 package: `localhost`: " in why
    assert "stands still" not in why + status + d0ctl("status", "prod", "-q").stdout


def test_why_of_a_job_with_failures_leads_to_a_package_that_is_held_beside_them(
    site: Site, d0ctl: Type
) -> None:
    site.submit(production(lines=3))
    site.fail("prod/1/1/1")
    d0ctl("hold", "prod/1/2/1")

    answer = d0ctl("why", "prod").stdout

    assert "- 1 package is held\n" in answer
    assert "  $ d0ctl why prod/1/2/1\n" in answer
    assert "$ d0ctl release prod/1/2/1" in d0ctl("why", "prod/1/2/1").stdout
