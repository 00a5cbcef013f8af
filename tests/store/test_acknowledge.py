"""Acknowledged failures: they stay failed, need nobody, and count again when they fail again."""

import time

import pytest

from d0ctl.actions import apply, request
from d0ctl.actions.action import Plan
from d0ctl.errors import Refused
from d0ctl.select import parse
from d0ctl.store.jobs.archive import write
from d0ctl.store.opening import open_store
from d0ctl.store.views import activity, one_package, outline
from tests.support.building import production
from tests.support.rows import value
from tests.support.site import Site

PATHS = ("prod/1/1/1", "prod/1/2/1")


@pytest.fixture
def failed(site: Site) -> Site:
    """A job of which two packages have failed."""
    site.submit(production())
    for path in PATHS:
        site.fail(path)
    return site


def acknowledge(site: Site, target: str, **options: bool) -> Plan:
    """Acknowledge failures because of `bad input`."""
    plan: Plan = apply(site.store, request("acknowledge", parse(target), **options), actor="emmy",
                       note="bad input", now=time.time())  # fmt: skip
    return plan


def needing(site: Site) -> int:
    """How many failed packages need a person."""
    return sum(counts.get("failed", 0) for counts in activity.needing_a_person(site.store).values())


def test_an_acknowledged_failure_needs_nobody_and_says_who_saw_it(failed: Site) -> None:
    plan = acknowledge(failed, PATHS[0])

    seen = one_package.acknowledgement(failed.store, failed.id_of(PATHS[0]))
    assert seen is not None and (seen.actor, seen.note) == ("emmy", "bad input")
    assert plan.packages == 1 and failed.phase(PATHS[0]) == "failed"
    assert needing(failed) == 1
    assert failed.faults() == {}


def test_of_a_job_only_those_are_acknowledged_that_were_not(failed: Site) -> None:
    acknowledge(failed, PATHS[0])

    assert acknowledge(failed, "prod").packages == 1
    assert needing(failed) == 0
    with pytest.raises(Refused, match="acknowledged already"):
        acknowledge(failed, "prod")


def test_packages_that_have_not_failed_are_not_acknowledged(failed: Site) -> None:
    with pytest.raises(Refused, match="can't be acknowledged"):
        acknowledge(failed, "prod/1/3/1")


def test_a_package_that_fails_again_counts_again(failed: Site) -> None:
    acknowledge(failed, "prod")
    apply(failed.store, request("retry", parse(PATHS[0])), actor="emmy", note=None,
          now=time.time())  # fmt: skip
    assert needing(failed) == 0
    assert value(failed.store, "stage", "acknowledged", seq=1) == 1

    failed.fail(PATHS[0])

    assert needing(failed) == 1
    assert failed.faults() == {}


def test_the_undo_makes_acknowledged_failures_need_a_person_again(failed: Site) -> None:
    plan = acknowledge(failed, "prod")
    assert plan.undo == "d0ctl acknowledge prod/1/1-2/1 --withdraw"

    assert acknowledge(failed, "prod:failed", withdraw=True).packages == 2

    assert needing(failed) == 2
    with pytest.raises(Refused, match="not acknowledged"):
        acknowledge(failed, "prod", withdraw=True)


def test_a_restore_brings_acknowledgements_back_that_the_drop_ended(failed: Site) -> None:
    acknowledge(failed, "prod")
    acknowledge(failed, PATHS[1], withdraw=True)
    for name, options in (("kill-line", {"drop_outputs": True}), ("restore-line", {})) * 2:
        plan = request(name, parse("prod/1/1-2"), **options)
        apply(failed.store, plan, actor="max", note=None, now=time.time())

    seen = one_package.acknowledgement(failed.store, failed.id_of(PATHS[0]))
    assert seen is not None and (seen.actor, seen.note) == ("emmy", "bad input")
    assert needing(failed) == 1
    assert failed.faults() == {}
    assert acknowledge(failed, "prod", withdraw=True).packages == 1
    assert needing(failed) == 2


def test_summaries_count_them_at_every_level(failed: Site) -> None:
    acknowledge(failed, PATHS[0])

    store = failed.store
    (job,) = outline.jobs(store, outline.job_ids(store)).values()
    stage = outline.stages(store, job, 1, 1)[0]
    lines = outline.lines(store, job, stage, 1, 3)
    assert [job.acknowledged, stage.acknowledged] == [1, 1]
    assert [line.acknowledged for line in lines] == [1, 0, 0]


def test_acknowledgements_are_removed_and_archived_with_their_job(failed: Site) -> None:
    acknowledge(failed, "prod")
    write(failed.store, [failed.id_of("prod")], "old", now=time.time())
    for name in ("kill", "remove"):
        apply(failed.store, request(name, parse("prod")), actor="emmy", note=None,
              now=time.time())  # fmt: skip

    assert value(failed.store, "acknowledgement", "count(*)") == 0
    with open_store(type(failed.home)(failed.home.root, archive="old"), read_only=True) as store:
        assert value(store, "stage", "acknowledged", seq=1) == 2
        assert value(store, "acknowledgement", "count(*)") == 2
