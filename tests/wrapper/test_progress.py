"""How far a binary is: what it says, what its log says, what its outputs show."""

import os
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from d0ctl_wrapper.attempt.guards.looping import LifeSigns, Looping
from d0ctl_wrapper.attempt.run.clock import Clock
from d0ctl_wrapper.attempt.run.logs import CHUNK, LONGEST_LINE, LogFollower
from d0ctl_wrapper.attempt.run.progress import ProgressFile, Reading, read_line
from d0ctl_wrapper.attempt.run.progress_report import (
    SOONEST_S,
    ChainRuntimes,
    Eta,
    ProgressReport,
)
from d0ctl_wrapper.host.process import Usage
from tests.support.waiting import wait_until
from tests.wrapper.client import Client, Frame, binary, launch

STAYS = "while [ ! -e ../go ]; do sleep 0.05; done"
"""Keeps a binary running until the test says so."""


def progress(node: Client, attempt: int = 1) -> Frame:
    """The latest progress message of an attempt, once there is one."""
    while not (found := [m for m in node.messages(attempt) if m["kind"] == "progress"]):
        node.wait("pong", id=node.ping())
    return found[-1]


def finish(node: Client, attempt: int = 1) -> Frame:
    """Let a binary that stays go on to its end."""
    (node.folder(attempt) / "go").touch()
    return node.end(attempt)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("120/500", Reading(120, 500, "120/500")),
        ("  event 120 / 500 of run 7", Reading(120, 500, "event 120 / 500 of run 7")),
        ("120 of 500", Reading(120, 500, "120 of 500")),
        ("1.5e3/2e3", Reading(1500, 2000, "1.5e3/2e3")),
        ("done 24 %", Reading(24, 100, "done 24 %")),
        ("24.5%", Reading(24.5, 100, "24.5%")),
        ("120", Reading(120, None, "120")),
        ("reading geometry", Reading(None, None, "reading geometry")),
        ("\x1b[31mred\x1b[0m 3/4", Reading(3, 4, "red 3/4")),
        ("", None),
        ("\x1b[0m", None),
    ],
)
def test_progress_is_read_from_a_line(line: str, expected: Reading | None) -> None:
    assert read_line(line) == expected


@given(st.text())
def test_any_line_of_progress_is_read_without_an_error(text: str) -> None:
    reading = read_line(text)

    assert reading is None or len(reading.line) <= 200
    assert reading is None or reading.fraction is None or 0 <= reading.fraction <= 1


def test_progress_above_the_total_counts_as_the_total() -> None:
    assert Reading(501, 500, "").fraction == 1.0
    assert Reading(1, 0, "").fraction is None


def test_the_progress_of_a_chain_counts_each_binary_by_its_runtime() -> None:
    known = ChainRuntimes([{"runtime": 10.0}, {"runtime": 30.0}])
    unknown = ChainRuntimes([{"runtime": None}, {"runtime": 30.0}])

    assert known.percent(2, 0.5) == 62.5
    assert unknown.percent(2, 0.5) == 75.0
    assert known.percent(1, None) is None
    assert (known.after(1), known.after(2)) == (30.0, 0.0)


def test_the_time_left_follows_from_the_latest_rate() -> None:
    pace = Eta()
    for second in range(1, 101):
        pace.add(second, min(second, 50) + max(0, second - 50) * 10)

    assert pace.left(100, 1050) == pytest.approx(50, abs=2)


def test_a_binary_that_has_done_nothing_has_no_time_left() -> None:
    pace = Eta()
    assert pace.left(10, 500) is None
    pace.add(10, 0)
    assert pace.left(20, 500) is None


def test_a_count_that_starts_again_restarts_the_estimate() -> None:
    pace = Eta()
    pace.add(100, 400)
    pace.add(110, 0)
    pace.add(120, 10)

    assert pace.left(120, 60) == pytest.approx(50)


@given(st.lists(st.tuples(st.floats(0.1, 100), st.floats(0, 1e6)), max_size=80))
@example([(2.0, 5e-324)])
def test_the_time_left_is_never_negative(steps: list[tuple[float, float]]) -> None:
    pace, now = Eta(), 0.0
    for step, done in steps:
        now += step
        pace.add(now, done)

    left = pace.left(now, 1e6)
    assert left is None or left >= 0


@given(st.lists(st.binary(max_size=40)), st.booleans())
def test_a_log_is_followed_line_by_line_however_it_comes(
    tmp_path_factory: pytest.TempPathFactory, pieces: list[bytes], is_over: bool
) -> None:
    path = tmp_path_factory.mktemp("log") / "log"
    follower = LogFollower(bytes(path))
    found: list[bytes] = []
    with path.open("wb", buffering=0) as file:
        for piece in pieces:
            file.write(piece)
            found += follower.lines()
    found += follower.lines(is_over)

    *lines, rest = b"".join(pieces).split(b"\n")
    assert found == [*lines, *([rest] if is_over and rest else [])]


