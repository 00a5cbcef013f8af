"""A dashboard that is read-only shows everything and changes nothing."""

from pathlib import Path

import pytest

from d0ctl.store.nodes import registry
from d0ctl_tui.read import saved_views
from d0ctl_tui.terminal import Terminal
from tests.support.building import production
from tests.support.site import Site
from tests.tui.conftest import Desk, Open

READ_ONLY = Terminal(read_only=True)


def test_the_plan_of_a_verb_is_shown_and_enter_only_closes_it(site: Site, dashboard: Open) -> None:
    site.submit(production())

    async def script(desk: Desk) -> None:
        assert desk.screen.splitlines()[0].startswith(" read-only  d0ctl ")
        await desk.press("K")
        await desk.sees("would kill 1 package", "$ d0ctl kill prod/1/1/1")
        await desk.sees("read-only: nothing is changed from here")
        await desk.press("enter")
        await desk.until(lambda: desk.app.screen is desk.main, "it is closed")

    before = site.store.version()
    dashboard(script, start="prod/1/1/1", terminal=READ_ONLY)

    assert site.phase("prod/1/1/1") == "ready"
    assert site.store.version() == before


def test_no_action_on_nodes_is_carried_out(site: Site, dashboard: Open) -> None:
    site.submit(production())

    async def script(desk: Desk) -> None:
        await desk.press("colon", *"node drain", "enter", "enter")
        await desk.sees("would", "read-only: nothing is changed from here")
        await desk.press("enter")
        await desk.until(lambda: desk.app.screen is desk.main, "it is closed")

    dashboard(script, terminal=READ_ONLY)

    assert registry.named(site.store, "localhost").drained == 0


@pytest.mark.parametrize("key", ["exclamation_mark", "vertical_line", "e"])
def test_no_other_program_is_started(site: Site, dashboard: Open, key: str) -> None:
    site.submit(production())
    site.fail("prod/1/1/1")

    async def script(desk: Desk) -> None:
        await desk.press(key)
        await desk.sees("this dashboard is read-only and starts no other programs")

    dashboard(script, start="prod/1/1/1", terminal=READ_ONLY)


def test_it_is_said_on_a_narrow_screen_and_of_the_past(site: Site, dashboard: Open) -> None:
    site.submit(production())
    site.fail("prod/1/1/1")

    async def script(desk: Desk) -> None:
        await desk.until(lambda: desk.screen.startswith(" read-only "), "narrow")
        await desk.press("at", *"1s", "enter")
        await desk.until(lambda: "as it was" in desk.screen.splitlines()[0], "the past")
        assert desk.screen.startswith(" read-only ")

    dashboard(script, terminal=READ_ONLY, size=(50, 20))


def test_no_view_is_saved(
    site: Site, dashboard: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    site.submit(production())

    async def script(desk: Desk) -> None:
        await desk.press("w", *"mine", "enter")
        await desk.sees("this dashboard is read-only and writes no files")

    dashboard(script, terminal=READ_ONLY)

    assert saved_views.load() == {}
