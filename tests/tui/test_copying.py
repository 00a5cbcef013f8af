"""What `y` offers of the selected row, and what is then on the clipboard."""

import re
from functools import partial
from pathlib import Path

import pytest

from d0ctl.config import Home, find_home
from d0ctl_tui.outside import for_home
from tests.cli.test_standing import drive
from tests.support.building import job, line, package, production
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


def test_the_retry_of_packages_that_cool_off_is_offered_once(site: Site, dashboard: Open) -> None:
    drive(site)
    site.up()
    site.submit(job(("a", [line(package()) for _ in range(2)]), name="late"))
    for seq in (1, 2):
        site.fail(f"late/1/{seq}/1", reason="stage-in", detail="no such file: raw.dat")

    async def script(desk: Desk) -> None:
        await desk.sees("stands still: nothing moves", "held or cooling off")
        await desk.press("y")
        await desk.sees("d0ctl status late")
        assert re.findall(r"d0ctl retry \S*cooloff\S*", " ".join(desk.lines("results"))) == [
            "d0ctl retry late:cooloff"
        ]

    dashboard(script, start="late", size=(140, 50))


def test_the_path_of_the_shown_stream_is_copied(site: Site, dashboard: Open) -> None:
    site.submit(production())
    log = write_log(site, "prod/1/1/1", "no calibration\n")

    async def script(desk: Desk) -> None:
        await desk.press("t")
        await desk.sees("no calibration")
        await desk.press("y")
        await desk.until(lambda: desk.app.clipboard == str(log), "the path")

    dashboard(script, start="prod/1/1/1")


@pytest.mark.parametrize(
    ("text", "copied"),
    [
        ("d0ctl logs prod/1/1/1", "d0ctl --home '/srv/my home' logs prod/1/1/1"),
        ("d0ctl release a; d0ctl release b",
         "d0ctl --home '/srv/my home' release a; d0ctl --home '/srv/my home' release b"),
        ("d0ctl --archive 2026 why prod", "d0ctl --home '/srv/my home' --archive 2026 why prod"),
        ("d0ctl --home /srv/other daemon stop", "d0ctl --home /srv/other daemon stop"),
        ("d0ctl hold prod --reason 'no d0ctl here'",
         "d0ctl --home '/srv/my home' hold prod --reason 'no d0ctl here'"),
        ("prod/1/1/1", "prod/1/1/1"),
        ("/scratch/d0ctl /1.out", "/scratch/d0ctl /1.out"),
    ],
)  # fmt: skip
def test_a_copied_command_names_the_home_that_was_chosen(text: str, copied: str) -> None:
    assert for_home(text, Home(Path("/srv/my home"), is_chosen=True)) == copied
    assert for_home(text, Home(Path("/srv/my home"))) == text


def test_a_command_is_copied_with_the_home_of_the_environment(
    site: Site, dashboard: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.submit(production())
    monkeypatch.setenv("D0CTL_HOME", str(site.home.root))
    command = f"d0ctl --home {site.home.root} status prod"

    async def script(desk: Desk) -> None:
        desk.app.home = find_home()
        await desk.press("y")
        await desk.type("d0ctl status")
        await desk.press("enter")
        await desk.until(partial(is_copied, desk, command), command)

    dashboard(script, start="prod")
