"""Packages that run much longer than expected are shown as trouble: tree, wall, first line, `n`."""

import re
import time

import pytest
from msgspec.structs import replace

from d0ctl.jobfile.spec import PackageSpec
from d0ctl.show.drawing.signs import UNICODE
from d0ctl.show.drawing.spans import text
from d0ctl.store.views import browse
from d0ctl.units import moment
from d0ctl_tui.draw import tree_rows
from d0ctl_tui.draw.columns import Columns
from d0ctl_tui.draw.row_cells import RowContext, clock
from d0ctl_tui.terminal import Terminal
from tests.cli.test_check import drive
from tests.support.jobs import binary, job, package
from tests.support.rows import change
from tests.support.site import Site
from tests.tui.conftest import Desk, Open


def minute() -> PackageSpec:
    """A package of a minute."""
    return package(binary(runtime=60.0))


@pytest.fixture
def late(site: Site) -> Site:
    """Of four running packages of a minute, those of two stages began an hour ago."""
    site.up(cpus=8)
    site.submit(job("prod", *[[minute() for _ in range(3)] for _ in range(2)]))
    began = {"prod/1/1/1": 0, "prod/1/2/1": 3600, "prod/1/3/1": 7200, "prod/2/2/1": 3600}
    for path, seconds in began.items():
        attempt = site.launch(path)
        with site.store.writing():
            change(site.store, "attempt", {"id": attempt}, started=time.time() - seconds)
    return site


def test_stragglers_are_in_their_rows_and_counted_above(late: Site, dashboard: Open) -> None:
    async def script(desk: Desk) -> None:
        await desk.sees("◷ 3 stragglers", "▶ running ◷3")
        await desk.press("j", "l")
        await desk.sees("▶ running ◷2", "▶ running ◷1", "▶ running   ", "◷ straggler")
        late.end("prod/1/2/1")
        await desk.sees("◷ 2 stragglers", "▶ running ◷2", "✔ ")

    dashboard(script)


def test_without_unicode_they_have_another_sign(late: Site, dashboard: Open) -> None:
    async def script(desk: Desk) -> None:
        await desk.sees("% 3 stragglers", "> running %3")

    dashboard(script, terminal=Terminal(ascii=True))


def test_the_walk_goes_to_the_first_of_each_stage_and_to_each(late: Site, dashboard: Open) -> None:
    async def script(desk: Desk) -> None:
        async def goes(key: str, *places: str) -> None:
            for place in places:
                await desk.press(key)
                await desk.until(lambda place=place: desk.main.tree_view.selector == place, place)  # type: ignore[misc]

        await goes("n", "prod/1/2/1", "prod/2/2/1", "prod/1/2/1")
        await goes("right_square_bracket", "prod/1/3/1", "prod/2/2/1", "prod/1/2/1")
        await goes("left_square_bracket", "prod/2/2/1", "prod/1/3/1", "prod/1/2/1")
        await desk.press("k")  # a package of the same stage that is not late
        await goes("n", "prod/1/2/1")

    dashboard(script, size=(120, 40))


def test_a_list_of_packages_marks_them(late: Site, dashboard: Open) -> None:
    async def script(desk: Desk) -> None:
        await desk.press("f")
        await desk.type("running")
        await desk.press("enter")
        await desk.sees("running: 4", "prod/1/2/1", "◷ straggler", "▶ running")

    dashboard(script)


def test_a_job_with_stragglers_is_first_on_the_wall_which_names_the_oldest(
    late: Site, dashboard: Open
) -> None:
    late.submit(job("fine", [minute()]))
    late.launch("fine/1/1/1")

    async def script(desk: Desk) -> None:
        await desk.press("Z")
        await desk.sees("prod ▶ running", "◷3", "prod/1/3/1 straggler localhost")
        await desk.until(lambda: desk.screen.index("prod ▶") < desk.screen.index("fine ▶"))

    dashboard(script)