def test_only_the_beginning_of_an_endless_line_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"x" * (3 * CHUNK) + b"\nnext\n")

    first, second = LogFollower(bytes(path)).lines()

    assert (len(first), second) == (LONGEST_LINE, b"next")


def test_a_skipping_follower_returns_complete_lines_only(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"".join(b"event %d\n" % number for number in range(100_000)))

    found = list(LogFollower(bytes(path), skips=True).lines())

    assert found[-1] == b"event 99999"
    assert all(line.startswith(b"event ") for line in found)


def test_progress_between_two_messages_is_a_sign_of_life(tmp_path: Path) -> None:
    path, clock = tmp_path / "progress", Clock()
    source = ProgressFile(bytes(path))
    chain = ChainRuntimes([{"runtime": None}])
    progress = ProgressReport(1, chain, source, clock, lambda fields: None)
    signs = LifeSigns(progress.changes, [], bytes(tmp_path / "work"))
    limits = {"looping": 0.1, "run_time_history": None}
    looping = Looping("binary 1", limits, clock, signs, lambda: Usage(0.0, 0))

    while clock.now() < 0.5:
        with path.open("a") as file:
            file.write("another event\n")
        looping.poll()


def test_progress_is_not_read_before_the_next_message_may_be_sent(tmp_path: Path) -> None:
    path = tmp_path / "progress"
    sent: list[Frame] = []
    path.write_text("1/500\n")
    source, chain = ProgressFile(bytes(path)), ChainRuntimes([{"runtime": None}])
    progress = ProgressReport(1, chain, source, Clock(), sent.append)

    assert progress.poll() >= SOONEST_S
    assert len(sent) == 1


def test_a_shell_script_reports_progress_with_one_line(node: Client) -> None:
    node.launch(launch(1, binary(script='echo 120/500 >> "$D0CTL_PROGRESS"; ' + STAYS)))

    answer = progress(node)

    assert (answer["done"], answer["total"], answer["percent"]) == (120, 500, 24.0)
    assert (answer["binary"], answer["line"]) == (1, "120/500")
    assert answer["rss"] > 0
    assert answer["eta"] > answer["time"]
    assert finish(node)["outcome"] == "successful"


def test_progress_is_read_from_the_log_by_a_rule(node: Client) -> None:
    rule = {"log": r"event (\d+) of (\d+)"}
    script = "echo event 1 of 40; echo event 10 of 40 >&2; echo other words; " + STAYS
    node.launch(launch(1, binary(script=script, progress=rule)))

    answer = progress(node)

    assert (answer["done"], answer["total"], answer["line"]) == (10, 40, "event 10 of 40")
    finish(node)


def test_a_rule_for_progress_that_backtracks_without_end_is_given_up(node: Client) -> None:
    script = "printf 'a%.0s' $(seq 60); echo b; " + STAYS
    node.launch(launch(1, binary(script=script, progress={"log": "^(a+)+$"})))

    answer = progress(node)

    assert answer["line"] == "its progress rule backtracks endlessly on a line of the log"
    finish(node)


def test_progress_is_read_from_the_growth_of_an_output(node: Client) -> None:
    rule = {"output": "big.root", "of": 4000}
    script = "head -c 1000 /dev/zero > big.root; " + STAYS
    node.launch(launch(1, binary(script=script, progress=rule)))

    assert progress(node)["percent"] == 25.0
    finish(node)


def test_each_binary_of_a_chain_has_a_progress_of_its_own(node: Client) -> None:
    first = binary(script='echo 500/500 >> "$D0CTL_PROGRESS"')
    second = binary(script="ls $D0CTL_PROGRESS && exit 9; echo 1/4 > $D0CTL_PROGRESS; " + STAYS)
    node.launch(launch(1, first, second))

    answer = progress(node)

    assert (answer["binary"], answer["percent"]) == (2, 62.5)
    assert finish(node)["outcome"] == "successful"


def test_a_binary_that_makes_no_progress_sends_no_message(node: Client) -> None:
    node.launch(launch(1, binary(script="echo 1/9 > $D0CTL_PROGRESS; " + STAYS)))
    progress(node)
    wait_until(lambda: (node.folder(1) / "1.out").exists())

    finish(node)

    assert [m["kind"] for m in node.messages(1)] == ["start", "progress", "end"]


def test_binaries_run_below_the_priority_of_their_wrapper(node: Client) -> None:
    for attempt, nice in ((1, 7), (2, 0)):
        level = min(19, os.nice(0) + nice)
        script = f"until test $(nice) = {level}; do sleep 0.05; done"

        assert (
            node.run(binary(script=script), attempt=attempt, nice=nice)["outcome"] == "successful"
        )
