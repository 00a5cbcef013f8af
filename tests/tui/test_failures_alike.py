"""Failures are grouped by the dashboard as by `report failures`."""

import time

from d0ctl.actions import apply, request
from d0ctl.select import parse
from d0ctl.store.views import activity, failure_counts
from d0ctl_tui.draw.failure_groups import PROPERTIES, grouped
from d0ctl_tui.screens.failed import group_details
from tests.support.building import production
from tests.support.site import Site
from tests.tui.conftest import Desk, Open


def test_groups_and_numbers_of_messages_are_those_of_the_report(site: Site) -> None:
    site.submit(production(lines=5))
    for number in (1, 2, 3):
        site.fail(f"prod/1/{number}/1", detail=f"no calibration for run {number}")
    site.fail("prod/1/4/1", detail="no disk")

    report = failure_counts.failures(site.store, parse("prod"), now=time.time(), limit=8)
    failed = activity.failed(site.store, [1], 8)

    assert list(PROPERTIES) == list(report.groups)
    for by in ("reason", "node", "software"):
        (counted,), (group,) = report.groups[by], grouped(failed, by)
        assert (group.name, len(group.ids)) == (counted.name, 4)
        assert len(group.summary().causes) == counted.messages == 2


def test_packages_of_several_causes_do_not_look_alike(site: Site, dashboard: Open) -> None:
    site.submit(production())
    begin = "binary 1 (reconstruction) ended with exit code"
    site.fail("prod/1/1/1", detail=f"{begin} 12: no answer")
    site.fail("prod/1/2/1", detail=f"{begin} 3: no calibration")

    async def script(desk: Desk) -> None:
        await desk.press("F")
        await desk.until(
            lambda: all(
                any(path in line and cause in line for line in desk.screen.splitlines())
                for path, cause in (("prod/1/1/1", "no answer"), ("prod/1/2/1", "no calibration"))
            )
        )

    dashboard(script, size=(140, 40))


def test_an_acknowledged_failure_takes_no_room_from_the_messages_of_others(
    site: Site, dashboard: Open
) -> None:
    site.submit(production())
    for number, cause in ((1, "no answer"), (2, "no calibration"), (3, "")):
        site.fail(f"prod/1/{number}/1", detail=cause)
    for number in (2, 3):
        seen = request("acknowledge", parse(f"prod/1/{number}/1"))
        apply(site.store, seen, actor="service-account", note="", now=time.time())

    rows = ("1/1/1", "no answer"), ("1/2/1", "acknowledged  no…"), ("1/3/1", "acknowledged")

    async def script(desk: Desk) -> None:
        await desk.press("F")
        await desk.until(
            lambda: all(
                any(path in line and cause in line for line in desk.screen.splitlines())
                for path, cause in rows
            )
        )

    dashboard(script, size=(120, 40))


def test_only_jobs_with_failures_that_are_not_acknowledged_are_to_be_acknowledged(
    site: Site,
) -> None:
    for name in ("known", "new"):
        site.submit(production(name))
        site.fail(f"{name}/1/1/1")
    seen = request("acknowledge", parse("known"))
    apply(site.store, seen, actor="you", note="", now=time.time())
    (alike,) = grouped(activity.failed(site.store, [1, 2], 8), "reason")

    why = group_details.group(site.store, alike, "reason", is_past=False).why

    assert why is not None
    acknowledge, _ = why.commands
    assert acknowledge == "d0ctl acknowledge 'new:failed' --failed-for exit-code"


def test_scattered_failures_of_one_software_are_acknowledged_if_the_job_has_no_others(
    site: Site,
) -> None:
    site.submit(production(lines=9))
    for number in (1, 3, 5, 7):
        site.fail(f"prod/1/{number}/1")
    (alike,) = grouped(activity.failed(site.store, [1], 9), "software")

    def commands() -> list[str]:
        why = group_details.group(site.store, alike, "software", is_past=False).why
        assert why is not None
        return why.commands

    assert "d0ctl acknowledge 'prod:failed' --failed-for exit-code" in commands()
    site.fail("prod/1/9/1")
    assert not any("acknowledge" in command for command in commands())
