"""The dashboard as it was at an earlier moment, and the way back to the present."""

import time
from datetime import datetime

import pytest

from d0ctl.actions import apply, request
from d0ctl.model import Address
from d0ctl.select import parse_all
from d0ctl.store.nodes import registry
from d0ctl_tui.past import read_moment
from tests.cli.test_check import drive
from tests.store.test_past import FIRST, spread_out
from tests.support import rows
from tests.support.building import job, line, package, production
from tests.support.site import Site
from tests.tui.conftest import Desk, Open

NOW = datetime(2026, 11, 23, 9, 30).timestamp()


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("03:00", (23, 3, 0)), ("10:00", (22, 10, 0)), ("2h", (23, 7, 30)),
     ("2026-11-20 03:05", (20, 3, 5)), ("2026-11-20", (20, 0, 0))],
)  # fmt: skip
def test_a_moment_is_typed_as_people_write_it(typed: str, meant: tuple[int, int, int]) -> None:
    assert read_moment(typed, NOW) == datetime(2026, 11, *meant).timestamp()


def test_the_whole_dashboard_is_shown_as_it_was(site: Site, dashboard: Open) -> None:
    site.submit(production())
    site.finish("prod/1/1/1")
    site.fail("prod/1/2/1")
    spread_out(site)
    at = datetime.fromtimestamp(FIRST + 3.5)

    async def script(desk: Desk) -> None:
        await desk.sees("✘ 1 failed")
        await desk.press("at")
        await desk.sees("show everything as it was at")
        await desk.type(f"{at:%Y-%m-%d %H:%M:%S}")
        await desk.press("enter")
        await desk.sees(f"as it was {at:%a %Y-%m-%d %H:%M}", "▶ running")
        await desk.sees("had been running on", "attempt 1, launched", "its changes below say")
        await desk.misses("✘ 1 failed")
        await desk.press("K")
        await desk.sees("esc goes to the present")
        site.fail("prod/1/3/1")
        await desk.press("escape")
        await desk.sees("✘ 2 failed", "is successful: it ended")
        await desk.misses("as it was")

    dashboard(script, start="prod/1/1/1", size=(140, 36))


def test_a_job_that_was_paused_is_paused_in_the_past_with_the_reason(
    site: Site, dashboard: Open
) -> None:
    site.submit(production())
    spread_out(site)
    for verb, now in (("pause", FIRST + 60), ("resume", FIRST + 120)):
        apply(site.store, request(verb, parse_all(["prod"])), actor="emmy", note="quiet", now=now)

    async def script(desk: Desk) -> None:
        await desk.sees("✘ stands still")
        await desk.misses("◫ paused")
        await desk.press("at")
        await desk.sees("show everything as it was at")
        await desk.type(f"{datetime.fromtimestamp(FIRST + 90):%Y-%m-%d %H:%M:%S}")
        await desk.press("enter")
        await desk.sees("◫ paused", "`prod` was paused", "paused by emmy since", ": quiet")

    dashboard(script, start="prod", size=(140, 36))


def test_a_tree_that_becomes_shorter_than_where_it_is_scrolled_to_shows_its_rows(
    site: Site, dashboard: Open
) -> None:
    for number in range(40):
        site.submit(production(f"job{number:02}"))
    spread_out(site)
    for number in range(39):
        rows.change(site.store, "job", {"name": f"job{number:02}"}, submitted=FIRST + 1000)

    async def script(desk: Desk) -> None:
        await desk.press("G")
        await desk.sees("job00")
        await desk.press("at")
        await desk.type(f"{datetime.fromtimestamp(FIRST + 1):%Y-%m-%d %H:%M:%S}")
        await desk.press("enter")
        await desk.sees("as it was", "job39")
        await desk.until(lambda: desk.main.tree_view.selector == "job39", "it is selected")
        await desk.press("up", "escape")
        await desk.sees("daemon", "job38")

    dashboard(script, size=(80, 24))


