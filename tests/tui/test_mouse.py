"""What the mouse does beside rows: keys of the last line, nodes, changes, paths, commands."""

import time

import pytest

from d0ctl.actions import apply, request
from d0ctl.select import parse
from d0ctl_tui.screens.dialogs.search_box import Finder
from d0ctl_tui.screens.nodes import NodesScreen
from tests.support.building import production
from tests.support.site import Site
from tests.tui.conftest import Desk, Open


async def click(desk: Desk, part: str, words: str) -> None:
    """Click on the first of these words in a part of the screen."""
    await desk.until(lambda: any(words in line for line in desk.lines(part)), words)
    lines = await desk.settled(part)
    row = next(number for number, line in enumerate(lines) if words in line)
    widget = desk.app.screen.query_one(f"#{part}")
    inner = widget.content_region.offset - widget.region.offset
    place = (inner.x + lines[row].index(words) + 1, inner.y + row)
    await desk.hands.click(f"#{part}", offset=place)


def test_a_click_on_a_key_of_the_last_line_does_what_the_key_does(
    site: Site, dashboard: Open
) -> None:
    site.submit(production())

    async def script(desk: Desk) -> None:
        await click(desk, "footer", "filter")
        await desk.until(lambda: isinstance(desk.app.screen, Finder), "the filter")
        await desk.press("escape")
        await click(desk, "footer", "nodes")
        await desk.until(lambda: isinstance(desk.app.screen, NodesScreen), "the nodes")
        await click(desk, "footer", "back")
        await desk.until(lambda: desk.app.screen is desk.main, "the main screen")

    dashboard(script)


def test_a_click_on_a_key_of_a_dialog_does_what_the_key_does(site: Site, dashboard: Open) -> None:
    site.submit(production())

    async def script(desk: Desk) -> None:
        await desk.press("K")
        await click(desk, "keys", "keep the files")
        await desk.sees("--partial")
        await click(desk, "keys", "cancel")
        await desk.until(lambda: desk.app.screen is desk.main, "it is closed")
        assert site.phase("prod/1/1/1") == "ready"
        await desk.press("K")
        await click(desk, "keys", "do it")
        await desk.until(lambda: site.phase("prod/1/1/1") == "canceled", "it is done")
        await click(desk, "keys", "close")
        await desk.until(lambda: desk.app.screen is desk.main, "it is closed")

    dashboard(script, start="prod/1/1/1")


def test_a_click_on_a_node_shows_it(site: Site, dashboard: Open) -> None:
    site.submit(production())

    async def script(desk: Desk) -> None:
        await click(desk, "nodes", "localhost")
        await desk.sees("localhost  this machine", "running here")

    dashboard(script)


def test_a_click_on_a_change_goes_to_its_package(site: Site, dashboard: Open) -> None:
    site.submit(production())
    site.fail("prod/1/2/1")

    async def script(desk: Desk) -> None:
        await click(desk, "ticker", "failed")
        await desk.until(lambda: desk.main.tree_view.selector == "prod/1/2/1", "it is there")

    dashboard(script)


def test_a_click_on_a_change_of_a_job_goes_to_the_job(site: Site, dashboard: Open) -> None:
    site.submit(production("prod"))
    site.submit(production("other"))
    apply(site.store, request("hold", parse("prod")), actor="me", note=None, now=time.time())

    async def script(desk: Desk) -> None:
        await desk.until(lambda: desk.main.tree_view.selector == "other/1/1", "the start")
        await click(desk, "ticker", "prod hold")
        await desk.until(lambda: desk.main.tree_view.selector == "prod", "it is there")

    dashboard(script, start="other/1/1")


def test_a_click_on_a_path_in_the_sheet_goes_there(site: Site, dashboard: Open) -> None:
    site.submit(production())

    async def script(desk: Desk) -> None:
        await click(desk, "about", "prod/1/1/1")
        await desk.until(lambda: desk.main.tree_view.selector == "prod/1/1/1", "it is there")

    dashboard(script, start="prod/1/1/2")


@pytest.mark.parametrize("size", [(200, 50), (120, 36)])
def test_a_click_on_a_command_copies_it_whole(
    site: Site, dashboard: Open, size: tuple[int, int]
) -> None:
    site.submit(production())
    site.fail("prod/1/2/1")

    async def script(desk: Desk) -> None:
        await click(desk, "about", "d0ctl kill-line")
        await desk.until(lambda: desk.app.clipboard, "it is copied")
        assert desk.app.clipboard == "d0ctl kill-line prod/1/2 --drop-outputs"
        await desk.sees("copied: d0ctl kill-line prod/1/2 --drop-outputs")

    dashboard(script, start="prod/1/2/1", size=size)


def test_a_click_on_the_line_between_tree_and_pane_gives_the_pane_room(
    site: Site, dashboard: Open
) -> None:
    site.submit(production())

    async def script(desk: Desk) -> None:
        before = desk.main.about.size.width
        await desk.hands.click("#right", offset=(0, 3))
        await desk.until(lambda: desk.main.about.size.width > before + 10, "more room")

    dashboard(script)


async def drag(desk: Desk, column: int) -> None:
    """Drag the line between tree and details to a column of the screen."""
    edge = desk.main.details.region.x
    await desk.hands.mouse_down("#right", offset=(0, 3))
    await desk.hands.hover(offset=((edge + column) // 2, 4))
    await desk.hands.hover(offset=(column, 4))
    await desk.hands.mouse_up(offset=(column, 4))
    await desk.hands.click("#tree", offset=(30, 0))


def test_the_line_between_tree_and_details_can_be_dragged_both_ways(
    site: Site, dashboard: Open
) -> None:
    site.submit(production())

    async def script(desk: Desk) -> None:
        edge = desk.main.details.region
        for column in (50, 90, 95, 30):
            await drag(desk, column)
            await desk.until(lambda wanted=column: edge_of(desk) == wanted, f"it is at {column}")  # type: ignore[misc]
        assert desk.main.tree_view.size.width == 30 and edge.right == 120
        await drag(desk, 118)
        await desk.until(lambda: edge_of(desk) == 96, "some of the details are left")
        await drag(desk, 2)
        await desk.until(lambda: edge_of(desk) == 24, "some of the tree is left")

    dashboard(script)


def edge_of(desk: Desk) -> int:
    """Return the column of the line between tree and details."""
    return desk.main.details.region.x


def test_a_dragged_width_lasts_through_other_screens_the_zoom_and_a_narrow_terminal(
    site: Site, dashboard: Open
) -> None:
    site.submit(production())

    async def script(desk: Desk) -> None:
        await drag(desk, 50)
        await desk.until(lambda: edge_of(desk) == 50, "it is dragged")
        await desk.press("o", "escape")
        await desk.until(lambda: edge_of(desk) == 50, "it lasts")
        await desk.press("v")
        await desk.until(lambda: desk.main.about.size.width > 110, "the whole screen")
        await desk.press("v")
        await desk.until(lambda: edge_of(desk) == 50, "it is back")
        await desk.hands.resize_terminal(80, 30)
        await desk.until(lambda: desk.main.about.size.width >= 78, "the pane is below the tree")
        await desk.hands.resize_terminal(120, 36)
        await desk.until(lambda: edge_of(desk) == 50, "it is beside it again")
        await desk.press("greater_than_sign")
        await desk.until(lambda: edge_of(desk) == 48, "the usual wide pane")

    dashboard(script)
