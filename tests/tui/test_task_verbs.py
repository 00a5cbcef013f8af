"""What the dashboard does to tasks: by the keys of jobs on the row of one, and from the palette."""

import time

import pytest

from d0ctl.actions import ACTIONS
from d0ctl_tui.screens.dialogs.ask_action import of_task
from d0ctl_tui.screens.offered_actions import applicable_to_task
from tests.support.building import production
from tests.support.site import Site
from tests.tasks import making
from tests.tui.conftest import Desk, Open

KEYS = {"S": "task pause", "C": "task resume", "E": "task finish", "K": "task kill",
        "R": "task retry", "Y": "task acknowledge"}  # fmt: skip
"""Keys of actions on jobs that act on the task if its row is selected."""


def submit(site: Site, name: str = "demo") -> int:
    """Submit a task, and make its packages."""
    task = making.submit(site.store, now=time.time(), name=name,
                         split="{files-per-package: 50, at-once: yes}")  # fmt: skip
    making.work(site.store, time.time())
    return task


def test_the_keys_of_a_task_are_those_of_the_same_actions_on_jobs() -> None:
    keys = {action.key: name for name, action in ACTIONS.items() if action.level == "task"}

    assert {action.key: of_task(name) for name, action in ACTIONS.items() if of_task(name)} == KEYS
    assert KEYS.items() <= keys.items()
    assert len(keys) == sum(name.startswith("task ") for name in ACTIONS)


@pytest.mark.parametrize(("key", "verb", "words"), [
    ("S", "task pause", "would pause task `demo`, which is running"),
    ("E", "task finish", "would finish task `demo`, which is running"),
    ("K", "task kill", "would kill task `demo`, which is running, with 2 packages"),
    ("C", "task resume", "task `demo` is running, not paused"),
    ("R", "task retry", "task `demo` is running, so it can't be retried"),
    ("Y", "task acknowledge", "task `demo` is running; only tasks that ended in vain are"),
])  # fmt: skip
def test_a_key_on_the_row_of_a_task_acts_on_the_task(
    site: Site, dashboard: Open, key: str, verb: str, words: str
) -> None:
    submit(site)

    async def script(desk: Desk) -> None:
        await desk.press(key)
        await desk.sees(f"$ d0ctl {verb} demo", words)

    dashboard(script, start="demo", size=(100, 30))


def test_a_key_below_the_row_of_a_task_acts_on_packages(site: Site, dashboard: Open) -> None:
    submit(site)

    async def script(desk: Desk) -> None:
        await desk.press("K")
        await desk.sees("$ d0ctl kill demo/1/1/1")

    dashboard(script, start="demo/1/1", size=(100, 30))


def test_a_task_is_paused_with_a_reason_and_resumed_as_the_hint_says(
    site: Site, dashboard: Open
) -> None:
    task = submit(site)

    async def script(desk: Desk) -> None:
        await desk.press("S")
        await desk.sees("would pause task `demo`")
        await desk.type("full disk")
        await desk.press("enter")
        await desk.sees("paused task `demo`", "to undo: d0ctl task resume demo")
        assert making.status_of(site.store, task) == "paused"
        await desk.press("enter")
        await desk.sees("◫ paused", "full disk")
        await desk.press("C")
        await desk.sees("would resume task `demo`")
        await desk.press("enter")
        await desk.sees("to undo: d0ctl task pause demo")

    dashboard(script, start="demo", size=(100, 30))
    assert making.status_of(site.store, task) == "running"


def test_a_task_is_finished_hard_by_the_other_way(site: Site, dashboard: Open) -> None:
    task = submit(site)

    async def script(desk: Desk) -> None:
        await desk.press("E")
        await desk.sees("$ d0ctl task finish demo --soft", "kill running packages, too")
        await desk.press("ctrl+o")
        await desk.sees("$ d0ctl task finish demo --hard", "which is running, with 2 packages")
        await desk.press("enter")
        await desk.sees("finishing task `demo`, with 2 packages")

    dashboard(script, start="demo", size=(100, 30))
    assert making.status_of(site.store, task) == "finishing"


def test_the_list_of_actions_on_a_task_has_those_that_would_not_be_refused(
    site: Site, dashboard: Open
) -> None:
    submit(site)
    offered = {"task pause", "task finish", "task kill", "task incexec", "task reassign"}
    assert set(applicable_to_task(site.store.home, "demo")) == offered

    async def script(desk: Desk) -> None:
        await desk.press("a")
        await desk.sees(*(ACTIONS[name].title for name in offered))
        await desk.misses(ACTIONS["task retry"].title, ACTIONS["kill"].title)
        await desk.type("reassign")
        await desk.press("enter")
        await desk.sees("task reassign demo: Nodes to run on")
        await desk.type("localhost")
        await desk.press("enter")
        await desk.sees("$ d0ctl task reassign demo localhost", "2 packages not launched yet")

    dashboard(script, start="demo", size=(120, 40))


def test_the_palette_acts_on_the_task_of_the_row_or_asks_which(site: Site, dashboard: Open) -> None:
    submit(site)
    site.submit(production())

    async def script(desk: Desk) -> None:
        await desk.until(lambda: desk.main.tree_view.selector == "demo/1/1/1", "the start")
        await desk.press("colon")
        await desk.type("incexec")
        await desk.press("enter")
        await desk.sees("$ d0ctl task incexec demo", "would look up again the inputs of task")
        await desk.press("escape")
        await desk.until(lambda: desk.app.screen is desk.main, "the dialog is closed")
        desk.app.go_to("prod")
        await desk.press("colon")
        await desk.type("avalanche")
        await desk.press("enter")
        await desk.sees("task avalanche: which task", "running")
        await desk.press("enter")
        await desk.sees("task `demo` is running and waits for no scouts")

    dashboard(script, start="demo/1/1", size=(100, 30))


def test_the_search_finds_a_task_by_its_name(site: Site, dashboard: Open) -> None:
    submit(site)
    site.submit(production())

    async def script(desk: Desk) -> None:
        await desk.press("slash")
        await desk.type("demo")
        await desk.sees("task", "running")
        await desk.press("enter")
        await desk.until(lambda: desk.main.tree_view.selector == "demo", "its row")

    dashboard(script, start="prod", size=(100, 30))


def test_the_palette_asks_for_the_name_of_a_token(site: Site, dashboard: Open) -> None:
    site.submit(production())

    async def script(desk: Desk) -> None:
        await desk.press("colon")
        await desk.type("token remove")
        await desk.press("enter")
        await desk.sees("name of the token")

    dashboard(script)
