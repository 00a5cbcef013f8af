"""Tasks in the dashboard: their rows, their details, and their changes while it is open."""

import time
from pathlib import Path

from d0ctl.show.drawing.signs import ASCII, ROLES, UNICODE
from d0ctl.store.tasks import state
from d0ctl_tui.terminal import Terminal
from tests.support.building import production
from tests.support.rows import read
from tests.support.site import Site
from tests.tasks import making
from tests.tui.conftest import Desk, Open


def moved(site: Site, task: int, status: str, note: str | None = None) -> None:
    """Give a task a status, as an agent or a user does."""
    known = state.task(site.store, task)
    assert known is not None
    with site.store.writing():
        assert state.move(site.store, known, status, now=time.time(), actor="emmy", note=note)


def row_of(desk: Desk, name: str) -> str:
    """The row of a job in the tree."""
    return next((line for line in desk.lines("tree") if f" {name} " in line), "")


def test_every_status_of_a_task_has_a_glyph_and_a_look(site: Site) -> None:
    for (status,) in read(site.store, "task_status", "name", by="name"):
        assert status in UNICODE.states and status in ROLES
        assert ASCII.states[status].isascii()


def test_the_row_of_a_task_counts_its_files_and_tells_why_it_does_not_go_on(
    site: Site, dashboard: Open
) -> None:
    site.submit(production())
    task = making.submit(site.store, now=time.time(), split="{files-per-package: 10, at-once: yes}")

    async def script(desk: Desk) -> None:
        await desk.until(lambda: "· defined" in row_of(desk, "demo"), "the task")
        making.work(site.store, time.time())
        await desk.until(lambda: "0/100" in row_of(desk, "demo"), "its files")
        assert "demo  task" in row_of(desk, "demo") and "▶ running" in row_of(desk, "demo")
        assert "task" not in row_of(desk, "prod")
        moved(site, task, "paused", "the disk is full")
        await desk.until(lambda: "paused" in row_of(desk, "demo"), "it is paused")
        assert "0/100  the disk is full" in row_of(desk, "demo")

    dashboard(script, size=(80, 24))


def test_the_details_of_a_task_have_its_files_datasets_and_history(
    site: Site, dashboard: Open
) -> None:
    task = making.submit(site.store, now=time.time(), split="{files-per-package: 10, at-once: yes}")
    making.work(site.store, time.time())

    async def script(desk: Desk) -> None:
        await desk.sees("0 of 100 files", "10 packages made", "datasets", "100 picked")
        await desk.sees("changes of its status", "task `demo` is running", "its packages")
        moved(site, task, "paused", "the disk is full")
        await desk.sees("task `demo` is paused by emmy: the disk is full")

    dashboard(script, start="demo", size=(140, 60))


def test_scouts_have_the_bar_of_a_task_while_there_are_no_other_packages(
    site: Site, dashboard: Open
) -> None:
    making.submit(site.store, now=time.time(), split="{scouts: 4}")
    making.work(site.store, time.time())

    async def script(desk: Desk) -> None:
        await desk.until(lambda: "scouting" in row_of(desk, "demo"), "the scouts")
        assert "0/4" in row_of(desk, "demo") and "scouts" in row_of(desk, "demo")
        await desk.press("v")
        await desk.sees("0 of 100 files")

    dashboard(script, size=(170, 40))


def test_a_task_that_waits_for_its_input_is_shown_in_ascii(
    site: Site, dashboard: Open, tmp_path: Path
) -> None:
    making.submit(site.store, tmp_path, time.time(), inputs="{raw: {csv: none.csv}}")
    making.work(site.store, time.time())

    async def script(desk: Desk) -> None:
        await desk.until(lambda: "~ pending" in row_of(desk, "demo"), "it waits")
        assert "dataset `raw`" in row_of(desk, "demo")
        assert desk.screen.isascii()
        await desk.sees("datasets", "raw     pending")
        assert "its packages" not in desk.screen

    dashboard(script, size=(100, 60), terminal=Terminal(ascii=True))


def test_the_screen_of_tasks_lists_those_first_that_may_need_a_person(
    site: Site, dashboard: Open, tmp_path: Path
) -> None:
    making.submit(site.store, now=time.time(), name="going", split="{at-once: yes}")
    making.submit(site.store, tmp_path, time.time(), name="late", inputs="{raw: {csv: no.csv}}")
    task = making.submit(site.store, now=time.time(), name="kept", split="{at-once: yes}")
    making.work(site.store, time.time())

    async def script(desk: Desk) -> None:
        await desk.press("J")
        await desk.sees("tasks  how far each is", "task `going` is running")
        rows = [line.split() for line in desk.lines("tasklist") if line]
        assert [row[0] for row in rows] == ["late", "kept", "going"]
        moved(site, task, "paused", "the disk is full")
        await desk.until(lambda: "the disk is full" in desk.lines("tasklist")[1], "it is paused")
        assert "kept" in desk.lines("tasklist")[1] and "0/100" in desk.lines("tasklist")[1]
        await desk.sees("task `going` is running")  # the cursor stays on its task
        await desk.press("S")
        await desk.sees("$ d0ctl task pause going", "would pause task `going`")
        await desk.press("enter")
        await desk.sees("paused task `going`", "to undo: d0ctl task resume going")
        await desk.press("enter")
        await desk.sees("task `going` is paused by emmy")
        await desk.press("enter")
        await desk.until(lambda: desk.main.tree_view.selector == "going", "its row")

    dashboard(script, start="going", size=(100, 40))


