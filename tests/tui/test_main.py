"""The main screen on a real database: what it shows, and what its keys do."""

from pathlib import Path

import pytest

from d0ctl.config import Home
from d0ctl.jobfile.spec import INPUTS, BinarySpec, OutputSpec, PackageSpec
from d0ctl.store import open_store
from d0ctl.store.nodes.registry import add_localhost
from d0ctl.store.views import browse
from d0ctl.store.views.job_files import eta
from d0ctl_tui.draw.row_cells import clock
from d0ctl_tui.terminal import Terminal
from tests.cli.test_check import drive
from tests.support import rows
from tests.support.building import job, line, production
from tests.support.site import Site
from tests.tui.conftest import Desk, Open


def test_the_dashboard_opens_on_all_jobs_with_the_first_selected(
    site: Site, dashboard: Open
) -> None:
    site.submit(production("prod"))
    site.submit(production("other"))

    async def script(desk: Desk) -> None:
        await desk.sees("▸ other", "▸ prod", "· submitted", "0/8", "A production")
        await desk.sees("no daemon: nothing new starts", "1 node")

    dashboard(script)


def test_rows_expand_down_to_the_binary_and_collapse_again(site: Site, dashboard: Open) -> None:
    site.submit(production())

    async def script(desk: Desk) -> None:
        await desk.sees("▾ prod", "▸ 1 make")
        await desk.press("j", "l", "j", "l", "j", "l")
        await desk.sees("▾ 1 gen", "1 tool", "▸ 2 sim")
        await desk.press("h", "h", "h")
        await desk.misses("▸ 2 sim")

    dashboard(script)


def test_a_change_that_is_committed_is_seen_without_a_key(site: Site, dashboard: Open) -> None:
    site.submit(production())

    async def script(desk: Desk) -> None:
        await desk.sees("○ ready")
        site.launch("prod/1/1/1")
        await desk.sees("▶ running", "localhost")
        site.end("prod/1/1/1", "failed", reason="exit-code", detail="it broke", stderr="ouch")
        await desk.sees("✘ failed", "exit-code", "ouch", "prod/1/1/1 failed")

    dashboard(script, start="prod/1/1/1")


def test_a_row_shows_the_end_that_eta_says(site: Site, dashboard: Open) -> None:
    drive(site)
    site.submit(production("first"))
    site.submit(production("second"))
    site.up(cpus=4)
    rows.change(site.store, "stage", work=6000.0, is_timed=1)
    rows.change(site.store, "requirement", pace=1000.0)

    async def script(desk: Desk) -> None:
        await desk.until(lambda: all("~" in row for row in desk.lines("tree")[:2]), "the ends")
        now = desk.main.tree_view.now
        for name, row in zip(("second", "first"), desk.lines("tree"), strict=False):
            end = eta.end_of(site.store, browse.job(site.store, name).id, now=now)
            assert end is not None and name in row
            assert row.rstrip().endswith("~" + clock(end.middle, now, short=True))

    dashboard(script, size=(120, 40))


def test_a_held_job_has_no_estimated_end(site: Site, dashboard: Open) -> None:
    drive(site)
    site.submit(production())
    site.up(cpus=4)
    rows.change(site.store, "stage", work=6000.0, is_timed=1)

    async def script(desk: Desk) -> None:
        await desk.until(lambda: "~" in desk.lines("tree")[0], "its end")
        await desk.press("H")
        await desk.sees("would hold job `prod`")
        await desk.press("enter")
        await desk.sees("held job `prod`", "enter close")
        await desk.press("enter")
        await desk.until(lambda: "held" in desk.lines("tree")[0], "it is held")
        assert "~" not in desk.lines("tree")[0]

    dashboard(script, size=(120, 40))


@pytest.mark.parametrize("phase", ["starting", "unreachable"])
def test_a_launched_package_shows_no_time_that_looks_like_an_end(
    site: Site, dashboard: Open, phase: str
) -> None:
    site.submit(production())
    site.up()
    site.assign("prod/1/1/1")
    for next_phase in ("starting", phase):
        rows.change(site.store, "package", {"id": site.id_of("prod/1/1/1")}, phase=next_phase)

    async def script(desk: Desk) -> None:
        await desk.sees("1 gen", phase)
        (row,) = (line for line in desk.lines("tree") if "1 gen" in line)
        assert phase in row and ":" not in row

    dashboard(script, start="prod/1/1/1", size=(80, 30))