def test_a_step_back_and_forward_again_leads_to_the_present(site: Site, dashboard: Open) -> None:
    site.submit(production())
    site.fail("prod/1/2/1")

    async def script(desk: Desk) -> None:
        await desk.sees("✘ 1 failed")
        await desk.press("comma")
        await desk.sees("as it was", "esc now")
        await desk.misses("A production")
        await desk.press("full_stop", "full_stop", "full_stop")
        await desk.sees("✘ 1 failed")
        await desk.misses("as it was")

    dashboard(script)


def test_the_past_has_no_log_of_a_later_attempt(site: Site, dashboard: Open) -> None:
    site.submit(production())
    registry.add(site.store, Address("gone", "ssh", "emmy@127.0.0.1:1"), cpus=1)
    site.up("gone", machine_id="gone")
    site.launch("prod/1/1/1", "gone")
    site.end("prod/1/1/1")
    spread_out(site)
    at = datetime.fromtimestamp(FIRST + 3.5)

    async def script(desk: Desk) -> None:
        await desk.sees("last lines; t shows all")
        await desk.press("at")
        await desk.type(f"{at:%Y-%m-%d %H:%M:%S}")
        await desk.press("enter")
        await desk.sees("had been running on")
        await desk.misses("last lines; t shows all")

    dashboard(script, start="prod/1/1/1", size=(140, 36))


def test_the_past_has_no_estimated_ends(site: Site, dashboard: Open) -> None:
    drive(site)
    site.submit(production(lines=12))
    rows.change(site.store, "stage", work=72_000.0, is_timed=1)
    site.up()
    for number in range(1, 6):
        site.finish(f"prod/1/{number}/1")
    spread_out(site)
    at = datetime.fromtimestamp(FIRST + 10)

    async def script(desk: Desk) -> None:
        await desk.until(lambda: "~" in "".join(desk.lines("tree")), "an end")
        await desk.press("Z")
        await desk.until(lambda: "ends " in "".join(desk.lines("wall")), "an end")
        await desk.press("escape", "at")
        await desk.type(f"{at:%Y-%m-%d %H:%M:%S}")
        await desk.press("enter")
        await desk.sees(f"as it was {at:%a %Y-%m-%d %H:%M}", "prod")
        assert "~" not in "".join(desk.lines("tree"))
        await desk.press("Z")
        await desk.until(lambda: "prod" in "".join(desk.lines("wall")), "the wall")
        assert "ends " not in "".join(desk.lines("wall"))

    dashboard(script, size=(140, 36))


def test_the_past_names_the_jobs_that_were_removed_since(site: Site, dashboard: Open) -> None:
    for name in ("big", "mc", "prod"):
        site.submit(production(name))
    spread_out(site)
    for verb in ("kill", "remove"):
        asked = request(verb, parse_all(["big", "mc"]))
        apply(site.store, asked, actor="emmy", note=None, now=time.time())
    at = datetime.fromtimestamp(FIRST + 3.5)

    async def script(desk: Desk) -> None:
        await desk.press("at")
        await desk.type(f"{at:%Y-%m-%d %H:%M:%S}")
        await desk.press("enter")
        await desk.sees("as it was", "without big, mc, removed since")
        await desk.press("escape")
        await desk.misses("removed since")

    dashboard(script, size=(80, 24))


def test_what_waited_for_a_file_of_another_job_was_not_blocked(site: Site, dashboard: Open) -> None:
    site.submit(job(("a", [line(package("made"))]), name="maker"))
    site.submit(job(("a", [line(package("read", needs=["maker:made"]))]), name="reader"))
    site.finish("maker/1/1/1")
    site.finish("reader/1/1/1")
    spread_out(site)
    at = datetime.fromtimestamp(FIRST + 0.5)

    async def script(desk: Desk) -> None:
        await desk.press("at")
        await desk.type(f"{at:%Y-%m-%d %H:%M:%S}")
        await desk.press("enter")
        await desk.sees("as it was", "1 waiting")
        await desk.misses("blocked")

    dashboard(script, start="reader", size=(140, 36))