def test_the_screen_of_tasks_says_how_to_submit_one(site: Site, dashboard: Open) -> None:
    site.submit(production())

    async def script(desk: Desk) -> None:
        await desk.press("J")
        await desk.sees("no tasks: d0ctl task submit FILE")
        await desk.press("K")
        await desk.sees("task kill: which task")
        await desk.press("escape")
        await desk.misses("which task")
        await desk.press("enter", "escape")
        await desk.until(lambda: desk.app.screen is desk.main, "the tree")

    dashboard(script, size=(80, 24))


def test_tasks_that_ended_in_vain_need_a_person(site: Site, dashboard: Open) -> None:
    site.submit(production())
    site.fail("prod/1/2/1")
    now = time.time()
    making.submit(site.store, now=now, name="good")
    bad = making.submit(site.store, now=now, name="bad", files="[none.sh]")
    making.work(site.store, now)
    assert making.status_of(site.store, bad) == "broken"

    async def script(desk: Desk) -> None:
        await desk.sees("✘ 1 failed", f"{UNICODE.states['broken']} 1 task ")
        seen = ["good"]
        for _ in range(2):
            await desk.press("n")
            await desk.until(lambda: desk.main.selector not in seen, "the next one")
            seen.append(desk.main.selector or "")
        assert set(seen) == {"good", "bad", "prod/1/2/1"}
        await desk.press("N")
        await desk.until(lambda: desk.main.selector == seen[1], "the one before")

    dashboard(script, start="good", size=(140, 30))


def test_a_broken_task_is_first_on_the_wall_with_its_fault(site: Site, dashboard: Open) -> None:
    making.submit(site.store, now=time.time(), name="bad", files="[none.sh]")
    making.work(site.store, time.time())
    for name in ("some", "more"):
        site.submit(production(name))

    async def script(desk: Desk) -> None:
        await desk.press("Z")
        await desk.sees("bad ✘ broken", "✘ task.yaml:7:12: no package makes `none.sh`")
        shown = "".join(desk.lines("wall"))
        assert shown.index("bad") < shown.index("more")

    dashboard(script, size=(120, 36))


def test_an_acknowledged_task_leaves_the_header_and_says_who_has_seen_it(
    site: Site, dashboard: Open
) -> None:
    bad = making.submit(site.store, now=time.time(), name="bad", files="[none.sh]")
    making.work(site.store, time.time())
    assert making.status_of(site.store, bad) == "broken"
    header = f"{UNICODE.states['broken']} 1 task"

    async def script(desk: Desk) -> None:
        await desk.sees(header)
        await desk.press("J")
        await desk.sees("Y acknowledge")
        await desk.press("Y")
        await desk.sees("$ d0ctl task acknowledge bad", "would acknowledge task `bad`")
        await desk.type("withdrawn by its authors")
        await desk.press("enter")
        await desk.sees("acknowledged task `bad`", "to undo: d0ctl task acknowledge bad --withdraw")
        await desk.press("enter")
        await desk.sees("acknowledged by", ": withdrawn by its authors")
        await desk.press("escape")
        await desk.misses(header)

    dashboard(script, start="bad", size=(140, 40))


def test_a_task_of_the_past_is_shown_with_the_status_that_it_had(
    site: Site, dashboard: Open
) -> None:
    begun = time.time() - 3600
    task = making.submit(site.store, now=begun, split="{files-per-package: 10, at-once: yes}")
    making.work(site.store, begun)
    moved(site, task, "paused", "the disk is full")

    async def script(desk: Desk) -> None:
        await desk.until(lambda: "the disk is full" in row_of(desk, "demo"), "it is paused")
        await desk.press("at")
        await desk.type("30m")
        await desk.press("enter")
        await desk.sees("as it was")
        await desk.until(lambda: "▶ running" in row_of(desk, "demo"), "it was running")
        assert "demo  task" in row_of(desk, "demo")
        assert "the disk is full" not in row_of(desk, "demo")

    dashboard(script, size=(140, 30))


def test_the_fault_of_a_broken_task_comes_without_the_folder_of_its_file(
    site: Site, dashboard: Open
) -> None:
    task = making.submit(site.store, now=time.time())
    moved(site, task, "broken", "/home/emmy/productions/of/2026/demo.yaml:5:8: `{files}` is quoted")

    async def script(desk: Desk) -> None:
        await desk.until(lambda: "broken" in row_of(desk, "demo"), "the task")
        assert "demo.yaml:5:8: `{files}`" in row_of(desk, "demo")
        assert "/home" not in row_of(desk, "demo")
        await desk.press("J")
        await desk.until(lambda: "demo.yaml:5:8" in desk.lines("tasklist")[0], "the list of tasks")

    dashboard(script, size=(80, 24))
