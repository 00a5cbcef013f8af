"""Attempts over time: slots of nodes, lines of a job, what is at the cursor, and stragglers."""

import re
import time

import pytest

from d0ctl.cli.terminal.output import sheet
from d0ctl.show.drawing.signs import ASCII, UNICODE
from d0ctl.show.drawing.spans import text
from d0ctl.show.history import timeline_page
from d0ctl.show.history.time_rows import (
    LABEL,
    PERIODS,
    Period,
    at_column,
    axis,
    draw,
    lines,
    look_of_state,
    marked,
    period_for,
    slots,
    stragglers,
    summary,
)
from d0ctl.store.history import attempt_spans
from d0ctl.store.history.attempt_spans import AttemptSpan
from d0ctl_tui.screens.history.timeline_screen import TimelineScreen
from tests.cli.test_check import drive
from tests.store.test_past import FIRST, as_of, spread_out
from tests.support.building import production
from tests.support.site import Site
from tests.tui.conftest import Desk, Open


def span(
    path: str, begin: float, end: float | None, outcome: str = "successful", node: str = "n1"
) -> AttemptSpan:
    """An attempt that started a second after its launch."""
    stage, line = path.split("/")[1:3]
    return AttemptSpan(path, int(stage), int(line), node, begin, begin + 1, end,
                       outcome if end is not None else None, None)  # fmt: skip


TEN = Period(0.0, 10.0, 10)


def test_attempts_at_the_same_time_are_in_slots_and_a_free_slot_is_used_again() -> None:
    spans = [span("a/1/1/1", 0, 5), span("a/1/2/1", 1, 9), span("a/1/3/1", 5, 10),
             span("a/1/4/1", 0, 2, node="n2")]  # fmt: skip

    rows = slots(spans, 10, 0)

    found = [(row.of, row.slot, round(row.busy * 18), [one.path for one in row.spans])
             for row in rows]  # fmt: skip
    assert found == [
        ("n1", 1, 15, ["a/1/1/1", "a/1/3/1"]), ("n1", 2, 15, ["a/1/2/1"]),
        ("n2", 1, 2, ["a/1/4/1"]),
    ]  # fmt: skip
    labels = [text(draw(row, TEN, UNICODE, look_of_state, set()))[:LABEL].split() for row in rows]
    assert labels == [["n1", "83%"], [], ["n2", "11%"]]


def test_a_slot_that_was_in_use_all_the_time_is_full_on_the_page_of_the_report() -> None:
    page = sheet(100)

    timeline_page.draw(page, [span("a/1/1/1", 0, 5), span("a/1/2/1", 4, 10)], None, 10)

    assert ["n1", "100%"] in [text(line).split()[:2] for line in page.lines]


