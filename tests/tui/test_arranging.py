"""Orders and filters of jobs and packages, and the views that are saved of them."""

import time
from pathlib import Path

import pytest

from d0ctl.model import Address
from d0ctl.store.nodes import registry
from d0ctl.store.views.finding import package_order
from tests.cli.test_check import drive
from tests.support.building import production
from tests.support.rows import change
from tests.support.site import Site
from tests.tui.conftest import Desk, Open
from tests.tui.test_ancestors import progress


def jobs_of(desk: Desk) -> list[str | None]:
    """Return the names of the listed jobs in their order."""
    source = desk.main.tree_view.source
    return [source.selector((number,)) for number in range(len(source.jobs))]


async def choose(desk: Desk, key: str, words: str) -> None:
    """Take the first choice for some words."""
    await desk.press(key)
    await desk.type(words)
    await desk.press("enter")
    await desk.until(lambda: desk.app.screen is desk.main, "the box is closed")


def test_jobs_are_sorted_by_a_column_and_the_same_again_reverses_it(
    site: Site, dashboard: Open
) -> None:
    for name, priority in (("beta", 20), ("alpha", 90), ("gamma", 50)):
        site.submit(production(name, priority=priority))
    site.fail("beta/1/1/1")
    site.fail("beta/1/2/1")
    site.fail("gamma/1/1/1")

    async def script(desk: Desk) -> None:
        await desk.until(lambda: jobs_of(desk) == ["gamma", "alpha", "beta"], "by age")
        await choose(desk, "s", "jobs name")
        await desk.until(lambda: jobs_of(desk) == ["alpha", "beta", "gamma"], "by name")
        await desk.sees("name ↑")
        assert desk.main.tree_view.selector == "gamma"
        await choose(desk, "s", "")
        await desk.until(lambda: jobs_of(desk) == ["gamma", "beta", "alpha"], "reversed")
        await desk.sees("name ↓")
        await choose(desk, "s", "jobs failed")
        await desk.until(lambda: jobs_of(desk) == ["beta", "gamma", "alpha"], "by failed")
        await desk.sees("failed ↓")
        site.fail("alpha/1/1/1")
        site.fail("alpha/1/2/1")
        site.fail("alpha/1/3/1")
        await desk.until(lambda: jobs_of(desk) == ["alpha", "beta", "gamma"], "it follows")
        await choose(desk, "s", "jobs priority")
        await desk.until(lambda: jobs_of(desk) == ["alpha", "gamma", "beta"], "by priority")

    dashboard(script)


def test_jobs_are_sorted_by_their_estimated_end_as_the_tree_shows_it(
    site: Site, dashboard: Open
) -> None:
    drive(site)
    for name, work in (("quick", 600.0), ("slow", 7200.0), ("over", 60.0), ("waits", None)):
        site.submit(production(name))
        job = site.ask("select id from job where name = ?", name)[0][0]
        if work is not None:
            change(site.store, "stage", {"job_id": job}, work=work, is_timed=1)
    change(site.store, "job", {"name": "over"}, ended=time.time() - 60)
    change(site.store, "node", state="up")

    async def script(desk: Desk) -> None:
        await choose(desk, "s", "jobs end")
        expected = ["waits", "slow", "quick", "over"]
        await desk.until(lambda: jobs_of(desk) == expected, "what ends last is first")
        rows = await desk.settled("tree")
        assert ["~" in row for row in rows[:4]] == [False, True, True, False]
        progress(site, "quick/1/1/1", 10.0, 3 * 86_400.0)
        expected = ["waits", "quick", "slow", "over"]
        await desk.until(lambda: jobs_of(desk) == expected, "a package reports a later end")
        await choose(desk, "s", "")
        await desk.until(lambda: jobs_of(desk) == expected[::-1], "reversed")

    dashboard(script, size=(170, 30))


def test_running_packages_are_sorted_by_the_end_that_they_report(
    site: Site, dashboard: Open
) -> None:
    site.submit(production())
    site.finish("prod/1/1/1")
    progress(site, "prod/1/2/1", 10.0, 7200.0)
    progress(site, "prod/1/3/1", 10.0, 600.0)

    async def script(desk: Desk) -> None:
        await choose(desk, "s", "packages end")
        await desk.sees("end ↓", "prod/1: 6")
        rows = await desk.settled("tree")
        assert [row.split()[1] for row in rows[:3]] == ["prod/1/2/1", "prod/1/3/1", "prod/1/1/1"]

    dashboard(script, start="prod/1", size=(120, 30))


def test_the_packages_of_a_stage_are_sorted_as_a_list(site: Site, dashboard: Open) -> None:
    site.submit(production())
    site.fail("prod/1/2/1")

    async def script(desk: Desk) -> None:
        tree = desk.main.tree_view
        await desk.press("s")
        await desk.sees("package tries  largest first")
        await desk.press("escape")
        await choose(desk, "s", "packages tries")
        await desk.until(lambda: tree.selector == "prod/1/2/1", "the failed one is the first")
        await desk.sees("by tries ↓", "prod/1: 6")
        await choose(desk, "s", "path")
        await desk.until(lambda: tree.selector == "prod/1/1/1", "by path")
        await desk.misses("by tries")
        await desk.press("escape")
        await desk.sees("▾ prod")

    dashboard(script, start="prod/1")


