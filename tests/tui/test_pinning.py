"""Ancestors of the first row stay at the top of the tree while it scrolls."""

import random
from array import array

import pytest

from d0ctl_tui.read.outline import Path
from d0ctl_tui.widgets.tree import Tree
from tests.support.building import production
from tests.support.site import Site
from tests.tui.conftest import Desk, Open

SEED = 17


def expand(tree: Tree, chance: random.Random, share: float, path: Path = ()) -> None:
    """Expand about this share of the rows below a path."""
    for ordinal in range(tree.outline.branch(path).size):  # type: ignore[union-attr]
        child = (*path, ordinal)
        if len(child) < 5 and chance.random() < share:
            tree.outline.expand(child, tree.source.size(child))
            expand(tree, chance, share, child)


def drawn(tree: Tree) -> list[int]:
    """The lines that its rows should show: ancestors of the first row below them, then all."""
    top, height = tree.scroll_offset.y, tree.size.height
    pinned = tree.outline.pinned(top, height // 4) if height >= 8 else []
    return [*pinned, *range(top + len(pinned), top + height)]


def seen(desk: Desk) -> list[str]:
    """The rows of the tree that the terminal shows."""
    part = desk.main.tree_view.scrollable_content_region
    rows = desk.screen.splitlines()[part.y : part.bottom]
    return [row[: part.width].rstrip() for row in rows]


@pytest.mark.parametrize("height", [36, 15])
def test_rows_are_ancestors_and_what_follows_and_a_click_selects_what_is_drawn(
    site: Site, dashboard: Open, height: int
) -> None:
    for number in range(1, 5):
        site.submit(production(f"prod{number}", lines=4))

    async def script(desk: Desk) -> None:
        await desk.sees("prod4")
        tree, chance = desk.main.tree_view, random.Random(SEED + height)
        scrolled = 0
        for share in (0.5, 0.9, 1.0):
            tree.outline.collapse_all()
            expand(tree, chance, share)
            tree.move_to(0)
            top = chance.randrange(max(1, tree.outline.height - tree.size.height + 1))
            scrolled += top > 0
            for y in range(min(tree.size.height, tree.outline.height)):
                tree.scroll_to(y=top, animate=False, immediate=True, force=True)
                await desk.hands.pause()
                lines = drawn(tree)
                assert [tree.line_at(row) for row in range(tree.size.height)] == lines
                assert seen(desk) == desk.lines("tree")
                chosen = tree.outline.locate(lines[y])
                tree.cursor = -1
                await desk.hands.click("#tree", offset=(30, y))
                assert tree.cursor_path == chosen, (share, top, y)
                assert tree.cursor in drawn(tree)[len(tree.pinned(tree.scroll_offset.y)) :]
        assert scrolled

    dashboard(script, size=(100, height))


def test_the_cursor_stays_below_pinned_rows_and_pages_leave_out_no_row(
    site: Site, dashboard: Open
) -> None:
    site.submit(production("prod", lines=30))

    async def script(desk: Desk) -> None:
        await desk.sees("make")
        tree = desk.main.tree_view
        expand(tree, random.Random(SEED), 1.0)
        tree.renew()
        for key in ("pagedown", "down", "up", "pageup"):
            await desk.press("g" if "down" in key else "G")
            shown: set[int] = set()
            for _ in range(12 if "page" in key else 45):
                lines = drawn(tree)[len(tree.pinned(tree.scroll_offset.y)) :]
                assert tree.cursor in lines
                shown |= set(lines)
                await desk.press(key)
            assert len(shown) == max(shown) - min(shown) + 1 > 44
        await desk.press("G")
        tree.move_to(tree.outline.line_of((0, 0, 20, 1)))
        await desk.hands.pause()
        assert [line.split()[1] for line in seen(desk)[:3]] == ["prod", "1", "21"]

    dashboard(script, size=(100, 36))


def test_a_list_of_a_filter_and_a_low_tree_pin_nothing(site: Site, dashboard: Open) -> None:
    site.submit(production("prod", lines=30))

    async def script(desk: Desk) -> None:
        tree = desk.main.tree_view
        await desk.until(lambda: tree.cursor_path == (0, 0, 2, 0), "the start is shown")
        tree.show_only(array("q", range(1, 61)))
        await desk.press("G")
        await desk.until(lambda: tree.scroll_offset.y, "it is scrolled")
        assert tree.line_at(0) == tree.scroll_offset.y
        tree.reveal((0, 0, 2, 0))
        await desk.hands.resize_terminal(80, 14)
        await desk.until(lambda: tree.size.height < 8, "a low tree")
        await desk.press("G")
        await desk.until(lambda: tree.scroll_offset.y, "it is scrolled")
        assert tree.line_at(0) == tree.scroll_offset.y

    dashboard(script, size=(100, 36), start="prod/1/3/1")