def test_packages_that_wait_on_a_node_for_a_slot_take_no_row() -> None:
    queued = [AttemptSpan(f"a/1/{line}/1", 1, line, "n1", 0.0, float(line // 3),
                          line // 3 + 1.0, "successful", None, node_slots=4)
              for line in range(30)]  # fmt: skip
    waiting = AttemptSpan("a/1/99/1", 1, 99, "n1", 0.0, None, None, None, None)

    rows = slots([*queued, waiting], 60, 0)

    assert [len(row.spans) for row in rows] == [11, 10, 10]
    assert {row.busy for row in rows} == {0.75}
    assert text(draw(rows[0], TEN, UNICODE, look_of_state, set()))[LABEL:] == "█" * 10


def test_a_package_that_begins_while_the_one_before_is_delivered_is_in_its_slot() -> None:
    def ran(line: int, start: float, end: float, took: float = 1.0) -> AttemptSpan:
        return AttemptSpan(f"a/1/{line}/1", 1, line, "n1", 0.0, start, end, "successful", None,
                           took, 2)  # fmt: skip

    handed_over = [ran(1, 0, 5), ran(2, 0, 9), ran(3, 4.5, 10), ran(4, 8.9, 10)]
    halves = [ran(line, 0, 5, 0.5) for line in range(4)]
    too_many = [ran(1, 0, 9), ran(2, 0, 9), ran(3, 1, 9)]

    assert [[span.line for span in row.spans] for row in slots(handed_over, 10, 0)] == [
        [1, 3], [2, 4]]  # fmt: skip
    assert len(slots(halves, 10, 0)) == 4
    assert len(slots(too_many, 10, 0)) == 3


def test_an_attempt_takes_as_many_slots_as_its_package_requests() -> None:
    wide = AttemptSpan("a/1/1/1", 1, 1, "n1", 0.0, 0.0, 8.0, "successful", None, 4.0, 8)

    assert [row.busy for row in slots([wide], 10, 0)] == [0.5]


def test_an_attempt_that_never_ran_is_at_its_end_in_the_first_row_of_its_node() -> None:
    refused = AttemptSpan("a/1/2/1", 1, 2, "n1", 0.0, None, 3.0, "failed", "launch-failed")

    rows = slots([refused, span("a/1/1/1", 5, 9)], 10, 0)

    assert [text(draw(row, TEN, UNICODE, look_of_state, set()))[LABEL:] for row in rows] == [
        "   ▒  ███ "]  # fmt: skip
    assert at_column(rows[0], TEN, 3) == refused


def test_a_row_shows_staging_runs_failures_and_gaps() -> None:
    row = lines([span("a/1/1/1", 1, 4), span("a/1/1/1", 6, 9, "failed")])[0]

    assert text(draw(row, TEN, UNICODE, look_of_state, set()))[LABEL:] == " ─██  ─▒▒ "
    assert text(draw(row, TEN, ASCII, look_of_state, set()))[LABEL:] == " .##  .xx "
    assert text(draw(row, TEN, ASCII, look_of_state, set(row.spans)))[LABEL:] == " .>>  .xx "
    assert row.of == "1/1"


def test_a_lost_attempt_has_a_block_of_another_kind_than_a_failed_one() -> None:
    row = lines([span("a/1/1/1", 1, 4, "lost"), span("a/1/1/1", 6, 9, "failed")])[0]
    page, without = sheet(100), sheet(100)

    timeline_page.draw(page, row.spans, "a", 10)
    timeline_page.draw(without, row.spans[1:], "a", 10)

    assert text(draw(row, TEN, UNICODE, look_of_state, set()))[LABEL:] == " ─░░  ─▒▒ "
    assert text(draw(row, TEN, ASCII, look_of_state, set()))[LABEL:] == " .--  .xx "
    assert text(page.lines[-1]) == "█ ran  ▒ failed  ░ lost  ─ waited or was staged in"
    assert text(without.lines[-1]) == "█ ran  ▒ failed  ─ waited or was staged in"


@pytest.mark.parametrize(("outcome", "drawn"), [("lost", "─░"), ("failed", "─▒"), ("killed", "──")])
def test_a_line_shows_the_end_of_an_attempt_that_was_lost_or_failed_before_it_ran(
    outcome: str, drawn: str
) -> None:
    never = AttemptSpan("a/1/1/1", 1, 1, "n1", 1.0, None, 3.0, outcome, None)
    (row,) = lines([never])

    assert text(draw(row, TEN, UNICODE, look_of_state, set()))[LABEL:].strip() == drawn


def test_an_attempt_that_runs_reaches_to_the_edge_and_is_found_there() -> None:
    running = span("a/1/1/1", 6, None)
    row = lines([span("a/1/1/1", 1, 4), running])[0]

    assert text(draw(row, TEN, UNICODE, look_of_state, set()))[LABEL:] == " ─██  ─███"
    assert at_column(row, TEN, 9) == running
    assert at_column(row, TEN, 4) is None


def test_a_failure_is_not_hidden_by_what_shares_its_column() -> None:
    failed = span("a/1/1/1", 1, 3, "failed")
    row = lines([failed, span("a/1/1/1", 4, 9)])[0]
    coarse = Period(0.0, 100.0, 10)

    assert text(draw(row, coarse, UNICODE, look_of_state, set()))[LABEL] == "▒"
    assert at_column(row, coarse, 0) == failed


def test_a_straggler_takes_longer_than_half_of_its_stage() -> None:
    usual = [span(f"a/1/{line}/1", 0, 100) for line in range(1, 6)]
    slow, other = span("a/1/6/1", 0, None), span("a/2/1/1", 0, None)

    assert stragglers([*usual, slow, other], 400.0) == {slow}
    assert stragglers([*usual, slow, other], 150.0) == set()


def test_waiting_on_a_node_and_suspension_make_no_stragglers() -> None:
    usual = [span(f"a/1/{line}/1", 0, 9) for line in range(1, 6)]
    waited = AttemptSpan("a/1/6/1", 1, 6, "n1", 0.0, 300.0, 308.0, "successful", None)
    waiting = AttemptSpan("a/1/7/1", 1, 7, "n1", 0.0, None, None, None, None)
    stopped = AttemptSpan("a/1/8/1", 1, 8, "n1", 0.0, 1.0, 309.0, "successful", None,
                          suspended=300.0)  # fmt: skip
    paused = AttemptSpan("a/1/9/1", 1, 9, "n1", 0.0, 1.0, None, None, None, suspended_since=9.0)

    assert stragglers([*usual, waited, waiting, stopped, paused], 400.0) == set()
    assert summary(paused, 400.0) == "suspended 6 min 39 s"
    assert summary(waited, 400.0) == "successful 8.0 s"


def test_attempts_whose_end_nobody_knows_take_slots_while_their_node_answered() -> None:
    lost = AttemptSpan("a/1/1/1", 1, 1, "n1", 0.0, 0.0, 400.0, "lost", "lost", contact_lost=4.0)
    silent = AttemptSpan("a/1/2/1", 1, 2, "n1", 4.0, 4.0, None, None, None, contact_lost=6.0)

    rows = slots([lost, silent], 10, 0)

    assert [text(draw(row, TEN, UNICODE, look_of_state, set()))[LABEL:] for row in rows] == [
        "░░░░██    "]  # fmt: skip
    assert [(row.slot, row.busy) for row in rows] == [(1, 1.0)]
    assert (summary(lost, 9.0), summary(silent, 9.0)) == ("lost 4.0 s", "unreachable 2.0 s")


def test_stragglers_that_failed_have_the_block_of_failed_ones_and_count_as_these() -> None:
    slow, failed = span("a/1/1/1", 0, None), span("a/1/2/1", 0, 900, "failed")

    assert marked({slow, failed}, [slow, failed]) == {slow}
    assert marked({slow, failed}, [failed]) == set()


def test_the_times_are_on_the_axis_and_the_first_period_shows_all() -> None:
    labels = re.findall(r"│(\S+)", text(axis(Period(0.0, 3600.0, 1200), 3, UNICODE)))
    assert len(labels) == len(set(labels)) == 60
    assert period_for([span("a/1/1/1", 0, 5)], 299.0) == 1
    assert period_for([], 5.0) == 0


@pytest.mark.parametrize("seconds", [9, *PERIODS[:6]])
@pytest.mark.parametrize("columns", [64, 84, 144])
def test_the_times_on_the_axis_are_in_the_spans_of_their_columns(
    seconds: int, columns: int
) -> None:
    period = Period(1_750_000_051.7, 1_750_000_051.7 + seconds, columns)

    drawn = text(axis(period, 3, UNICODE))[LABEL:]

    ticks = [(match.start(), match[1]) for match in re.finditer(r"│(\S+)", drawn)]
    assert len(drawn) == columns and ticks
    for column, label in ticks:
        begin = period.begin + column * period.step
        day = time.strftime("%Y-%m-%d ", time.localtime(begin + period.step))
        form = "%Y-%m-%d %H:%M:%S" if label.count(":") == 2 else "%Y-%m-%d %H:%M"
        assert begin <= time.mktime(time.strptime(day + label, form)) < begin + period.step


def test_longer_periods_have_days_on_the_axis() -> None:
    begin = 1_750_000_051.7
    few, many = (text(axis(Period(begin, begin + days * 86_400, 84), 3, UNICODE))
                 for days in (3, 30))  # fmt: skip

    assert {label.split()[1] for label in re.findall(r"│(\S+ \S+)", few)} == {"00:00", "12:00"}
    assert {label.split()[1] for label in re.findall(r"│(\S+ \S+)", many)} == {"Jun", "Jul"}


def test_the_last_attempts_are_read_of_all_jobs_or_of_one_and_of_the_past(site: Site) -> None:
    site.submit(production("other"))
    site.submit(production())
    site.finish("other/1/1/1")
    site.fail("prod/1/2/1")

    found = attempt_spans.latest(site.store, None)
    assert [(one.path, one.outcome) for one in found] == [
        ("other/1/1/1", "successful"), ("prod/1/2/1", "failed")]  # fmt: skip
    assert attempt_spans.latest(site.store, site.id_of("prod")) == found[1:]
    assert attempt_spans.latest(site.store, None, limit=1) == found[1:]
    site.launch("other/1/2/1")
    site.fail("prod/1/3/1")
    last = attempt_spans.latest(site.store, None, limit=1)
    assert [(one.path, one.outcome) for one in last] == [
        ("other/1/2/1", None), ("prod/1/3/1", "failed")]  # fmt: skip
    assert [one.path for one in attempt_spans.latest(site.store, site.id_of("other"), limit=1)] == [
        "other/1/2/1"]  # fmt: skip
    spread_out(site)
    with as_of(site, FIRST + 3.5) as store:
        assert [one.ended for one in attempt_spans.latest(store, None)] == [None]


def test_i_shows_slots_and_lines_and_enter_goes_to_the_package(site: Site, dashboard: Open) -> None:
    site.submit(production())
    site.fail("prod/1/2/1")
    site.launch("prod/1/1/1")
    drive(site)

    async def script(desk: Desk) -> None:
        await desk.press("i")
        await desk.sees("slots of nodes over time", "localhost", "prod/1/1/1 running")
        await desk.press("tab")
        await desk.sees("lines of prod over time", " 1/1", " 1/2")
        await desk.press("minus", "minus")
        await desk.sees("15 min")
        await desk.press("up", "c", "enter")
        await desk.until(lambda: not isinstance(desk.app.screen, TimelineScreen), "the tree")
        await desk.until(lambda: desk.main.tree_view.selector == "prod/1/1/1", "the package")

    dashboard(script, start="prod")


def test_the_dashboard_is_shown_as_it_was_at_the_cursor(site: Site, dashboard: Open) -> None:
    site.submit(production())
    site.fail("prod/1/2/1")

    async def script(desk: Desk) -> None:
        await desk.press("i")
        await desk.sees("slots of nodes over time")
        await desk.press("left", "left", "left", "at")
        await desk.sees("as it was", "esc now")

    dashboard(script)
