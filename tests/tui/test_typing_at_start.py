"""Keys that are typed before the first picture are for the row that it marks."""

import asyncio
import time
from collections.abc import Callable

import pytest

from d0ctl.store.nodes.leases import LEASE, take_lease
from d0ctl_tui.app import Dashboard
from d0ctl_tui.poller import Poller
from d0ctl_tui.read import saved_views
from d0ctl_tui.read.package_filter import PackageFilter
from d0ctl_tui.read.saved_views import SavedView
from tests.support.building import production
from tests.support.site import Site
from tests.tui.conftest import Desk, Open
from tests.tui.test_typing_ahead import type_at_once

TURNS = [0, 1, 3, 8, 20, 60]

TypeAtStart = Callable[..., None]


@pytest.fixture
def type_at_start(monkeypatch: pytest.MonkeyPatch) -> TypeAtStart:
    """Type keys as soon as the dashboard begins, with some turns of the event loop before each."""
    on_mount = Dashboard.on_mount
    typing: list[asyncio.Task[None]] = []

    def prepare(*keys: str, turns: int) -> None:
        async def type_them(app: Dashboard) -> None:
            for key in keys:
                for _ in range(turns):
                    await asyncio.sleep(0)
                type_at_once(Desk(app, None, 0), key)  # type: ignore[arg-type]

        def mount(app: Dashboard) -> None:
            typing.append(asyncio.get_running_loop().create_task(type_them(app)))
            on_mount(app)

        monkeypatch.setattr(Dashboard, "on_mount", mount)

    return prepare


@pytest.mark.parametrize("turns", TURNS)
def test_a_key_at_the_start_acts_on_the_row_that_the_dashboard_is_opened_at(
    site: Site, dashboard: Open, type_at_start: TypeAtStart, turns: int
) -> None:
    site.submit(production("prod"))
    site.submit(production("first"))
    type_at_start("K", "w", "h", "y", turns=turns)

    async def script(desk: Desk) -> None:
        await desk.sees("$ d0ctl kill prod/1/1/1 --reason why")

    dashboard(script, start="prod/1/1/1")


@pytest.mark.parametrize("turns", TURNS)
def test_a_move_at_the_start_begins_at_the_row_that_the_dashboard_is_opened_at(
    site: Site, dashboard: Open, type_at_start: TypeAtStart, turns: int
) -> None:
    site.submit(production("prod"))
    site.submit(production("first"))
    type_at_start("j", "K", turns=turns)

    async def script(desk: Desk) -> None:
        await desk.sees("$ d0ctl kill prod/1/1/2")

    dashboard(script, start="prod/1/1/1")


@pytest.mark.parametrize("turns", TURNS)
def test_a_walk_to_a_problem_at_the_start_acts_on_the_problem(
    site: Site, dashboard: Open, type_at_start: TypeAtStart, turns: int
) -> None:
    site.submit(production("prod"))
    site.fail("prod/1/2/1")
    site.submit(production("first"))
    type_at_start("n", "R", turns=turns)

    async def script(desk: Desk) -> None:
        await desk.sees("$ d0ctl retry prod/1/2/1")

    dashboard(script, start="prod")


@pytest.mark.parametrize("turns", TURNS)
def test_a_key_at_the_start_acts_on_the_first_row_of_the_saved_view(
    site: Site, dashboard: Open, type_at_start: TypeAtStart, turns: int
) -> None:
    site.submit(production("prod"))
    site.fail("prod/1/2/1")
    site.submit(production("first"))
    saved_views.save(saved_views.START, SavedView(packages=PackageFilter("state", "failed")))
    type_at_start("R", turns=turns)

    async def script(desk: Desk) -> None:
        await desk.sees("$ d0ctl retry prod/1/2/1")

    dashboard(script)


@pytest.mark.parametrize("turns", TURNS[:5])
def test_keys_for_a_row_that_does_not_exist_act_on_no_other(
    site: Site, dashboard: Open, type_at_start: TypeAtStart, turns: int
) -> None:
    site.submit(production("first"))
    opened: list[int] = []
    type_at_start("K", turns=turns)

    async def script(desk: Desk) -> None:
        await desk.sees("no job `prod`")
        for _ in range(100):
            await asyncio.sleep(0)
            opened.append(len(desk.app.screen_stack))

    dashboard(script, start="prod/1/1/1")

    assert set(opened) == {1}


@pytest.mark.parametrize("turns", TURNS)
def test_keys_after_a_search_act_on_what_it_finds(site: Site, dashboard: Open, turns: int) -> None:
    site.submit(production("prod"))
    site.submit(production("first"))

    async def script(desk: Desk) -> None:
        await desk.sees("▸ first")
        type_at_once(desk, "/prod/1/2/1\r")
        for _ in range(turns):
            await asyncio.sleep(0)
        type_at_once(desk, "K")
        await desk.sees("$ d0ctl kill prod/1/2/1")

    dashboard(script)


def test_the_first_picture_knows_that_a_daemon_is_running(
    site: Site, dashboard: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.submit(production())
    with site.store.writing():
        take_lease(site.store, LEASE, now=time.time())
    monkeypatch.setattr(Poller, "start", lambda _: None)

    async def script(desk: Desk) -> None:
        await desk.sees("daemon up")

    dashboard(script)
