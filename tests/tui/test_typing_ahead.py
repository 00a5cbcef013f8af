"""Keys that are typed before a box is open are for the box."""

import asyncio
import threading
from pathlib import Path

import pytest
from textual import events
from textual.widgets import Input

from d0ctl.jobfile.reader import read_text
from d0ctl.store.views import names
from d0ctl_tui.read.logs import Log
from d0ctl_tui.screens.dialogs.plan import PlanDialog
from d0ctl_tui.screens.dialogs.search_box import Finder
from d0ctl_tui.screens.log import LogScreen
from tests.support.building import production
from tests.support.site import Site
from tests.tui.conftest import Desk, Open
from tests.tui.test_log import write_log
from tests.tui.test_terminal import PROGRAM, terminal  # noqa: F401
from tests.tui.test_terminal import Open as OpenTerminal


def type_at_once(desk: Desk, keys: str) -> None:
    """Type keys before any of them is handled."""
    names = {
        "/": "slash",
        "\r": "enter",
        "\n": "ctrl+j",
        "\x1b": "escape",
        " ": "space",
        "=": "equals_sign",
    }
    for key in keys:
        desk.app.post_message(events.Key(names.get(key, key), key if key.isprintable() else None))


@pytest.mark.parametrize(("keys", "typed"), [("/he", "he"), ("jjk/he j", "he j"), ("K why", " why"),
                                             ("/x\x1b/he", "he")])  # fmt: skip
def test_keys_go_to_the_box_that_the_first_of_them_opens(
    site: Site, dashboard: Open, keys: str, typed: str
) -> None:
    site.submit(production())

    async def script(desk: Desk) -> None:
        await desk.sees("A production")
        type_at_once(desk, keys)
        kind = PlanDialog if "K" in keys else Finder

        def is_typed() -> bool:
            fields = desk.app.screen.query("#typed").results(Input)
            return isinstance(desk.app.screen, kind) and [field.value for field in fields] == [
                typed
            ]

        await desk.until(is_typed, f"{typed} is typed")

    dashboard(script, start="prod/1/1/1")


@pytest.mark.parametrize("after", [0, 1, 2, 3, 5, 8, 12, 20, 40])
def test_keys_after_an_answer_are_for_the_box_that_the_answer_opens(
    site: Site, dashboard: Open, after: int
) -> None:
    site.submit(production())

    async def script(desk: Desk) -> None:
        await desk.press("P")
        await desk.sees("priority prod: ")
        type_at_once(desk, "80\r")
        for _ in range(after):
            await asyncio.sleep(0)
        type_at_once(desk, "fast")
        await desk.sees("$ d0ctl priority prod 80 --reason fast")

    dashboard(script)


LATE = "job: late\nstages: [{lines: [{run: 'true', outputs: [all.txt]}]}]\n"


def submit_late(site: Site) -> None:
    """Submit a job by its file, from which it can be cloned."""
    site.submit(read_text(LATE, directory=site.home.root.parent))


@pytest.mark.parametrize("after", [0, 1, 3, 8, 20, 60])
def test_values_typed_before_the_plan_has_come_are_planned_and_keys_keep_their_field(
    site: Site, dashboard: Open, after: int
) -> None:
    submit_late(site)

    async def script(desk: Desk) -> None:
        await desk.sees("late")
        desk.app.post_message(events.Key("A", "A"))
        desk.app.post_message(events.Key("tab", None))
        for _ in range(after):
            await asyncio.sleep(0)
        type_at_once(desk, "as=two\rreason")
        await desk.sees("$ d0ctl clone late --as two --reason reason", "would submit `two`")
        assert desk.screen.count("is not named in") == 1
        await desk.press("enter")
        await desk.sees("submitted `two`")

    dashboard(script, start="late")

    assert sorted(names.jobs(site.store)) == ["late", "two"]


@pytest.mark.parametrize("after", [0, 1, 3, 8, 20, 60])
def test_enter_never_acts_without_the_values_that_the_fields_show(
    site: Site, dashboard: Open, after: int
) -> None:
    submit_late(site)

    async def script(desk: Desk) -> None:
        await desk.sees("late")
        await desk.press("A")
        await desk.sees("would submit `late-001`")
        desk.app.post_message(events.Key("tab", None))
        type_at_once(desk, "as=two")
        for _ in range(after):
            await asyncio.sleep(0)
        type_at_once(desk, "\r")
        await desk.sees("would submit `two`")

    dashboard(script, start="late")

    assert names.jobs(site.store) == ["late"]


