"""The folder of an attempt, seen from the dashboard."""

from d0ctl import actions
from d0ctl.select import parse
from tests.support.building import job, line, package, production
from tests.support.jobs import NOW
from tests.support.rows import insert
from tests.support.site import Site
from tests.tui.conftest import Desk, Open
from tests.tui.test_log import write_log


def test_p_shows_the_files_of_the_attempt_and_the_end_of_one(site: Site, dashboard: Open) -> None:
    site.submit(production())
    folder = write_log(site, "prod/1/1/1", "first\nno calibration\n").parent
    (folder / "work").mkdir()
    (folder / "work" / "table").write_bytes(b"one\0two")
    (folder / "work" / "empty").touch()

    async def script(desk: Desk) -> None:
        await desk.press("p")
        await desk.sees("prod/1/1/1", "attempt 1 on localhost", "1.out", "work/", "2 entries")
        await desk.press("enter")
        await desk.sees("/1.out", "no calibration")
        await desk.press("left")
        await desk.sees("2 entries", "work/")
        await desk.press("down", "enter")
        await desk.sees("/work", "table", "7 B")
        await desk.press("enter")
        await desk.sees("/work/empty", "the file is empty")
        await desk.press("left")
        await desk.sees("2 entries", "7 B")
        await desk.press("down", "enter")
        await desk.sees("not text: 7 B")
        await desk.press("escape")
        await desk.until(lambda: desk.app.screen is desk.main, "back")

    dashboard(script, start="prod/1/1/1")


def test_a_folder_that_is_gone_and_a_package_that_has_none_are_reported(
    site: Site, dashboard: Open
) -> None:
    site.submit(production())
    log = write_log(site, "prod/1/1/1", "lost\n")
    log.unlink()
    log.parent.rmdir()

    async def script(desk: Desk) -> None:
        await desk.press("p")
        await desk.sees("this folder can't be read: No such file or directory", "unreadable")
        assert "0 entries" not in desk.screen
        await desk.press("escape")
        desk.app.go_to("prod/1/2/1")
        await desk.press("p")
        await desk.sees("package `prod/1/2/1` has not run yet")
        desk.app.go_to("prod/1")
        await desk.press("p")
        await desk.sees("only a package has a folder, and a job has results: choose one")

    dashboard(script, start="prod/1/1/1")


def test_the_results_of_a_job_say_that_some_are_out_of_date(site: Site, dashboard: Open) -> None:
    site.submit(job(("a", [line(package("x"))]), name="prod"))
    site.finish("prod/1/1/1")
    with site.store.writing():
        insert(site.store, "outdated_package", package_id=1, job_id=1, by_recipe=1)

    async def script(desk: Desk) -> None:
        await desk.press("p")
        await desk.sees("1 file", "some are out of date, see `d0ctl results prod`")

    dashboard(script, start="prod", size=(80, 24))


def test_the_results_of_a_job_say_that_some_lack_inputs(site: Site, dashboard: Open) -> None:
    site.submit(production(lines=2))
    for end in (1, 2):
        site.finish(f"prod/1/1/{end}")
    request = actions.request("kill-line", parse("prod/1/2"), drop_outputs=True)
    actions.apply(site.store, request, actor="emmy", note=None, now=NOW)
    site.finish("prod/2/1/1")

    async def script(desk: Desk) -> None:
        await desk.press("p")
        await desk.sees("1 file", "some lack inputs, see `d0ctl results prod`")

    dashboard(script, start="prod", size=(100, 24))


def test_p_on_a_job_lists_its_results_and_where_they_are(site: Site, dashboard: Open) -> None:
    site.submit(job(("a", [line(package("x")), line(package("y"))]), name="prod"))
    site.launch("prod/1/1/1")
    site.end("prod/1/1/1")
    path = site.store.home.result("prod", "x")
    path.parent.mkdir(parents=True)
    path.write_text("0123456789")

    async def script(desk: Desk) -> None:
        await desk.press("p")
        await desk.sees("results of prod", f"{path}", "not made yet: prod/1/2/1 is ready", "1 made")
        await desk.press("y")
        await desk.sees(f"copied: {path}")
        await desk.press("enter")
        await desk.sees("file", "prod:x", "prod/1/1/1")
        await desk.press("escape", "down", "y")
        await desk.sees("this file is not on this machine")
        await desk.press("escape")
        await desk.until(lambda: desk.app.screen is desk.main, "back")

    dashboard(script, start="prod", size=(160, 40))


def test_a_job_without_results_says_so(site: Site, dashboard: Open) -> None:
    site.submit(job(("a", [line(package(name="x"))]), name="bare"))

    async def script(desk: Desk) -> None:
        await desk.press("p")
        await desk.sees("job `bare` has no final outputs")
        await desk.press("y")
        await desk.sees("no file")

    dashboard(script, start="bare")