def test_too_many_packages_are_not_sorted_and_that_is_said(
    site: Site, dashboard: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.submit(production())
    monkeypatch.setattr(package_order, "MOST_SORTED", 5)

    async def script(desk: Desk) -> None:
        await choose(desk, "s", "packages duration")
        await desk.sees("more than 5 packages are listed by path only: choose a stage or a line")
        assert desk.main.tree_view.filtered is None

    dashboard(script, start="prod/1")


def test_hidden_jobs_are_counted_in_the_first_line_and_nothing_acts_on_them(
    site: Site, dashboard: Open
) -> None:
    site.submit(production("mine", originator="emmy@here"))
    site.submit(production("other", originator="niels@here"))
    site.fail("other/1/1/1")

    async def script(desk: Desk) -> None:
        await choose(desk, "f", "my jobs")
        await desk.until(lambda: jobs_of(desk) == ["mine"], "one is hidden")
        await desk.sees("1 of 2 jobs: of emmy")
        await desk.press("n")
        await desk.sees("nothing needs a person in the jobs that are listed")
        await desk.press("asterisk", "H")
        await desk.sees("$ d0ctl hold mine ")
        await desk.press("escape", "asterisk")
        await choose(desk, "f", "ready")
        await desk.sees("ready: 3", "mine/1/3/1")
        await desk.press("asterisk", "H")
        await desk.sees("$ d0ctl hold mine:ready ")
        await desk.press("escape", "escape", "escape")
        desk.app.go_to("other/1/1/1")
        await desk.sees("all jobs are listed: `other/1/1/1` was hidden")
        await desk.until(lambda: jobs_of(desk) == ["other", "mine"], "all")

    dashboard(script)


def test_jobs_that_ended_are_hidden_at_once_or_after_days(site: Site, dashboard: Open) -> None:
    now = time.time()
    for name, days in (("live", None), ("fresh", 2), ("old", 40)):
        site.submit(production(name))
        change(site.store, "job", {"name": name}, ended=days and now - days * 86_400)

    async def script(desk: Desk) -> None:
        await choose(desk, "f", "hide jobs")
        await desk.until(lambda: jobs_of(desk) == ["fresh", "live"], "not the old one")
        await desk.sees("2 of 3 jobs: not ended 7 days ago")
        await choose(desk, "f", "1")
        await desk.until(lambda: jobs_of(desk) == ["live"], "another number")
        await choose(desk, "f", "all jobs")
        await choose(desk, "f", "active jobs")
        await desk.sees("1 of 3 jobs: active")
        change(site.store, "job", ended=now)
        await desk.sees("no job active")
        await desk.misses("no jobs")

    dashboard(script)


def test_a_view_is_saved_shown_again_at_the_start_and_deleted(
    site: Site, dashboard: Open, tmp_path: Path
) -> None:
    site.submit(production("mine", originator="emmy"))
    site.submit(production("other"))
    site.fail("mine/1/2/1")

    async def save(desk: Desk) -> None:
        await choose(desk, "f", "my jobs")
        await choose(desk, "f", "failed")
        await choose(desk, "w", "start")
        await desk.sees("saved as `start`: `w` shows it again")

    dashboard(save)

    async def show(desk: Desk) -> None:
        await desk.sees("1 of 2 jobs: of emmy", "failed: 1", "mine/1/2/1")
        await desk.press("escape")
        await choose(desk, "f", "all jobs")
        await choose(desk, "colon", "view start")
        await desk.sees("1 of 2 jobs: of emmy", "failed: 1")
        await desk.press("w")
        await desk.sees("show    start  jobs of emmy, failed")
        assert "delete  start" not in desk.screen
        await desk.type("start")
        await desk.sees("jobs of emmy, failed, in place of the old one")
        assert "delete  start" not in desk.screen
        await desk.press(*["backspace"] * 5)
        await desk.type("delete st")
        await desk.sees("delete  start", "save    delete st")
        await desk.press("enter")
        await desk.sees("deleted `start`")

    dashboard(show)

    assert (tmp_path / "config/d0ctl/views.json").read_text() == "{}\n"

    async def without(desk: Desk) -> None:
        await desk.sees("▸ other", "▸ mine")

    dashboard(without)


def test_views_that_can_not_be_read_are_reported_and_kept(
    site: Site, dashboard: Open, tmp_path: Path
) -> None:
    site.submit(production())
    path = tmp_path / "config/d0ctl/views.json"
    path.parent.mkdir(parents=True)
    path.write_text('{"one": 3}')

    async def script(desk: Desk) -> None:
        await desk.sees("views.json: the saved views can't be read")
        await choose(desk, "w", "")
        assert path.read_text() == '{"one": 3}'

    dashboard(script, size=(200, 36))


def test_nodes_and_groups_of_failures_are_sorted_and_stay_so(site: Site, dashboard: Open) -> None:
    site.submit(production())
    site.fail("prod/1/1/1")
    with site.store.writing():
        registry.add(site.store, Address("zeta", "ssh", "nobody@127.0.0.1:1"), cpus=8)

    async def script(desk: Desk) -> None:
        await desk.press("o")
        await desk.until(lambda: "zeta" in desk.lines("nodelist")[0], "it is not up")
        await desk.press("s")
        await desk.type("slots")
        await desk.press("enter")
        await desk.sees("by slots in use ↓")
        await desk.until(lambda: "localhost" in desk.lines("nodelist")[0], "it is used more")
        await desk.press("escape", "o")
        await desk.sees("by slots in use ↓")
        await desk.press("escape", "F", "s")
        await desk.type("last")
        await desk.press("enter")
        await desk.sees("sorted by last ↓", "exit-code")

    dashboard(script)


def test_a_list_without_rows_says_so(site: Site, dashboard: Open) -> None:
    site.submit(production())

    async def script(desk: Desk) -> None:
        await desk.press("F")
        await desk.sees("no package of these jobs is failed now")
        await desk.press("escape", "i")
        await desk.sees("nothing ran in this time")
        await desk.press("escape", "apostrophe")
        await desk.sees("nothing yet")
        await desk.press("escape")
        await choose(desk, "f", "cooloff")
        await desk.sees("no package: cooloff")

    dashboard(script)
