"""pause and resume of packages on a node that does not answer, or whose job is not paused."""

import time

import pytest

from d0ctl.store.attempts.launching import launches
from d0ctl.store.jobs import pause
from d0ctl.store.nodes import contact, leases
from d0ctl_wrapper.protocol.text import PAUSED
from tests.cli.conftest import Type
from tests.cli.test_check import drive
from tests.cli.test_pause import say
from tests.support.building import document, production
from tests.support.site import Site


@pytest.fixture
def attempt(site: Site) -> int:
    """The attempt of a running package."""
    site.submit(production())
    return site.launch("prod/1/1/1")


def lose(site: Site) -> None:
    """Lose the contact with the node."""
    with site.store.writing():
        contact.down(site.store, 1, "connection refused", now=time.time())


def regain(site: Site, attempt: int) -> dict[int, str]:
    """Regain it; return what it is to be asked."""
    with site.store.writing():
        contact.up(site.store, 1, {"boot_id": "1", "cpus": 2, "base": "/base"}, now=time.time())
        launches.reconcile(site.store, 1, {attempt: "running"}, now=time.time())
    return launches.requested(site.store, 1)


def suspend(site: Site, attempt: int) -> None:
    say(site, attempt, "suspended", 2, why=f"{PAUSED}; stopped by SIGSTOP")


def test_a_resume_says_that_a_package_continues_once_its_node_is_back(
    site: Site, d0ctl: Type, attempt: int
) -> None:
    d0ctl("pause", "prod", "--running")
    suspend(site, attempt)
    lose(site)
    continues = "1 package continues once its node can be reached again"

    plan, done = d0ctl("resume", "prod", "--dry-run"), d0ctl("resume", "prod")

    assert continues in plan.stdout and continues in done.stdout
    assert document(d0ctl("status", "prod/1/1/1", "--json").stdout)["request"] == "resume"
    why = d0ctl("why", "prod/1/1/1").stdout
    assert "it was asked to continue, and does so once `localhost` can be reached again" in why
    assert regain(site, attempt) == {attempt: "resume"}


def test_a_package_is_resumed_alone_while_its_node_is_away(
    site: Site, d0ctl: Type, attempt: int
) -> None:
    d0ctl("pause", "prod/1/1/1", "--running")
    suspend(site, attempt)
    lose(site)

    assert "continues once its node" in d0ctl("resume", "prod/1/1/1").stdout
    assert d0ctl("resume", "prod/1/1/1").exit_code == 4
    assert regain(site, attempt) == {attempt: "resume"}


def test_a_pause_that_ends_while_the_node_is_away_resumes_what_it_suspended(
    site: Site, d0ctl: Type, attempt: int
) -> None:
    d0ctl("pause", "prod", "--running", "--for", "1h")
    suspend(site, attempt)
    lose(site)

    with site.store.writing():
        assert pause.resume_due(site.store, now=time.time() + 3601) == ["prod"]

    assert regain(site, attempt) == {attempt: "resume"}


@pytest.mark.parametrize("target", ["prod", "prod/1/1/1"])
def test_a_package_is_suspended_once_its_node_is_back(
    site: Site, d0ctl: Type, attempt: int, target: str
) -> None:
    lose(site)

    answer = d0ctl("pause", target, "--running").stdout

    assert "1 package is suspended once its node can be reached again" in answer
    assert "it was asked to pause, and does so once" in d0ctl("why", "prod/1/1/1").stdout
    assert regain(site, attempt) == {attempt: "pause"}


def test_of_no_package_of_a_paused_job_is_it_said_that_it_will_run_elsewhere(
    site: Site, d0ctl: Type, attempt: int
) -> None:
    drive(site)
    lose(site)
    questions = [("status", "prod", "--check"), ("status", "--check"), ("why", "prod"),
                 ("why", "prod/1/1/1")]  # fmt: skip
    assert all("elsewhere" in d0ctl(*question).stdout for question in questions)

    d0ctl("pause", "prod")

    part, whole, *why = [d0ctl(*question).stdout for question in questions]
    assert "1 unreachable (`localhost` down)" in part and "elsewhere" not in part
    assert "1 package unreachable in `prod`" in whole and "elsewhere" not in whole
    assert all(
        "it counts as lost" in text and "elsewhere" not in text.partition("  $ ")[0] for text in why
    )


def test_packages_that_a_person_suspended_in_a_job_that_is_not_paused_are_named(
    site: Site, d0ctl: Type, attempt: int
) -> None:
    d0ctl("pause", "prod/1/1/1", "--running")
    suspend(site, attempt)
    stays = "1 package of `prod` stays suspended until `d0ctl resume prod:suspended`"

    said = [d0ctl("status", "--check"), d0ctl("status", "prod", "--check"), d0ctl("why", "prod")]
    assert [stays in answer.stdout for answer in said] == [True] * 3
    assert said[1].stdout.startswith("`prod` is suspended: ")
    d0ctl("resume", "prod:suspended")
    assert stays not in d0ctl("status", "--check").stdout


def test_a_paused_job_that_is_finished_lets_its_suspended_packages_end(
    site: Site, d0ctl: Type, attempt: int
) -> None:
    d0ctl("pause", "prod", "--running")
    suspend(site, attempt)

    d0ctl("finish", "prod")

    assert launches.requested(site.store, 1) == {attempt: "resume"}


def test_why_of_a_package_behind_suspended_ones_of_its_job_names_them(
    site: Site, d0ctl: Type, attempt: int
) -> None:
    with site.store.writing():
        leases.take_lease(site.store, "daemon", now=time.time())
    d0ctl("limit", "prod", "--max-running", "1")
    d0ctl("pause", "prod/1/1/1", "--running")
    suspend(site, attempt)
    site.up(cpus=8)

    why = d0ctl("why", "prod/1/2/1").stdout

    assert "its job runs 1 package at once, its `max-running`" in why
    assert "1 package of `prod` stays suspended until `d0ctl resume prod:suspended`" in why
