"""The other screens: failures, nodes, logs, help; and the view of one thing on the whole screen."""

import re
import time

from typer.testing import CliRunner

from d0ctl.cli.app import app
from tests.cli.test_check import drive
from tests.support import rows
from tests.support.building import production
from tests.support.site import Site
from tests.tui.conftest import Desk, Open


def test_failures_are_grouped_and_open_to_their_packages(site: Site, dashboard: Open) -> None:
    site.submit(production(lines=5))
    for line in (1, 2, 3):
        site.fail(f"prod/1/{line}/1")
    site.fail("prod/1/4/1", reason="seg-fault", detail="ended by SIGSEGV")

    async def script(desk: Desk) -> None:
        await desk.press("F")
        await desk.sees("failures of prod", "4 failed packages", "3 exit-code", "1 seg-fault")
        await desk.press("enter")
        await desk.sees("▾", "prod/1/3/1 gen")
        await desk.press("tab")
        await desk.sees("4 localhost")
        await desk.press("tab")
        await desk.sees("4 (no software)")
        await desk.press("h", "h", "space", "j", "j", "enter")
        await desk.until(lambda: desk.main.tree_view.selector == "prod/1/2/1", "the package")

    dashboard(script)


def test_a_new_failure_joins_the_groups(site: Site, dashboard: Open) -> None:
    site.submit(production(lines=5))
    site.fail("prod/1/1/1")

    async def script(desk: Desk) -> None:
        await desk.press("F")
        await desk.sees("1 failed package")
        for line in (2, 3):
            site.fail(f"prod/1/{line}/1")
        await desk.sees("3 failed packages")

    dashboard(script)


def test_a_view_has_the_whole_screen_and_gives_it_back(site: Site, dashboard: Open) -> None:
    site.submit(production())

    async def script(desk: Desk) -> None:
        await desk.press("v")
        await desk.misses("▾ prod")
        await desk.press("escape")
        await desk.sees("▾ prod")

    dashboard(script, start="prod/1/1/1")


def test_help_shows_every_key_and_fits_a_small_screen(site: Site, dashboard: Open) -> None:
    site.submit(production())

    async def script(desk: Desk) -> None:
        await desk.press("question_mark")
        await desk.sees("one line up", "moving")
        await desk.settled("words")  # also its width, and so the number of its lines
        await desk.press("G")
        await desk.sees("quit")
        await desk.press("question_mark")
        await desk.misses("one line up")

    dashboard(script, size=(80, 24))


def test_a_log_is_followed_searched_and_left(real_site: Site, dashboard: Open) -> None:
    from tests.support.jobs import job, simple

    lines, needle = "for i in $(seq 500); do echo line $i; done", "echo the needle; echo oops >&2"
    script_text = real_site.ran("a", lines, real_site.gate("a"), needle)
    real_site.submit(job("prod", [simple(script_text)]))

    async def script(desk: Desk) -> None:
        await desk.sees("▶ running")
        await desk.press("t")
        await desk.sees("following", "line 500", "stdout")
        real_site.open("a")
        await desk.sees("the needle")
        await desk.press("slash")
        await desk.type("line 321")
        await desk.press("enter")
        await desk.sees("line 321", "searched on from the beginning")
        await desk.press("g", "n")
        await desk.sees("line 321")
        await desk.press("slash")
        await desk.type("line 321 or none")
        await desk.press("enter")
        await desk.sees("no match for `line 321 or none`")
        await desk.press("s")
        await desk.sees("stderr", "oops")
        await desk.press("escape")
        await desk.sees("prod")

    real_site.start_daemon()
    dashboard(script, start="prod/1/1/1", home=real_site.home.root)


def test_the_age_of_a_package_grows_though_nothing_happens(site: Site, dashboard: Open) -> None:
    site.submit(production())
    site.launch("prod/1/1/1")
    drive(site)

    def age(desk: Desk) -> float:
        found = re.search(r":[0-9]{2}  ([0-9.]+) s\b", desk.screen)
        return float(found[1]) if found else -1.0

    async def script(desk: Desk) -> None:
        await desk.until(lambda: age(desk) >= 0, "its age")
        first = age(desk)
        await desk.until(lambda: age(desk) > first, "it is older")

    dashboard(script, start="prod/1/1/1", size=(120, 40))


def test_no_command_that_changes_a_job_is_beside_an_archived_one(
    site: Site, dashboard: Open
) -> None:
    site.submit(production())
    site.fail("prod/1/1/1")

    def type_in(*words: str) -> None:
        typed = [*words, "--yes", "--home", str(site.store.home.root)]
        assert CliRunner().invoke(app, typed, prog_name="d0ctl").exit_code == 0

    type_in("kill", "prod", "--reason", "not needed")
    rows.change(site.store, "job", {"name": "prod"}, ended=time.time())  # as a daemon does
    type_in("archive", "prod", "--as", "spring")

    async def script(desk: Desk) -> None:
        await desk.sees("does not retry `exit-code`", "actions of people")
        assert not [line for line in desk.lines("about") if "d0ctl" in line]
        for key in ("o", "escape", "J"):
            first = desk.screen.splitlines()[0]
            assert first.startswith(" archive spring  d0ctl ") and "✘ 1 failed" in first
            assert "daemon" not in first and "nodes" not in first and "slots" not in first
            await desk.press(key)

    dashboard(script, start="prod", archive="spring", size=(160, 50))


def test_a_filter_shows_packages_by_state_and_follows_what_changes(
    site: Site, dashboard: Open
) -> None:
    site.submit(production())

    async def script(desk: Desk) -> None:
        await desk.press("f")
        await desk.sees(
            "needs a person", "unacknowledged failures, held, unreachable, stuck, stragglers"
        )
        await desk.type("ready")
        await desk.press("enter")
        await desk.sees("ready: 3", "prod/1/3/1 gen")
        await desk.press("down", "down")
        assert desk.main.tree_view.selector == "prod/1/3/1"
        site.fail("prod/1/2/1")
        await desk.sees("ready: 2")
        assert desk.main.tree_view.selector == "prod/1/3/1"
        site.finish("prod/1/1/1")
        await desk.sees("ready: 2", "prod/1/1/2")
        await desk.press("space")
        site.fail("prod/1/1/2")
        await desk.sees("ready: 2", "✘ failed")
        await desk.press("escape", "escape")
        await desk.sees("▾ prod")

    dashboard(script)
