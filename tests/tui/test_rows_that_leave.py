"""Rows that leave the list while a person is about to act on them."""

import time

from tests.support.building import production
from tests.support.rows import change
from tests.support.site import Site
from tests.tui.conftest import Desk, Open
from tests.tui.test_arranging import choose


def test_a_key_for_a_job_that_has_just_left_the_list_acts_on_no_other(
    site: Site, dashboard: Open
) -> None:
    for name in ("first", "second"):
        site.submit(production(name))

    async def script(desk: Desk) -> None:
        await choose(desk, "f", "active jobs")
        await desk.until(lambda: desk.main.tree_view.selector == "second")
        change(site.store, "job", {"name": "second"}, ended=time.time())
        await desk.sees("`second` has left the list; the cursor is on `first`")

        await desk.press("K")

        await desk.sees("nothing done: `second` has just left the list; the cursor is on `first`")
        assert desk.app.screen is desk.main
        await desk.press("K")
        await desk.sees("would kill 8 packages")

    dashboard(script)


def test_a_key_for_a_package_that_has_just_left_the_list_acts_on_no_other(
    site: Site, dashboard: Open
) -> None:
    site.submit(production())
    for line in (1, 2):
        site.launch(f"prod/1/{line}/1")

    async def script(desk: Desk) -> None:
        await choose(desk, "f", "running")
        await desk.until(lambda: desk.main.tree_view.selector == "prod/1/1/1")
        site.end("prod/1/1/1")
        await desk.sees("`prod/1/1/1` has left the list; the cursor is on `prod/1/2/1`")

        await desk.press("K")

        await desk.sees("nothing done: `prod/1/1/1` has just left the list")
        await desk.press("K")
        await desk.sees("kill prod/1/2/1")

    dashboard(script)


def test_after_an_own_action_keys_act_on_the_next_row(site: Site, dashboard: Open) -> None:
    site.submit(production())
    for line in (1, 2):
        site.fail(f"prod/1/{line}/1")

    async def script(desk: Desk) -> None:
        await choose(desk, "f", "failed")
        await desk.until(lambda: desk.main.tree_view.selector == "prod/1/1/1")
        await desk.press("R")
        await desk.sees("would retry 1 package")
        await desk.press("enter")
        await desk.sees("retried package `prod/1/1/1`")
        await desk.until(lambda: desk.main.tree_view.selector == "prod/1/2/1", "it has left")

        await desk.press("R")

        await desk.sees("retry prod/1/2/1", "would retry 1 package")

    dashboard(script)


def test_jobs_that_a_person_hides_are_not_said_to_have_left(site: Site, dashboard: Open) -> None:
    for name in ("first", "second"):
        site.submit(production(name))
    change(site.store, "job", {"name": "second"}, ended=time.time())

    async def script(desk: Desk) -> None:
        await choose(desk, "f", "active jobs")
        await desk.sees("1 of 2 jobs: active")
        assert "has left" not in desk.screen
        await desk.press("K")
        await desk.sees("would kill 8 packages")

    dashboard(script)


def test_the_details_of_failures_are_those_of_the_group_once_it_is_closed(
    site: Site, dashboard: Open
) -> None:
    site.submit(production())
    for line in (1, 2):
        site.fail(f"prod/1/{line}/1")

    async def script(desk: Desk) -> None:
        await desk.press("F")
        await desk.sees("2 failed packages")
        await desk.press("space", "down")
        await desk.sees("R retries it")
        await desk.press("space")
        await desk.sees("R retries all 2")

    dashboard(script)


def test_the_cursor_in_a_group_of_failures_stays_on_its_package(
    site: Site, dashboard: Open
) -> None:
    site.submit(production(lines=4))
    for line in (2, 4):
        site.fail(f"prod/1/{line}/1")

    async def script(desk: Desk) -> None:
        await desk.press("F")
        await desk.sees("2 failed packages")
        await desk.press("space", "down")
        await desk.sees("▸ prod/1/2/1", "R retries it")
        site.fail("prod/1/1/1")
        site.fail("prod/1/3/1")
        await desk.sees("4 failed packages")

        await desk.press("R")

        await desk.sees("retry prod/1/2/1", "would retry 1 package")
        await desk.press("enter")
        await desk.sees("retried package `prod/1/2/1`")
        await desk.press("enter")
        await desk.sees("3 failed packages")
        await desk.press("R")
        await desk.sees("retry prod/1/3/1", "would retry 1 package")

    dashboard(script)


def test_the_cursor_after_the_last_package_of_a_group_goes_to_the_one_before(
    site: Site, dashboard: Open
) -> None:
    site.submit(production(lines=3))
    for line in (1, 2, 3):
        site.fail(f"prod/1/{line}/1")

    async def script(desk: Desk) -> None:
        await desk.press("F")
        await desk.sees("3 failed packages")
        await desk.press("space", "down", "down", "down", "R")
        await desk.sees("retry prod/1/3/1", "would retry 1 package")
        await desk.press("enter")
        await desk.sees("retried package `prod/1/3/1`")
        await desk.press("enter")
        await desk.sees("2 failed packages")

        await desk.press("R")

        await desk.sees("retry prod/1/2/1", "would retry 1 package")

    dashboard(script)
