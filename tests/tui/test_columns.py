"""How the columns of the tree share its width."""

from typing import Any

import pytest
from msgspec.structs import fields

from d0ctl.policy.remarks import TriedAgain, noted
from d0ctl.show.drawing.signs import UNICODE
from d0ctl.show.drawing.spans import text
from d0ctl.store.views.shapes import LineSummary, PackageRow
from d0ctl_tui.draw import tree_rows
from d0ctl_tui.draw.columns import Columns, Need, heading
from d0ctl_tui.draw.package_rows import draw, need
from d0ctl_tui.draw.row_cells import RowContext
from tests.support.building import job, line, package, production
from tests.support.rows import insert
from tests.support.site import Site
from tests.tui.conftest import Desk, Open


def wanted(**more: int) -> Need:
    """What a production with failures wants of the columns."""
    values = {"name": 24, "title": 60, "state": 12, "count": 9, "tally": 20, "about": 80,
              "remark": 60, "time": 8, "brief": 5}  # fmt: skip
    return Need(**(values | more))


@pytest.mark.parametrize("columns", [30, 46, 70, 80, 110, 160])
def test_the_columns_of_the_tree_fill_the_width_and_no_more(columns: int) -> None:
    of = Columns.of(columns, wanted())
    parts = [of.name, of.state, of.bar, of.count, of.tally, of.time, *dict(of.extras).values()]

    assert sum(part + 2 for part in parts if part) - 2 < max(columns, 46)
    assert of.name >= 12


def test_a_name_and_the_reason_of_a_failure_have_room_at_120_columns() -> None:
    of = Columns.of(71, wanted(tally=0))

    assert of.name == 24
    assert of.about >= len("exit-code  localhost")
    assert Columns.of(71, wanted(name=12, title=40)).name >= 20


def test_a_column_without_anything_in_it_is_left_out() -> None:
    of = Columns.of(160, wanted(tally=0, time=0))

    assert (of.tally, of.time) == (0, 0)
    assert "end" not in text(heading(of))


def test_a_wide_tree_has_more_columns_of_what_is_there_and_times_with_seconds() -> None:
    of = Columns.of(120, wanted(node=9, ran=6, cpu=4, researcher=8))
    narrow = Columns.of(70, wanted(node=9, ran=6, cpu=4, researcher=8))

    assert of.extras[0] == ("node", 9)
    assert "memory" not in dict(of.extras)
    assert (of.time, narrow.time, narrow.extras) == (8, 5, ())
    assert dict(Columns.of(200, wanted(node=9, ran=6, cpu=4, researcher=8)).extras) == {
        "node": 9, "ran": 6, "cpu": 4, "researcher": 10}  # fmt: skip


def test_the_number_of_a_try_is_in_the_row_of_a_package_once() -> None:
    values: dict[str, Any] = dict.fromkeys(field.name for field in fields(PackageRow))
    note = noted(TriedAgain("lost", 2, 10, None))
    row = PackageRow(**values | {
        "path": "j/1/1/1", "name": "1", "phase": "ready",
        "attempts": 2, "note": note, "changed": 0.0,
    })  # fmt: skip
    context = RowContext(1, UNICODE, now=60.0)

    drawn = text(draw(row, Columns.of(160, need(row, context)), context))

    assert "try 2 of 10, after lost" in drawn
    assert drawn.count("try 2") == 1


@pytest.mark.parametrize("columns", [60, 74, 100, 120])
@pytest.mark.parametrize(("order", "column"), [("duration", "ran"), ("CPU", "cpu"),
                                               ("memory", "memory"), ("node", "node")])  # fmt: skip
def test_the_column_that_packages_are_sorted_by_is_the_last_to_be_dropped(
    columns: int, order: str, column: str
) -> None:
    need = wanted(count=0, tally=0, node=9, ran=6, memory=6, cpu=4)

    of = Columns.of(columns, need, order=order)

    assert of.has(column)
    names = text(heading(of, order, "↓"))
    assert f"{column} ↓" in names or f"↓{column}" in names
    assert Columns.of(columns, wanted(ran=0), order=order).extras == ()


def test_a_short_description_comes_before_more_details() -> None:
    wide = Columns.of(118, wanted(name=13, title=17, tally=0, node=9, ran=6, memory=6))

    assert wide.name >= 17


def test_a_list_of_packages_alone_has_no_column_of_numbers() -> None:
    of = Columns.of(70, wanted(count=0, tally=0))

    assert of.count == 0
    assert "done" not in text(heading(of))


@pytest.mark.parametrize("columns", [20, 30, 44])
def test_the_end_of_a_long_name_of_a_line_stays(columns: int) -> None:
    counts = {"ready": 2}
    row = LineSummary(id=1, seq=7, name="period-2026A-long-run-007", early_start=0, dropped=None,
                      named=1, counts=counts, blocked=False)  # fmt: skip
    context = RowContext(2, UNICODE, 0.0)
    of = Columns(columns, 12, 0, 4, 0, 0)

    drawn = text(tree_rows.draw(row, of, context))[:columns]

    assert "7 p" in drawn and drawn.rstrip().endswith("7")


def test_titles_are_complete_on_a_wide_screen() -> None:
    assert Columns.of(160, wanted(about=0)).name == 60


def test_a_failed_job_shows_how_many_of_its_packages_failed(site: Site, dashboard: Open) -> None:
    site.submit(job(("a", [line(package(f"x{n}")) for n in (1, 2, 3)]), name="bad"))
    site.finish("bad/1/1/1")
    for path in ("bad/1/2/1", "bad/1/3/1"):
        site.fail(path)

    async def script(desk: Desk) -> None:
        await desk.sees("✘ failed ✘2")

    dashboard(script, size=(80, 24))


def test_columns_that_are_empty_once_all_is_folded_are_left_out(
    site: Site, dashboard: Open
) -> None:
    site.submit(production())
    site.launch("prod/1/1/1")

    async def script(desk: Desk) -> None:
        await desk.until(lambda: " node " in desk.lines("columns")[0], "columns of packages")
        await desk.press("minus")
        await desk.until(lambda: " node " not in desk.lines("columns")[0], "columns of jobs only")
        assert "others" in desk.lines("columns")[0]

    dashboard(script, start="prod/1/1/1", size=(240, 40))


def test_the_row_of_a_job_says_that_packages_are_out_of_date(site: Site, dashboard: Open) -> None:
    site.submit(production())
    site.finish("prod/1/1/1")
    insert(site.store, "outdated_package", package_id=site.id_of("prod/1/1/1"), job_id=1,
           by_recipe=1)  # fmt: skip

    async def script(desk: Desk) -> None:
        await desk.sees("prod  some out of date")

    dashboard(script, size=(140, 40))