def test_a_straggler_and_what_waits_for_it_are_late(late: Site, dashboard: Open) -> None:
    async def script(desk: Desk) -> None:
        await desk.press("j", "l")
        await desk.sees("◷ straggler")
        ends = [line.split()[-1] for line in desk.lines("tree")[:5]]
        assert [ends[row] for row in (0, 1, 3, 4)] == ["late"] * 4
        assert ends[2] != "late"  # it began a moment ago

    dashboard(script, size=(80, 24))


def test_details_and_wall_are_late_as_the_tree_is(late: Site, dashboard: Open) -> None:
    drive(late)
    late.finish("prod/2/1/1")
    late.finish("prod/2/3/1")
    late.end("prod/1/1/1")

    async def script(desk: Desk) -> None:
        await desk.press("v")
        await desk.sees(" so far · late", "straggler: `prod/1/3/1` has been running")
        await desk.misses("ends about", "ends in")
        await desk.press("escape", "Z")
        await desk.sees("prod ▶ running", "/6  late", "◷3")
        await desk.misses("ends ")

    dashboard(script, start="prod", size=(140, 40))


def test_the_filter_of_what_needs_a_person_has_stragglers(late: Site, dashboard: Open) -> None:
    late.fail("prod/2/1/1")

    async def script(desk: Desk) -> None:
        await desk.press("f")
        await desk.sees("unacknowledged failures, held, unreachable, stuck, stragglers")
        await desk.press("enter")
        await desk.sees("needs a person: 4", "prod/1/2/1", "prod/2/1/1", "◷ straggler")

    dashboard(script, size=(140, 40))


def test_the_end_of_a_row_in_which_only_stragglers_are_left_does_not_move(late: Site) -> None:
    row = browse.job(late.store, "prod")
    now = time.time()
    soon, later = (replace(RowContext(0, UNICODE, now, late=2), estimate=now + seconds)
                   for seconds in (1.0, 7200.0))  # fmt: skip
    columns = Columns.of(100, tree_rows.need(row, later))

    assert text(tree_rows.draw(row, columns, soon)).endswith(" late")
    assert text(tree_rows.draw(row, columns, later)).endswith(clock(now + 7200, now, short=True))


def test_a_filter_shows_only_stragglers_and_marks_of_them_are_acted_on(
    late: Site, dashboard: Open
) -> None:
    async def script(desk: Desk) -> None:
        await desk.press("f")
        await desk.type("stragg")
        await desk.sees("run much longer than expected")
        await desk.press("enter")
        await desk.sees("stragglers: 3", "prod/1/2/1", "prod/1/3/1", "prod/2/2/1")
        await desk.press("asterisk", "D")
        await desk.sees("would drop 3 packages: 3 running")

    dashboard(script, start="prod")


def test_without_a_daemon_nothing_is_late_that_was_not_when_nodes_were_last_heard(
    site: Site, dashboard: Open
) -> None:
    site.up(cpus=8)
    site.submit(job("prod", [minute()], [minute()]))
    attempt, heard = site.launch("prod/1/1/1"), time.time() - 3600
    site.tell({"attempt": attempt, "kind": "progress", "seq": 2, "time": heard, "binary": 1,
               "done": 2.0, "total": 3.0, "percent": 66.0, "line": "event 2", "eta": heard + 7200,
               "cpu": 1.0, "rss": 1000})  # fmt: skip
    with site.store.writing():
        change(site.store, "attempt", {"id": attempt}, launched=heard - 10, started=heard - 10)
        change(site.store, "node", {"name": "localhost"}, contact=heard)
        change(site.store, "progress", at=heard)

    async def script(desk: Desk) -> None:
        await desk.sees(
            "▶ running", "66 %", "event 2", "localhost  " + moment(heard - 10, time.time())
        )
        assert not re.search(r"straggler|late|~\d|\bleft\b|1 h 00", desk.screen), desk.screen

    dashboard(script, start="prod/1/1/1", size=(160, 50))
