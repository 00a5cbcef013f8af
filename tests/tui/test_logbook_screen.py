"""The logbook on a screen of its own: actions, ends of jobs and failures of the last day."""

import time

import pytest

from d0ctl.actions import apply, request
from d0ctl.select import parse
from d0ctl_tui.screens.history import logbook_screen
from tests.support.building import production
from tests.support.site import Site
from tests.tui.conftest import Desk, Open

DAY_S = 86400.0


def hold(site: Site, target: str, note: str, ago_s: float = 0.0) -> None:
    """A person holds something."""
    now = time.time() - ago_s
    apply(site.store, request("hold", parse(target)), actor="emmy", note=note, now=now)


def test_the_logbook_lists_what_was_done_and_failed_in_the_last_day(
    site: Site, dashboard: Open
) -> None:
    site.submit(production())
    hold(site, "prod/1/3", "last week", 7 * DAY_S)
    hold(site, "prod/1/2", "wrong field map")
    site.fail("prod/1/1/1", detail="no calibration")

    async def script(desk: Desk) -> None:
        await desk.press("O")
        await desk.sees("the logbook", "emmy  hold", "wrong field map", "failures by job",
                        "1 time on localhost", "no calibration")  # fmt: skip
        assert "last week" not in desk.screen
        hold(site, "prod/2", "new alignment")
        await desk.press("r")
        await desk.sees("new alignment")
        await desk.press("y")
        await desk.sees("copied: actions of people and of d0ctl")
        await desk.press("escape")
        await desk.until(lambda: desk.app.screen is desk.main, "back")

    dashboard(script, size=(140, 40))


def test_the_logbook_shows_by_itself_what_happens_meanwhile(
    site: Site, dashboard: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logbook_screen, "AGAIN_S", 0.1)
    site.submit(production())

    async def script(desk: Desk) -> None:
        await desk.press("O")
        await desk.sees("the logbook", "submit  prod")
        hold(site, "prod/2", "new alignment")
        await desk.sees("new alignment")

    dashboard(script, size=(140, 40))


def test_a_logbook_that_cannot_be_read_says_why(site: Site, dashboard: Open) -> None:
    site.submit(production())

    async def script(desk: Desk) -> None:
        site.home.database.rename(site.home.root / "aside.db")
        await desk.press("O")
        await desk.sees("the logbook", "database")

    dashboard(script, size=(140, 40))
