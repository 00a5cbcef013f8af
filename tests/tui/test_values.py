"""Values that actions ask for: where the cursor begins, and what the values are now."""

import time

import pytest

from d0ctl.actions import apply, request
from d0ctl.select import parse
from tests.support.building import production
from tests.support.site import Site
from tests.tui.conftest import Desk, Open


@pytest.mark.parametrize("key, values, option", [
    ("B", "max-running=4", "--max-running 4"), ("I", "cpus=2", "--cpus 2"),
])  # fmt: skip
def test_the_cursor_begins_in_the_values(
    site: Site, dashboard: Open, key: str, values: str, option: str
) -> None:
    site.up(cpus=4)
    site.submit(production())

    async def script(desk: Desk) -> None:
        await desk.press(key)
        await desk.type(values)
        await desk.press("enter")
        await desk.sees(f"prod {option}", "enter do it")
        await desk.press("enter")
        await desk.sees("to undo: ")

    dashboard(script)


def test_without_values_nothing_is_done(site: Site, dashboard: Open) -> None:
    site.submit(production())

    async def script(desk: Desk) -> None:
        await desk.press("B")
        await desk.sees("limit prod", "enter close")
        await desk.press("enter")
        await desk.until(lambda: len(desk.app.screen_stack) == 1, "it closes")

    dashboard(script)


def test_the_question_for_a_priority_names_the_present_ones(site: Site, dashboard: Open) -> None:
    site.submit(production())
    asked = request("priority", parse("prod/1/1"), priority=20)
    apply(site.store, asked, actor="me", note=None, now=time.time())

    async def script(desk: Desk) -> None:
        await desk.press("P")
        await desk.sees("priority prod/1/1: now 20; 0 to 100")
        await desk.press("escape", "up", "P")
        await desk.sees("priority prod/1: now 20 to 50; 0 to 100")

    dashboard(script, start="prod/1/1")
