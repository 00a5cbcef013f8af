"""The wall: a tile for each job, as large as the screen allows."""

import time

import pytest
from msgspec.structs import replace

from d0ctl.actions import apply, request
from d0ctl.schedule.estimates import Range
from d0ctl.select import parse
from d0ctl.show.drawing.signs import ASCII, UNICODE
from d0ctl.show.drawing.spans import text, width
from d0ctl.store.nodes import contact, registry
from d0ctl.store.views import browse
from d0ctl.store.views.activity import StageRate
from d0ctl_tui.watch import wall_tiles
from d0ctl_tui.watch.wall_tiles import WallJob
from tests.support import rows
from tests.support.building import job as build_job
from tests.support.building import line, package, production
from tests.support.site import Site
from tests.tui.at_work import drive, lacks_files
from tests.tui.conftest import Desk, Open


@pytest.mark.parametrize("jobs", [1, 3, 7, 30])
@pytest.mark.parametrize("size", [(80, 20), (120, 36), (200, 56), (300, 96)])
def test_tiles_fill_the_width_and_fit_as_long_as_they_can(jobs: int, size: tuple[int, int]) -> None:
    columns, high = size

    found = wall_tiles.grid(jobs, columns, high)

    down = -(-jobs // found.across)
    used = found.width * found.across + wall_tiles.GAP * (found.across - 1)
    assert columns - found.across < used <= columns
    assert found.width >= wall_tiles.LEAST_WIDTH
    assert down * (found.height + 1) - 1 <= high or found.height == wall_tiles.LEAST_HEIGHT


@pytest.fixture
def job(site: Site) -> WallJob:
    """A job with a failure, some ends, and an estimate."""
    site.submit(production())
    site.finish("prod/1/1/1")
    site.fail("prod/1/2/1")
    row = browse.job(site.store, "prod")
    (failure,) = browse.failures(site.store, row.id, 1)
    now = time.time()
    end = Range(now + 7000, now + 7200, now + 7400)
    return WallJob(row, "running", rate=StageRate(5, 1, 120.0), end=end, trouble=failure)


@pytest.mark.parametrize(("columns", "height"), [(38, 6), (80, 8), (80, 12), (148, 12)])
@pytest.mark.parametrize("glyphs", [UNICODE, ASCII], ids=["unicode", "ascii"])
def test_a_tile_has_all_facts_in_any_size(
    job: WallJob, columns: int, height: int, glyphs: object
) -> None:
    alphabet = UNICODE if glyphs is UNICODE else ASCII
    lines = wall_tiles.tile(job, columns, height, time.time(), alphabet)
    shown = "\n".join(map(text, lines))

    assert len(lines) == height
    assert max(width(line) for line in lines) <= columns
    for word in ("prod", "running", "12%", "1/8", "ends ", "2.5 a minute", "prod/1/2/1"):
        assert word in shown
    assert ("█▀" in shown) == (alphabet is UNICODE and height >= wall_tiles.BIG_HEIGHT)


@pytest.mark.parametrize("height", [6, 8, 12])
def test_a_tile_of_a_held_job_says_who_holds_it_and_why(
    site: Site, job: WallJob, height: int
) -> None:
    apply(site.store, request("hold", parse("prod")), actor="emmy", note="disks", now=time.time())
    held = replace(job, job=browse.job(site.store, "prod"), status="held")

    shown = "\n".join(map(text, wall_tiles.tile(held, 60, height, time.time(), UNICODE)))

    assert "held by emmy since " in shown and ": disks" in shown and "prod/1/2/1" in shown


@pytest.mark.parametrize("height", [6, 8, 12])
def test_a_tile_has_one_number_of_failed_packages(job: WallJob, height: int) -> None:
    counts = {**job.job.counts, "failed": 17}
    job = replace(job, job=replace(job.job, counts=counts, acknowledged=12))

    shown = "\n".join(map(text, wall_tiles.tile(job, 80, height, time.time(), UNICODE)))

    if height < wall_tiles.BIG_HEIGHT:
        assert "✘5 " in shown and "17 failed" not in shown
    else:
        assert "17 failed, 12 acknowledged" in shown and "✘5" not in shown


def test_a_tile_names_the_node_that_a_job_waits_for(job: WallJob) -> None:
    waiting = replace(job, end=None, nodes_down=["far"])

    shown = "\n".join(map(text, wall_tiles.tile(waiting, 120, 12, time.time(), UNICODE)))

    assert "some of its packages or inputs are on `far`, which is down" in shown
    assert "ends " not in shown


@pytest.mark.parametrize("jobs", [1, 2, 5])
def test_nothing_is_cut_at_the_right_edge(job: WallJob, jobs: int) -> None:
    plain = replace(job, trouble=None)

    shown = [text(line) for line in wall_tiles.lines([plain] * jobs, 120, 40, 0.0, UNICODE)]

    assert not any("…" in one for one in shown)
    assert max(map(len, shown)) in range(118, 121)


def test_a_tile_shows_its_bell(job: WallJob) -> None:
    (head, *_) = wall_tiles.tile(replace(job, is_followed=True), 60, 6, time.time(), UNICODE)

    assert text(head).startswith("prod ♪ ▶ running ─")


@pytest.mark.parametrize("size", [(80, 24), (200, 60)])
def test_the_wall_shows_all_jobs_and_follows_changes(
    site: Site, dashboard: Open, size: tuple[int, int]
) -> None:
    site.submit(production())
    site.submit(production("other"))
    site.fail("prod/1/2/1")

    async def script(desk: Desk) -> None:
        await desk.sees("prod  A production")
        await desk.press("Z")
        await desk.sees("wall  2 active jobs", "other ", "0/8", "prod/1/2/1 exit-code")
        wall = desk.screen.splitlines()[2:-1]
        assert all(row[:1] in ("", " ") and len(row) < size[0] for row in wall)
        site.finish("other/1/1/1")
        await desk.sees("1/8")
        rows.change(site.store, "job", {"name": "other"}, ended=time.time())
        await desk.sees("wall  1 active job", "ended ")
        await desk.press("escape")
        await desk.sees("prod  A production")

    dashboard(script, size=size)


@pytest.mark.parametrize("size", [(40, 20), (80, 24), (200, 60)])
def test_the_wall_names_the_nodes_that_are_down(
    site: Site, dashboard: Open, size: tuple[int, int]
) -> None:
    site.submit(production())
    site.up()

    async def script(desk: Desk) -> None:
        await desk.press("Z")
        await desk.sees("wall  1 active job")
        assert "down" not in desk.screen
        with site.store.writing():
            node = registry.named(site.store, "localhost").id
            contact.down(site.store, node, "no route", now=time.time())
        await desk.sees("1 active job  ✘ 1 node down:")
        if size[0] >= 80:
            await desk.sees("1 node down: localhost (no route)")
        assert all(len(row) <= size[0] for row in desk.screen.splitlines())

    dashboard(script, size=size)


def test_jobs_that_need_a_person_are_first_on_the_wall(site: Site, dashboard: Open) -> None:
    for name in ("broken", "fine", "seen"):
        site.submit(production(name))
    site.fail("broken/1/1/1")

    async def script(desk: Desk) -> None:
        await desk.press("Z")
        await desk.sees("wall  3 active jobs", "broken/1/1/1")
        shown = "".join(desk.lines("wall"))
        assert shown.index("broken") < shown.index("seen") < shown.index("fine")

    dashboard(script, size=(120, 36))


def test_a_job_that_no_node_can_take_is_first_on_the_wall_with_the_reason(
    site: Site, dashboard: Open
) -> None:
    drive(site)
    site.submit(build_job(("a", [line(package("big", cpus=64))]), name="wide"))
    site.submit(production("fine"))

    async def script(desk: Desk) -> None:
        await desk.press("Z")
        await desk.sees("wall  2 active jobs", "✘ no node can take 1 package: `localhost`: ")
        shown = "".join(desk.lines("wall"))
        assert shown.index("wide ✘ stands still") < shown.index("fine")
        assert "ends " not in shown.partition("fine")[0]

    dashboard(script, size=(120, 36))


def test_a_job_that_waits_for_another_try_is_first_on_the_wall_with_the_time(
    site: Site, dashboard: Open
) -> None:
    drive(site)
    site.submit(build_job(("a", [line(package("x"))]), name="late"))
    site.submit(production("fine"))
    site.fail("late/1/1/1", reason="stage-in", detail="no such file: raw.dat")

    async def script(desk: Desk) -> None:
        await desk.press("Z")
        await desk.sees("wall  2 active jobs", "✘ nothing moves until ", "next try of `late/1/1/1`")
        shown = "".join(desk.lines("wall"))
        assert shown.index("late ✘ stands still") < shown.index("fine")

    dashboard(script, size=(160, 36))


def test_a_job_that_ended_with_failures_is_on_the_wall_until_they_are_acknowledged(
    site: Site, dashboard: Open
) -> None:
    for name in ("broken", *"abcd"):
        site.submit(production(name))
    site.fail("broken/1/1/1")
    site.fail("broken/1/2/1")
    rows.change(site.store, "job", {"name": "broken"}, ended=time.time())

    def acknowledge(path: str) -> None:
        wanted = request("acknowledge", parse(path))
        apply(site.store, wanted, actor="you", note="", now=time.time())

    async def script(desk: Desk) -> None:
        await desk.press("Z")
        await desk.sees("wall  4 active jobs", "broken/1/2/1")
        assert desk.lines("wall")[0].startswith("broken")
        acknowledge("broken/1/2/1")
        await desk.sees("2 failed, 1 acknowledged", "broken/1/1/1")
        acknowledge("broken/1/1/1")
        await desk.misses("broken")

    dashboard(script, size=(120, 36))


def test_a_job_that_lacks_files_of_other_jobs_has_a_tile_that_says_so(
    site: Site, dashboard: Open
) -> None:
    for name in "abcd":
        site.submit(build_job(("s", [line(package(f"x-{name}"))]), name=name))
    lacks_files(site)

    async def script(desk: Desk) -> None:
        await desk.sees("⊗ 1 blocked")
        await desk.press("Z")
        await desk.sees("wall  4 active jobs", "lost ⊗ blocked", "✘ it lacks files of other jobs")
        assert desk.lines("wall")[0].startswith("lost")

    dashboard(script, size=(120, 36))


def test_the_rate_of_less_than_a_minute_is_not_shown(job: WallJob) -> None:
    early = replace(job, rate=StageRate(11, 0, 2.4))

    shown = "\n".join(map(text, wall_tiles.tile(early, 60, 6, time.time(), UNICODE)))

    assert "✘1" in shown
    assert "a minute" not in shown


def test_without_jobs_the_wall_says_so(site: Site, dashboard: Open) -> None:
    async def script(desk: Desk) -> None:
        await desk.press("Z")
        await desk.sees("no jobs")

    dashboard(script)


def test_the_keys_of_the_wall_are_in_its_help_and_last_line(site: Site, dashboard: Open) -> None:
    site.submit(production())
    site.fail("prod/1/2/1")

    async def script(desk: Desk) -> None:
        await desk.press("Z")
        await desk.sees("prod", "n next problem  F failures  o nodes  esc back")
        await desk.press("question_mark")
        await desk.sees("next problem: other stage", "failures in groups", "the nodes and their")
        await desk.press("escape", "F")
        await desk.sees("exit-code")
        await desk.press("escape", "o")
        await desk.sees("localhost  this machine")
        await desk.press("escape", "n")
        await desk.until(lambda: desk.main.tree_view.selector == "prod/1/2/1", "the failure")
        await desk.until(lambda: desk.app.screen is desk.main, "the wall is gone")

    dashboard(script, size=(120, 40))
