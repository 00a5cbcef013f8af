"""Bars, rates, estimates and groups, as plain values."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from d0ctl.model import Phase
from d0ctl.schedule.standstill import Standing, Work
from d0ctl.show.drawing.sheet import Sheet
from d0ctl.show.drawing.signs import ASCII, ROLES, UNICODE, bar, percent, short, tally
from d0ctl.show.drawing.spans import text, width
from d0ctl.store.nodes.leases import LEASE
from d0ctl.store.nodes.standstill import JobStanding
from d0ctl.store.views.activity import Failed
from d0ctl.store.views.shapes import StageSummary
from d0ctl_tui.commands import LOG, MAIN, SUB, Command
from d0ctl_tui.draw import strips, tree_rows
from d0ctl_tui.draw.columns import Columns
from d0ctl_tui.draw.failure_groups import grouped
from d0ctl_tui.draw.rates import Rates, plot
from d0ctl_tui.draw.row_cells import RowContext
from d0ctl_tui.read.snapshot import NodeLine, Snapshot, Stopped

COUNTS = st.dictionaries(st.sampled_from(list(map(str, Phase))), st.integers(1, 10**6))


@given(COUNTS, st.integers(4, 60))
def test_a_bar_has_its_width_and_shows_whatever_is_there(
    counts: dict[str, int], columns: int
) -> None:
    drawn = bar(counts, columns, UNICODE)

    assert width(drawn) == columns
    for phase, sign in (("done", "█"), ("running", "▓"), ("failed", "▒"), ("canceled", "░")):
        if counts.get(phase):
            assert sign in text(drawn)


def test_every_phase_has_a_glyph_and_a_look_in_both_alphabets() -> None:
    for phase in Phase:
        assert phase in UNICODE.states
        assert phase in ROLES
        assert ASCII.states[phase].isascii()


@given(st.integers(0, 10**12))
def test_a_short_number_is_short(number: int) -> None:
    assert len(short(number)) <= 5


@pytest.mark.parametrize(
    ("number", "shown"),
    [(9_999, "9999"), (19_992, "19.9k"), (20_000, "20.0k"), (99_999, "99.9k"), (999_999, "999k"),
     (1_000_000, "1.0M"), (999_999_999, "999M")],
)  # fmt: skip
def test_a_short_number_is_rounded_down(number: int, shown: str) -> None:
    assert short(number) == shown


def test_a_percentage_is_a_hundred_only_if_all_is_done() -> None:
    assert percent({"done": 19_992, "unreachable": 8}) == 99
    assert percent({"done": 1, "running": 1}, earned=1.0) == 99
    assert percent({"done": 2}) == 100
    assert percent({"done": 1, "ready": 2}) == 33
    assert percent({}) == 0


def test_packages_that_wait_on_their_nodes_are_not_counted_as_running() -> None:
    counts = {"running": 11, "killing": 1, "starting": 169, "staging-in": 2, "transferring": 3,
              "suspended": 4, "unreachable": 5}  # fmt: skip

    assert [words for words, _ in tally(counts)] == [
        "5 unreachable", "4 suspended", "12 running", "169 queued on nodes", "2 staging in",
        "3 transferring",
    ]  # fmt: skip


def test_the_words_beside_a_bar_begin_with_what_needs_a_person() -> None:
    answer = tally({"done": 5, "running": 2, "held": 3, "failed": 1, "waiting": 4}, blocked=True)

    assert [words for words, _ in answer] == ["1 failed", "3 held", "2 running", "4 blocked"]


def test_rates_count_what_ended_before_and_since() -> None:
    rates = Rates()
    rates.recall([(100.0, 2), (111.0, 1)])
    rates.note(115.0, 50)
    rates.note(125.0, 53)

    assert rates.columns(4, 125.0) == [0, 2, 1, 3]
    assert text(plot([0, 1, 2, 8], 1, UNICODE)[0]) == " ▁▂█"


def test_a_clock_that_jumps_breaks_no_rate() -> None:
    rates = Rates()
    for at, total in ((1000.0, 1), (900_000.0, 5), (10.0, 9), (20.0, 4)):
        rates.note(at, total)

    assert len(rates.columns(30, 20.0)) == 30


def test_failures_are_grouped_the_largest_group_first() -> None:
    def failed(id: int, reason: str, node: str) -> Failed:
        return Failed(id, reason, node, "reco/v1", None, float(id), f"words {id}")

    found = grouped([failed(1, "signal", "a"), failed(2, "lost", "a"), failed(3, "lost", "b")],
                     "reason")  # fmt: skip

    assert [(one.name, one.ids, one.message) for one in found] == [
        ("lost", [2, 3], "words 3"),
        ("signal", [1], "words 1"),
    ]


@pytest.mark.parametrize(("since", "rate"), [(0, 6), (1, 6), (50, 55)])
def test_rate_and_peak_are_ends_in_a_minute(since: int, rate: int) -> None:
    rates = Rates()
    rates.recall([(1000.0 + 10 * i, 1) for i in range(12)])
    rates.note(1120.0, 12)
    rates.note(1125.0, 12 + since)

    minutes = rates.minutes(30, 1125.0)
    answer = [text(one) for one in strips.rates(rates, Snapshot(at=1125.0), 36, 4, UNICODE)]

    assert (minutes[-1], max(minutes)) == (rate, rate)
    assert answer[-2].split() == f"{rate} a minute peak {rate}".split()
    assert answer[-1].split() == f"{12 + since} ended in the last 6 min".split()


def test_the_peak_is_of_a_minute_in_the_shown_time() -> None:
    rates = Rates()
    rates.recall([(1000.0, 2700), (1010.0, 11), (1030.0, 348)])

    answer = [text(row) for row in strips.rates(rates, Snapshot(at=1255.0), 25, 4, UNICODE)]

    assert answer[-2].split() == ["0", "a", "minute", "peak", "359"]
    assert answer[-1].split()[:2] == ["359", "ended"]


@pytest.mark.parametrize(("columns", "words"), [(28, "in the last 4 min"), (27, "last 4 min")])
def test_a_number_of_ended_packages_is_never_cut(columns: int, words: str) -> None:
    rates = Rates()
    rates.note(1120.0, 0)
    rates.note(1125.0, 1234)

    answer = [text(row) for row in strips.rates(rates, Snapshot(at=1125.0), columns, 4, UNICODE)]

    assert answer[-1].split() == f"1234 ended {words}".split()


def test_packages_that_have_just_ended_have_a_rate_and_a_peak() -> None:
    rates = Rates()
    rates.note(1000.0, 0)
    rates.note(1001.0, 4)

    answer = [text(one) for one in strips.rates(rates, Snapshot(at=1002.0), 36, 4, UNICODE)]

    assert answer[-2].split() == ["4", "a", "minute", "peak", "4"]
    assert answer[-1].split() == ["4", "ended", "in", "the", "last", "6", "min"]


def node(name: str, state: str = "up", used: int = 0, **more: Any) -> NodeLine:
    """A node of four slots."""
    fields = {"cpus": 4, "ahead": 0, "staging": 0, "load": None, "contact": None, "note": ""}
    return NodeLine(name, state, used, is_up=state != "down", **(fields | more))


NODES = (node("a", used=3, staging=2), node("b", "down", 4), node("c", "drained", 1), node("d"))


def header(columns: int, *, nodes: tuple[NodeLine, ...] = NODES, failed: int = 0) -> str:
    """The first line of the dashboard."""
    snapshot = Snapshot(at=100.0, nodes=nodes, needing={1: {"failed": failed}} if failed else {})
    return text(strips.header(snapshot, (LEASE,), "/home/x", "", "", 50.0, columns, UNICODE))


def test_the_header_counts_the_slots_of_nodes_that_take_or_have_work_with_staging_apart() -> None:
    assert "3/4 nodes up, 1 drained   4/12 slots, 2 staging" in header(120)


@pytest.mark.parametrize(
    ("field", "words"), [("has_old_daemon", "older code|old daemon"),
                         ("has_full_home", "disk of the home is full|full disk")])  # fmt: skip
def test_the_header_names_an_older_daemon_and_a_full_home(field: str, words: str) -> None:
    snapshot = replace(Snapshot(at=100.0, nodes=NODES), **{field: True})
    wide, narrow = (text(strips.header(snapshot, (LEASE,), "/h", "", "", 50.0, columns, UNICODE))
                    for columns in (120, 30))  # fmt: skip

    assert words.partition("|")[0] in wide and ": d0ctl d" in wide
    assert words.partition("|")[2] in narrow and "daemon up" not in narrow


@pytest.mark.parametrize("columns", [16, 24, 40, 51, 54, 59, 60, 80, 82, 120])
def test_the_header_keeps_the_failures_and_drops_the_clock_first(columns: int) -> None:
    answer = header(columns, failed=12)

    assert "✘ 12" in answer and ("…" not in answer or columns < 40)
    assert width([(answer, "")]) <= columns
    assert ("changed" in answer, "3/4 nodes up" in answer) == (columns >= 100, columns >= 51)


def test_a_narrow_header_tells_failed_packages_from_jobs_tasks_and_files() -> None:
    still = JobStanding(7, "late", Work({}), Standing(moves=False))
    snapshot = Snapshot(5.0, untransferred={5: 2}, needing={1: {"failed": 2, "unreachable": 10}},
                        stopped_jobs=Stopped({7: (still, "")}), tasks={3: "failed"})  # fmt: skip

    answer = text(strips.header(snapshot, (LEASE,), "/home/x", "", "", 50.0, 60, UNICODE))

    assert "✘ 2  ? 10  ✘ 1 still  ✘ 2 files  ✘ 1 task" in answer


def test_nodes_with_a_problem_come_first() -> None:
    assert [one.name for one in strips.ordered(NODES)] == ["b", "c", "a", "d"]


def test_nodes_have_short_names_where_those_are_unique() -> None:
    names = ("a1.site.org", "a2.site.org", "b.x", "b.y", "10.0.0.1", "plain")
    found = Snapshot(nodes=tuple(node(name) for name in names)).short_names

    assert found == {"a1.site.org": "a1", "a2.site.org": "a2"}


def test_a_node_shows_waiting_apart_from_running_packages() -> None:
    lines = strips.nodes((node("a", used=4, ahead=2, staging=1),), {}, 60, 0.0, UNICODE)

    assert "4/4, 2 next, 1 staging" in text(lines[0])


@pytest.mark.parametrize("columns", [24, 40, 80, 100, 200])
@pytest.mark.parametrize("commands", [MAIN, (*LOG, *SUB)], ids=["main", "log"])
def test_the_last_line_always_offers_help_and_the_way_out(
    columns: int, commands: tuple[Command, ...]
) -> None:
    answer = text(strips.footer(commands, columns))

    is_whole = all(command.foot in answer for command in commands if command.foot != "help")
    assert ("? help" if is_whole else "? more") in answer
    assert "q quit" in answer or "esc back" in answer
    assert width([(answer, "")]) <= columns


def test_a_group_of_failures_shows_the_message_of_the_latest() -> None:
    def failed(id: int, ended: float, words: str) -> Failed:
        return Failed(id, "signal", "a", "reco/v1", None, ended, words)

    (found,) = grouped([failed(1, 5.0, "old"), failed(2, 9.0, "new"), failed(3, 7.0, "mid")],
                        "reason")  # fmt: skip

    assert (found.message, found.last) == ("new", 9.0)


def test_a_wide_last_cell_of_a_table_moves_to_the_next_line() -> None:
    row = [("exit-code", "bad"), ("last 03:54:48", "faint"), ("corrupt block at event 1000", "")]
    narrow, wide = Sheet(44, UNICODE), Sheet(80, UNICODE)
    for sheet in (narrow, wide):
        sheet.table([[*row[:2], (row[2][0] * 2, "")]])

    assert len(wide.lines) == 1
    assert text(narrow.lines[0]).split() == ["exit-code", "last", "03:54:48"]
    assert "".join(text(line).strip() for line in narrow.lines[1:]).count("event") == 2


def test_a_long_command_goes_on_in_a_second_line_as_a_shell_takes_it() -> None:
    sheet = Sheet(40, UNICODE)
    sheet.commands(["d0ctl kill-line prod/1/4 --drop-outputs --reason bad"])
    words = "\n".join(text(line) for line in sheet.lines).replace("  $ ", "").replace("\\\n", "")

    assert len(sheet.lines) == 2
    assert words.split() == ["d0ctl", "kill-line", "prod/1/4", "--drop-outputs", "--reason", "bad"]


def test_a_row_of_a_stage_shows_its_limits_beside_its_packages() -> None:
    ready = {"ready": 4}
    row = StageSummary(id=1, seq=2, name="merge", require=0.97, lines=4, max_running=3, final=1,
                       counts=ready, blocked=False)  # fmt: skip
    context = RowContext(0, UNICODE, 0.0)

    drawn = text(tree_rows.draw(row, Columns.of(160, tree_rows.need(row, context)), context))

    assert "4 ready  final  requires 97 % of its inputs  at most 3 packages at once" in drawn


@pytest.mark.parametrize("columns", [90, 100, 110, 120, 160])
def test_a_count_beside_the_progress_is_whole_or_omitted(columns: int) -> None:
    counts = {"failed": 1, "held": 1, "running": 1, "ready": 36, "waiting": 12}
    row = StageSummary(id=1, seq=2, name="merge", require=1.0, lines=40, max_running=None,
                       final=0, counts=counts, blocked=False)  # fmt: skip
    context = RowContext(0, UNICODE, 0.0)
    shared = Columns.of(columns, tree_rows.need(row, context))
    assert shared.tally > 0

    drawn = text(tree_rows.draw(row, shared, context))

    everything = ["1 failed", "1 held", "1 running", "36 ready", "12 waiting"]
    words = drawn.partition("0/51")[2].strip().removesuffix("…").strip().split("  ")
    assert words == everything[: len(words)]
    assert ("…" in drawn) == (len(words) < len(everything))
