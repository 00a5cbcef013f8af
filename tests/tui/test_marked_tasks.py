"""Several marked tasks: the keys of actions act on each task, not on packages."""

from tests.support.building import production
from tests.support.site import Site
from tests.tasks import making
from tests.tui.conftest import Desk, Open
from tests.tui.test_task_verbs import submit


def test_a_key_acts_on_each_of_several_marked_tasks(site: Site, dashboard: Open) -> None:
    one, two = submit(site, "one"), submit(site, "two")

    async def script(desk: Desk) -> None:
        desk.main.tree_view.marks.paths.update(("one", "two"))
        await desk.press("S")
        await desk.sees("task pause: 2 tasks", "would pause task `one`", "would pause task `two`")
        await desk.sees("$ d0ctl task pause one; d0ctl task pause two")
        await desk.press("enter")
        await desk.sees("paused task `one`", "paused task `two`", "u undo")

    dashboard(script, start="one", size=(140, 40))
    assert [making.status_of(site.store, task) for task in (one, two)] == ["paused", "paused"]


def test_undo_takes_back_the_action_on_each_of_several_tasks(site: Site, dashboard: Open) -> None:
    tasks = [submit(site, name) for name in ("one", "two", "three")]

    async def script(desk: Desk) -> None:
        desk.main.tree_view.marks.paths.add("three")
        await desk.press("S")
        await desk.sees("would pause task `three`")
        await desk.press("enter")
        await desk.sees("paused task `three`")
        await desk.press("enter")
        desk.main.tree_view.marks.paths.update(("one", "two"))
        await desk.press("S")
        await desk.sees("would pause task `two`")
        await desk.press("enter")
        await desk.sees("paused task `two`", "u undo")
        await desk.press("u")
        await desk.sees(
            "task resume: 2 tasks", "would resume task `one`", "would resume task `two`"
        )
        await desk.press("enter")
        await desk.sees("resumed task `one`", "resumed task `two`")

    dashboard(script, start="three", size=(140, 40))
    statuses = [making.status_of(site.store, task) for task in tasks]
    assert statuses == ["running", "running", "paused"]


def test_tasks_and_jobs_are_not_acted_on_together(site: Site, dashboard: Open) -> None:
    task = submit(site, "one")
    site.submit(production())

    async def script(desk: Desk) -> None:
        desk.main.tree_view.marks.paths.update(("one", "prod"))
        await desk.press("K")
        await desk.type("outage")
        await desk.sees("tasks and other rows are marked: mark only one kind", "enter close")
        await desk.press("enter")
        await desk.until(lambda: len(desk.app.screen_stack) == 1, "it closes, and nothing opens")

    dashboard(script, start="one", size=(140, 40))
    assert making.status_of(site.store, task) == "running"