def test_a_value_without_its_value_says_how_to_write_it(site: Site, dashboard: Open) -> None:
    submit_late(site)

    async def script(desk: Desk) -> None:
        await desk.press("A")
        await desk.sees("would submit `late-001`")
        await desk.press("tab")
        await desk.type("as=two set")
        await desk.press("enter")
        await desk.sees("`set` has no value", "e.g. set=KEY=VALUE", "enter plan with it")

    dashboard(script, start="late")


@pytest.mark.parametrize("keys", ["/he", "jjk/he j", "K why"])
def test_the_dashboard_may_end_while_keys_open_a_box(
    site: Site, dashboard: Open, keys: str
) -> None:
    site.submit(production())

    for turns in (5, 11, 17):

        async def script(desk: Desk, turns: int = turns) -> None:
            await desk.sees("A production")
            type_at_once(desk, keys)
            for _ in range(turns):
                await asyncio.sleep(0)

        dashboard(script, start="prod/1/1/1")


@pytest.mark.parametrize("enter", ["\r", "\n"])  # the latter until a terminal gives single keys
def test_an_enter_after_a_search_goes_there(site: Site, dashboard: Open, enter: str) -> None:
    site.submit(production())

    async def script(desk: Desk) -> None:
        type_at_once(desk, f"/prod/1/2/1{enter}a")
        await desk.sees("act on prod/1/2/1")

    dashboard(script)


def test_a_search_typed_in_one_go_goes_there(
    site: Site,
    terminal: OpenTerminal,  # noqa: F811
) -> None:
    site.submit(production())
    site.fail("prod/1/2/1")
    screen = terminal(PROGRAM, "tui", "prod")
    screen.sees(b"more")

    screen.type(b"/prod/1/2/1\r")

    screen.sees(b"ended with exit code")


def test_a_move_before_a_log_is_read_is_done_afterwards(site: Site, dashboard: Open) -> None:
    site.submit(production())
    write_log(site, "prod/1/1/1", "".join(f"line {number}\n" for number in range(1, 400)))

    async def script(desk: Desk) -> None:
        await desk.sees("A production")
        type_at_once(desk, "t")
        while not isinstance(log := desk.app.screen, LogScreen):
            await asyncio.sleep(0)
        log.pane.action_top()
        await desk.sees("line 1\n", "line 2\n")

    dashboard(script, start="prod/1/1/1")


def test_a_log_that_is_saved_before_it_is_read_has_the_name_of_the_stream_that_is_shown(
    site: Site, dashboard: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.submit(production())
    write_log(site, "prod/1/1/1", "no calibration\n")
    monkeypatch.chdir(tmp_path)
    latest, is_released = Log.latest, threading.Event()
    monkeypatch.setattr(Log, "latest", lambda log: is_released.wait(60) and latest(log))

    async def script(desk: Desk) -> None:
        await desk.press("t")
        await desk.sees("stderr")
        await desk.press("S")
        is_released.set()
        await desk.sees("save this log to", "prod-1-1-1.1.1.out", "stdout")
        await desk.press("enter")
        await desk.sees("saved 15 B as ")

    dashboard(script, start="prod/1/1/1", size=(200, 40))

    assert (tmp_path / "prod-1-1-1.1.1.out").read_text() == "no calibration\n"


@pytest.mark.parametrize("is_refused", [False, True])
def test_an_enter_before_the_plan_is_on_the_screen_does_nothing_but_the_reason_is_kept(
    site: Site, dashboard: Open, is_refused: bool
) -> None:
    site.submit(production())
    if is_refused:
        site.finish("prod/1/1/1")

    async def script(desk: Desk) -> None:
        await desk.press("K")
        state = "refused" if is_refused else "planned"
        await desk.until(lambda: getattr(desk.app.screen, "state", "") == state)
        type_at_once(desk, "old\rer")
        if is_refused:
            await desk.sees("so it can't be killed", "enter close")
            return
        await desk.sees("would kill", "--reason older", "enter do it")
        assert site.phase("prod/1/1/1") != "killed"
        await desk.press("enter")
        await desk.sees("killed package `prod/1/1/1`")

    dashboard(script, start="prod/1/1/1")
