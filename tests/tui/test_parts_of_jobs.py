"""Update and clone take parts of jobs in the dashboard, in the ways that the command line does."""

import time
from pathlib import Path

import pytest

from d0ctl.actions import apply, request
from d0ctl.jobfile.reader import read
from d0ctl.select import parse
from d0ctl.store.views import names
from tests.support.site import Site
from tests.tui.conftest import Desk, Open

SCAN = """\
job: scan
stages:
  - {name: gen, lines: [{for: {n: [1, 2]}, run: "echo {n} > gen-{n}", outputs: "gen-{n}"}]}
  - {name: all, lines: [{run: "cat gen-* > all", inputs: {from: gen}, outputs: all}]}
"""


@pytest.fixture(autouse=True)
def outdated(site: Site, tmp_path: Path) -> None:
    """A job of which two packages ran with another recipe than its job file has now."""
    path = tmp_path / "scan.yaml"
    path.write_text(SCAN)
    site.submit(read(path))
    for line in (1, 2):
        site.finish(f"scan/1/{line}/1")
    path.write_text(SCAN.replace("echo {n}", "echo 0{n}"))
    update = request("update", parse("scan"))
    apply(site.store, update, actor="tester", note=None, now=time.time())


def test_the_key_of_update_runs_an_outdated_package_again(site: Site, dashboard: Open) -> None:
    async def script(desk: Desk) -> None:
        await desk.press("W")
        await desk.sees("$ d0ctl update scan/1/1/1 --again", "^o accept outdated results")
        await desk.press("enter")
        await desk.sees("updated `scan`")

    dashboard(script, start="scan/1/1/1")

    assert [site.phase(f"scan/1/{line}/1") for line in (1, 2)] == ["ready", "done"]


def test_the_only_other_way_to_update_a_part_accepts_its_results(
    site: Site, dashboard: Open
) -> None:
    async def script(desk: Desk) -> None:
        await desk.press("W", "ctrl+o")
        await desk.sees("$ d0ctl update scan/1 --accept", "2 packages whose results are accepted",
                        "^o run outdated packages again")  # fmt: skip
        await desk.press("ctrl+o")
        await desk.sees("$ d0ctl update scan/1 --again", "^o accept outdated results")
        await desk.press("ctrl+o", "enter")
        await desk.sees("updated `scan`")

    dashboard(script, start="scan/1")

    assert [site.phase(f"scan/1/{line}/1") for line in (1, 2)] == ["done", "done"]


def test_marked_lines_of_a_job_are_updated_together(dashboard: Open) -> None:
    async def script(desk: Desk) -> None:
        await desk.press("space", "space", "W")
        await desk.sees("$ d0ctl update scan/1/1-2 --again", "2 packages to run again")

    dashboard(script, start="scan/1/1")


def test_a_whole_job_is_still_updated_by_its_job_file_first(dashboard: Open) -> None:
    async def script(desk: Desk) -> None:
        await desk.press("W")
        await desk.sees("$ d0ctl update scan ", "^o run outdated packages again")

    dashboard(script, start="scan")


def test_the_key_of_clone_makes_a_job_of_a_stage(site: Site, dashboard: Open) -> None:
    async def script(desk: Desk) -> None:
        await desk.press("A")
        await desk.sees("$ d0ctl clone scan/2 ", "would submit `scan-001`")
        await desk.press("enter")
        await desk.sees("submitted `scan-001`: 1 package")

    dashboard(script, start="scan/2")

    assert sorted(names.jobs(site.store)) == ["scan", "scan-001"]


@pytest.mark.parametrize("start", ["scan/1", "scan/1/1", "scan/1/1/1"])
def test_both_are_offered_on_parts(dashboard: Open, start: str) -> None:
    async def script(desk: Desk) -> None:
        await desk.press("a")
        await desk.sees(f"act on {start}", "d0ctl update", "d0ctl clone",
                        "not possible here now: ")  # fmt: skip

    dashboard(script, start=start)
