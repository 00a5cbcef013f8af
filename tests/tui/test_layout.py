"""What each size of a terminal shows: nothing that matters is missing, and room is used."""

import time

import pytest

from d0ctl.actions import apply, request
from d0ctl.select import parse
from d0ctl.store.nodes import contact, registry
from tests.support.building import job, line, package
from tests.support.site import Site
from tests.tui.conftest import Desk, Open

NAMES = [f"period-2026A-run-{number:03d}" for number in range(1, 41)]


def busy(site: Site) -> None:
    """A job with done, failed, held, running and unreachable packages."""
    lines = [line(package(f"reco-{name}", name="reco"), name=name) for name in NAMES]
    merge = line(package("all", takes=[f"reco-{name}" for name in NAMES]))
    site.submit(job(("reconstruct", lines), ("merge", [merge]), name="autumn"))
    site.finish("autumn/1/1/1")
    site.fail("autumn/1/2/1", stderr="Fatal: corrupt block\n")
    site.launch("autumn/1/3/1")
    apply(
        site.store, request("hold", parse("autumn/1/4/1")), actor="emmy", note=None, now=time.time()
    )


def lose_node(site: Site) -> None:
    """The node does not answer any more."""
    with site.store.writing():
        node = registry.named(site.store, "localhost").id
        contact.down(site.store, node, "gone", now=time.time())


@pytest.mark.parametrize("size", [(40, 10), (60, 15), (80, 24), (120, 36), (200, 60), (300, 100)])
def test_failures_the_daemon_and_help_are_seen_at_each_size(
    site: Site, dashboard: Open, size: tuple[int, int]
) -> None:
    busy(site)
    lose_node(site)

    async def script(desk: Desk) -> None:
        await desk.sees("✘ 1", "‖ 1", "? 1", "no daemon", "autumn")
        await desk.until(lambda: desk.lines("footer")[0], "the keys")
        foot = desk.lines("footer")[0]
        assert "? more" in foot or "? help" in foot
        assert "q quit" in foot
        assert all(len(row) <= size[0] for row in desk.screen.splitlines())

    dashboard(script, size=size, start="autumn/1/2/1")


def test_a_short_tree_leaves_its_rows_to_the_details_below(site: Site, dashboard: Open) -> None:
    site.submit(job(("a", [line(package(f"a{n}")) for n in range(20)]), name="short"))

    async def script(desk: Desk) -> None:
        def rows(part: str) -> int:
            return len(desk.lines(part))

        await desk.sees("▾ short", "1 a", "why")
        await desk.until(lambda: (rows("tree"), rows("about")) == (3, 17), "three rows")
        await desk.press("j", "l")
        await desk.until(lambda: (rows("tree"), rows("about")) == (12, 8), "as many as it may have")
        await desk.press("h", "v", "v")
        await desk.until(lambda: (rows("tree"), rows("about")) == (3, 17), "three rows again")

    dashboard(script, size=(80, 24))


@pytest.mark.parametrize("key", ["escape", "q", "v"])
def test_the_details_on_the_whole_screen_name_the_key_that_leaves_them(
    site: Site, dashboard: Open, key: str
) -> None:
    site.submit(job(("a", [line(package("a0"))]), name="short"))

    async def script(desk: Desk) -> None:
        await desk.sees("q quit")
        await desk.press("v")
        await desk.sees("esc back")
        await desk.misses("q quit", "enter open")
        await desk.press(key)
        await desk.sees("q quit", "▾ short")

    dashboard(script, size=(80, 24))


def test_a_tree_beside_the_details_has_the_whole_height(site: Site, dashboard: Open) -> None:
    site.submit(job(("a", [line(package("a0"))]), name="short"))

    async def script(desk: Desk) -> None:
        await desk.sees("▾ short", "1 a")
        assert len(desk.lines("tree")) > 20

    dashboard(script, size=(120, 36))


@pytest.mark.parametrize("size", [(120, 36), (200, 60), (300, 100)])
def test_no_pane_below_touches_the_next_or_the_edge(
    site: Site, dashboard: Open, size: tuple[int, int]
) -> None:
    busy(site)

    async def script(desk: Desk) -> None:
        for pane in ("nodes", "rates", "events" if size[0] == 300 else "ticker"):
            assert any(await desk.settled(pane))
            part = desk.app.screen.query_one(f"#{pane}")
            assert part.region.right - part.content_region.right >= 1

    dashboard(script, size=size)


def test_name_reason_and_node_are_readable_at_120_columns(site: Site, dashboard: Open) -> None:
    busy(site)

    async def script(desk: Desk) -> None:
        await desk.sees("✘ failed")
        rows = await desk.settled("tree")
        failed = next(row for row in rows if "✘ failed" in row)
        assert "run-002" in failed
        assert "exit-code  localhost" in failed

    dashboard(script, size=(120, 36), start="autumn/1/2/1")


def test_a_wide_screen_has_columns_of_nodes_time_and_memory(site: Site, dashboard: Open) -> None:
    busy(site)

    async def script(desk: Desk) -> None:
        await desk.sees("✘ failed")
        rows = await desk.settled("tree")
        names = desk.lines("columns")[0].split()
        assert {"node", "ran", "memory"} <= set(names)
        failed = next(row for row in rows if "✘ failed" in row)
        assert "period-2026A-run-002" in failed
        assert failed.split("localhost")[1].split()[:4] == ["2.0", "s", "1.0", "MB"]

    dashboard(script, size=(200, 60), start="autumn/1/2/1")


def test_a_tall_screen_shows_groups_of_failures_and_the_end_of_a_log(
    site: Site, dashboard: Open
) -> None:
    busy(site)

    async def script(desk: Desk) -> None:
        await desk.until(lambda: "exit-code" in "".join(desk.lines("broken")), "the groups")
        (group,) = [row for row in desk.lines("broken") if row]
        assert group.split()[:5] == ["✘", "1", "autumn", "exit-code", "localhost"]
        desk.main.tree_view.move_to(0)
        site.fail("autumn/1/5/1")
        await desk.until(
            lambda: desk.lines("broken")[0].split()[1:3] == ["2", "autumn"], "both failures"
        )
        desk.main.broken.click_line(0, 0)
        await desk.until(lambda: desk.main.selector == "autumn/1/5/1", "the latest of the group")
        await desk.until(lambda: "".join(desk.lines("tail")), "the log")

    dashboard(script, size=(200, 60), start="autumn/1/2/1")


def test_a_vast_screen_shows_the_changes_beside_the_details(site: Site, dashboard: Open) -> None:
    busy(site)

    async def script(desk: Desk) -> None:
        await desk.until(lambda: "autumn/1/2/1 failed" in "\n".join(desk.lines("events")), "events")
        assert not desk.main.query_one("#ticker").display
        await desk.press("v")
        await desk.until(lambda: not desk.main.events.display, "only the details")

    dashboard(script, size=(300, 100), start="autumn/1/2/1")
