"""What `y` offers of the selected row, and what is then on the clipboard."""

from functools import partial

from tests.support.building import production
from tests.support.site import Site
from tests.tui.conftest import Desk, Open
from tests.tui.test_log import write_log


def is_copied(desk: Desk, text: str) -> bool:
    """Whether this is on the clipboard."""
    return desk.app.clipboard == text


def test_the_path_the_folder_and_the_commands_of_a_package_are_copied(
    site: Site, dashboard: Open
) -> None:
    site.submit(production())
    folder = write_log(site, "prod/1/1/1", "no calibration\n").parent

    async def script(desk: Desk) -> None:
        await desk.sees("d0ctl logs prod/1/1/1")
        wanted = {"path prod": "prod/1/1/1", "folder": str(folder),
                  "logs": "d0ctl logs prod/1/1/1"}  # fmt: skip
        for typed, copied in wanted.items():
            await desk.press("y")
            await desk.sees("d0ctl status prod/1/1/1")
            await desk.type(typed)
            await desk.press("enter")
            await desk.until(partial(is_copied, desk, copied), copied)
        await desk.sees("copied: d0ctl logs prod/1/1/1")

    dashboard(script, start="prod/1/1/1")


def test_a_job_has_no_folder_and_no_log_to_copy(site: Site, dashboard: Open) -> None:
    site.submit(production())

    async def script(desk: Desk) -> None:
        await desk.press("y")
        await desk.sees("d0ctl status prod")
        assert "folder" not in desk.screen
        await desk.press("escape", "exclamation_mark")
        await desk.sees("only a package has a node")
        await desk.press("vertical_line")
        await desk.sees("only a package has a log")

    dashboard(script, start="prod")


def test_the_path_of_the_shown_stream_is_copied(site: Site, dashboard: Open) -> None:
    site.submit(production())
    log = write_log(site, "prod/1/1/1", "no calibration\n")

    async def script(desk: Desk) -> None:
        await desk.press("t")
        await desk.sees("no calibration")
        await desk.press("y")
        await desk.until(lambda: desk.app.clipboard == str(log), "the path")

    dashboard(script, start="prod/1/1/1")