def test_a_package_that_has_not_run_has_no_end(site: Site, dashboard: Open) -> None:
    site.submit(production())
    site.finish("prod/1/1/1")

    async def script(desk: Desk) -> None:
        await desk.sees("1 gen", "2 sim")
        done, ready = (next(line for line in desk.lines("tree") if name in line)
                       for name in ("1 gen", "2 sim"))  # fmt: skip
        assert done[-1].isdigit() and ready.endswith("ready")

    dashboard(script, start="prod/1/1/2", size=(80, 24))


def test_a_path_opens_the_dashboard_there(site: Site, dashboard: Open) -> None:
    site.submit(production(lines=50))

    async def script(desk: Desk) -> None:
        await desk.until(lambda: desk.main.tree_view.selector == "prod/1/42/2", "it is there")
        await desk.sees("prod/1/42/2  sim", "waits for file `gen-42`")

    dashboard(script, start="prod/make/42/2")


def test_a_missing_path_is_reported_with_the_nearest(site: Site, dashboard: Open) -> None:
    site.submit(production())

    async def script(desk: Desk) -> None:
        await desk.sees("there is no job `prd`")

    dashboard(script, start="prd/1")


def test_a_new_job_comes_on_top_and_the_cursor_stays_where_it_is(
    site: Site, dashboard: Open
) -> None:
    site.submit(production("old"))

    async def script(desk: Desk) -> None:
        await desk.press("j")
        await desk.until(lambda: desk.main.tree_view.selector == "old/1")
        site.submit(production("new"))
        await desk.sees("▸ new")
        assert desk.main.tree_view.selector == "old/1"
        assert desk.main.tree_view.cursor == 2

    dashboard(script)


def test_an_empty_home_says_how_to_begin(site: Site, dashboard: Open) -> None:
    async def script(desk: Desk) -> None:
        await desk.sees("no jobs", "d0ctl init merge", "d0ctl submit FILE")
        site.submit(production())
        await desk.sees("▸ prod")

    dashboard(script)


def test_a_missing_home_is_reported_and_opened_when_it_is_made(
    tmp_path: Path, dashboard: Open
) -> None:
    async def script(desk: Desk) -> None:
        await desk.sees("there is no home at", "no jobs")
        with open_store(Home(tmp_path / "none"), create=True) as store:
            add_localhost(store)
            Site.of(store).submit(production())
        await desk.sees("▸ prod")

    dashboard(script, home=tmp_path / "none")


def test_with_an_interval_changes_wait_for_their_time_and_keys_do_not(
    site: Site, dashboard: Open
) -> None:
    site.submit(production())

    async def script(desk: Desk) -> None:
        await desk.sees("○ ready", "requests 1 CPU")
        await desk.until(lambda: desk.app.drivers == () and desk.app._watching, "it watches")
        site.launch("prod/1/1/1")
        await desk.until(lambda: desk.app._due is not None, "an update is due")
        assert "▶ running" not in desk.screen
        await desk.press("g")
        await desk.sees("prod  A production")

    dashboard(script, start="prod/1/1/1", terminal=Terminal(interval=3600.0))


def test_the_ticker_leaves_out_the_steps_to_a_running_package(site: Site, dashboard: Open) -> None:
    site.submit(production())
    site.launch("prod/1/1/1")

    async def script(desk: Desk) -> None:
        await desk.press("c")
        await desk.sees("prod/1/1/1 running")
        answer = "\n".join(desk.lines("ticker"))
        assert "assigned" not in answer and "starting" not in answer

    dashboard(script)


def test_a_row_of_a_binary_shows_its_command_as_it_was_written(site: Site, dashboard: Open) -> None:
    one = BinarySpec("cat", script=f"cat {INPUTS} > all", outputs=(OutputSpec("all"),))
    two = BinarySpec("sort", argv=("sort", "all"), outputs=(OutputSpec("list"),))
    site.submit(job(("make", [line(PackageSpec("make", (one, two)))])))

    async def script(desk: Desk) -> None:
        await desk.sees("1 make")
        await desk.press("l")
        await desk.sees("cat {inputs} > all", "sort all")
        await desk.misses("\\x01", '["')

    dashboard(script, start="prod/1/1/1", size=(160, 36))
