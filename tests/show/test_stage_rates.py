"""How fast packages of a stage end: read from the history, said in its card."""

import pytest

from d0ctl.actions import apply, request
from d0ctl.select import parse
from d0ctl.show.card_contents import about
from d0ctl.show.cards import part
from d0ctl.show.cards.part import Part
from d0ctl.show.drawing.sheet import Sheet
from d0ctl.show.drawing.spans import text
from d0ctl.show.forecast import estimates
from d0ctl.store.nodes import placement
from d0ctl.store.views import activity
from d0ctl.store.views.activity import StageRate
from tests.support import rows
from tests.support.building import job, line, package, production
from tests.support.site import Site


def end_at(site: Site, path: str, at: float, *, failed: bool = False, took_s: float = 60.0) -> None:
    """End a package at a time, after it ran for some seconds."""
    before = activity.last_event(site.store)
    if failed:
        site.fail(path)
    else:
        site.finish(path)
    for event in range(before + 1, activity.last_event(site.store) + 1):
        rows.change(site.store, "event", {"id": event}, at=at)
    newest = max(id for (id,) in rows.read(site.store, "attempt", "id"))
    rows.change(site.store, "attempt", {"id": newest}, started=at - took_s)


def shown(site: Site, selector: str, now: float) -> str:
    """The card of a job or stage at a time."""
    card = about(site.store, selector, now)
    assert isinstance(card, Part)
    sheet = Sheet(140)
    part.draw(sheet, card, now)
    return "\n".join(map(text, sheet.lines))


@pytest.fixture
def ended(site: Site) -> Site:
    """Of twelve packages of a stage, five succeeded and one failed, one a minute."""
    site.submit(production(lines=12))
    rows.change(site.store, "event", {}, at=1000.0)
    for number in range(6):
        end_at(site, f"prod/1/{number + 1}/1", 10_000.0 + 60 * number, failed=number == 5)
    return site


def test_ends_and_failures_of_a_stage_are_counted_from_its_first_one(ended: Site) -> None:
    now = 10_360.0

    (found,) = activity.stage_rates(ended.store, ended.id_of("prod"), now=now).values()

    assert found == StageRate(done=5, failed=1, seconds=420.0)
    later = activity.stage_rates(ended.store, ended.id_of("prod"), now=now + 421)
    assert [one.ended for one in later.values()] == [2]


def test_the_first_ends_which_come_together_make_no_high_rate(site: Site) -> None:
    site.submit(production(lines=12))
    rows.change(site.store, "event", {}, at=1000.0)
    for number in range(6):
        end_at(site, f"prod/1/{number + 1}/1", 10_015.0 + number / 10, took_s=15.0)

    (rate,) = activity.stage_rates(site.store, site.id_of("prod"), now=10_021.0).values()

    assert rate == StageRate(done=6, failed=0, seconds=21.0)


def test_ends_of_an_hour_without_a_daemon_which_are_recorded_together_make_no_high_rate(
    site: Site,
) -> None:
    site.submit(production(lines=12))
    rows.change(site.store, "event", {}, at=1000.0)
    for number in range(6):
        end_at(site, f"prod/1/{number + 1}/1", 10_000.0, took_s=600.0)
        ended = 10_000.0 - 500 * number
        newest = max(id for (id,) in rows.read(site.store, "attempt", "id"))
        rows.change(site.store, "attempt", {"id": newest}, started=ended - 600.0, ended=ended)

    (rate,) = activity.stage_rates(site.store, site.id_of("prod"), now=10_010.0).values()

    assert rate == StageRate(done=2, failed=0, seconds=600.0)


def test_failed_tries_of_packages_that_are_tried_again_are_no_ends(ended: Site) -> None:
    retry = request("retry", parse("prod/1/6/1"))
    apply(ended.store, retry, actor="ada", note="", now=10_350.0)

    (rate,) = activity.stage_rates(ended.store, ended.id_of("prod"), now=10_360.0).values()

    assert (rate.done, rate.failed) == (5, 0)


def test_packages_that_run_again_have_no_rate_until_they_end_again(ended: Site) -> None:
    rerun = request("set-status", parse("prod/1:successful"), status="unscheduled")
    for again in (rerun, request("retry", parse("prod/1/6/1"))):
        apply(ended.store, again, actor="ada", note="", now=10_350.0)
    job = ended.id_of("prod")

    assert activity.stage_rates(ended.store, job, now=10_360.0) == {}
    end_at(ended, "prod/1/1/1", 10_355.0, took_s=5.0)
    (rate,) = activity.stage_rates(ended.store, job, now=10_360.0).values()
    assert rate == StageRate(done=1, failed=0, seconds=10.0)


def test_ends_before_a_job_went_on_do_not_count(site: Site) -> None:
    site.submit(job(("make", [line(package(f"file-{n}")) for n in range(3)])))
    for number in range(3):
        end_at(site, f"prod/1/{number + 1}/1", 10_000.0 + 2 * number, failed=number == 2)
    assert placement.end_jobs(site.store, now=10_010.0) == ["prod"]
    retry = request("retry", parse("prod/1/3/1"))
    apply(site.store, retry, actor="ada", note="", now=10_300.0)
    end_at(site, "prod/1/3/1", 10_305.0, took_s=5.0)

    (rate,) = activity.stage_rates(site.store, site.id_of("prod"), now=10_310.0).values()

    assert rate == StageRate(done=1, failed=0, seconds=10.0)


def test_only_the_last_events_are_read(ended: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(activity, "PAST", 1)

    (found,) = activity.stage_rates(ended.store, ended.id_of("prod"), now=10_360.0).values()

    assert (found.done, found.failed) == (0, 1)


def test_the_card_says_ends_and_failures_a_minute_and_the_end(ended: Site) -> None:
    rows.change(ended.store, "stage", is_timed=0)
    stage, job = shown(ended, "prod/1", 10_360.0), shown(ended, "prod", 10_360.0)

    assert (
        "0.9 a minute end, 0.1 a minute fail (last 7 min 00 s); at this rate it ends about" in stage
    )
    assert "0.7 a minute" in job


def test_a_stage_that_is_kept_back_has_no_end(ended: Site) -> None:
    rows.change(ended.store, "job", hold=1, hold_actor="ann", hold_since=10_000.0)

    assert "at this rate" not in shown(ended, "prod/1", 10_360.0)


@pytest.mark.parametrize("phase", ["unreachable", "held"])
def test_a_stage_with_packages_that_can_not_end_has_no_end(phase: str) -> None:
    left = {"running": 1, phase: 2}

    told = estimates.pace(StageRate(60, 0, 134.0), left, 0.0, with_end=True)

    assert told == "27 a minute end (last 2 min 14 s)"


def test_the_range_shrinks_with_the_number_of_ends() -> None:
    few = estimates.pace(StageRate(5, 0, 300.0), {"ready": 600}, 0.0, with_end=True)
    many = estimates.pace(StageRate(5000, 0, 300.0), {"ready": 60_000}, 0.0, with_end=True)

    assert few.startswith("1 a minute end (last 5 min 00 s); at this rate it ends about")
    assert "1,000 a minute end" in many
    assert few != many


def test_failures_that_are_tried_again_by_themselves_are_no_recent_ends(site: Site) -> None:
    site.submit(production(lines=3))
    site.finish("prod/1/1/1")
    site.fail("prod/1/2/1")
    site.fail("prod/1/3/1", reason="stage-in")

    found = activity.recent_ends(site.store, since=0.0, period_s=10)

    assert site.phase("prod/1/3/1") == "cooloff"
    assert sum(number for _, number in found) == 2
