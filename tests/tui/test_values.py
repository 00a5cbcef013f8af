"""Actions that do nothing without values: the cursor begins where they are typed."""

import pytest

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
