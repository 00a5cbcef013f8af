"""limit: how many packages run at once, and how many may fail, changed while a job runs."""

import pytest

from tests.cli.conftest import Type
from tests.support.building import production
from tests.support.jobs import phases
from tests.support.site import Site


@pytest.fixture
def job(site: Site) -> Site:
    """A job of three simulations and a merge."""
    site.submit(production())
    return site


def assigned(site: Site) -> int:
    """How many packages have a node, once the scheduler has looked."""
    Site.of(site.store, cpus=8).schedule()
    return sum(phase == "assigned" for phase in phases(site.store).values())


@pytest.mark.parametrize("target", ["prod", "prod/1"])
def test_the_scheduler_follows_a_limit_that_changes(job: Site, d0ctl: Type, target: str) -> None:
    assert d0ctl("limit", target, "--max-running", "1").exit_code == 0
    assert assigned(job) == 1
    for shown in (target, "prod"):  # in the head, or in the row of the stage
        assert "at most 1 package at once" in d0ctl("status", shown).stdout

    reply = d0ctl("limit", target, "--max-running", "none")
    assert reply.stdout == f"limits of `{target}`: max-running 1 -> none\n"
    assert f"to undo: d0ctl limit {target} --max-running 1" in reply.stderr
    assert assigned(job) > 1


def test_no_daemon_is_missed_for_the_limit_of_an_ended_job(site: Site, d0ctl: Type) -> None:
    site.submit(production(lines=1))
    assert "no daemon is running" in d0ctl("limit", "prod", "--max-running", "3").stderr
    for package in ("1/1/1", "1/1/2", "2/1/1", "3/1/1"):
        site.finish(f"prod/{package}")

    ended = d0ctl("limit", "prod", "--max-running", "2")

    assert ended.stdout == "limits of `prod`: max-running 3 -> 2\n"
    assert "no daemon is running" not in ended.stderr


@pytest.mark.parametrize(
    "words", ["limit prod --max-running 2", "edit prod/1 --cpus 2", "retry prod/1/1/1"]
)
def test_a_held_job_is_named_before_the_missing_daemon(job: Site, d0ctl: Type, words: str) -> None:
    job.fail("prod/1/1/1")
    d0ctl("hold", "prod")

    changed = d0ctl(*words.split())

    assert changed.exit_code == 0, changed.stderr
    assert (changed.output.count("held"), changed.output.count("d0ctl release prod")) == (1, 1)
    assert "no daemon is running" not in changed.stderr
    assert "no daemon is running" in d0ctl("release", "prod").stderr


def test_a_job_can_be_held_after_fewer_failures(job: Site, d0ctl: Type) -> None:
    assert d0ctl("limit", "prod", "--max-failures", "2").exit_code == 0

    assert "held after 2 failed packages" in d0ctl("status", "prod").stdout
    assert "limit" in d0ctl("history", "prod").stdout


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["prod", "--max-running", "0"], 2, "a limit is a number from 1, or `none`"),
        (["prod/1/1", "--max-running", "2"], 2, "not one job or one stage"),
        (["prot/1/1", "--max-running", "2"], 3, "there is no job `prot`"),
        (["prod/1", "--max-failures", "2"], 2, "for whole jobs"),
        (["prod"], 2, "no limit is given"),
        (["prod", "--max-running", "none"], 4, "has these limits already"),
        (["prod/9", "--max-running", "2"], 3, "there is no stage 9"),
    ],
)
def test_an_invalid_limit_is_refused_with_the_reason(
    job: Site, d0ctl: Type, words: list[str], code: int, message: str
) -> None:
    reply = d0ctl("limit", *words)

    assert reply.exit_code == code
    assert message in reply.stderr
