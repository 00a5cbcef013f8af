"""How lengths of time and sizes are written for people."""

from datetime import datetime

import pytest

from d0ctl.cli.terminal.periods import parse_since
from d0ctl.units import (
    duration,
    parse_period,
    parse_time,
    time_without_unit,
    without_unit,
)

MINUTE, HOUR, DAY = 60.0, 3600.0, 86400.0


@pytest.mark.parametrize(
    ("seconds", "written"),
    [
        (None, "-"),
        (float("inf"), "-"),
        (-5.0, "0.0 s"),
        (9.94, "9.9 s"),
        (9.95, "10 s"),
        (59.4, "59 s"),
        (59.5, "1 min 00 s"),
        (HOUR - 1, "59 min 59 s"),
        (HOUR, "1 h 00 min"),
        (HOUR + MINUTE, "1 h 01 min"),
        (2 * HOUR + 59 * MINUTE + 59, "2 h 59 min"),
        (DAY - 1, "23 h 59 min"),
        (DAY, "1 d"),
        (7 * DAY + 3600, "7 d 1 h"),
        (3 * DAY - 1, "2 d 23 h"),
    ],
)
def test_a_length_of_time_is_written_in_its_two_largest_units(
    seconds: float | None, written: str
) -> None:
    assert duration(seconds) == written


@pytest.mark.parametrize(
    ("size", "meant"),
    [(2, "2GB"), (99, "99GB"), (100, "100MB"), (99_999, "99999MB"), (0, None), (100_000, None)],
)
def test_a_size_in_which_no_program_fits_was_meant_with_a_unit(
    size: int, meant: str | None
) -> None:
    said = meant and f"{size} bytes: did you mean `{meant}`?"
    assert without_unit(size) == said


@pytest.mark.parametrize(
    ("text", "meant"),
    [("2", "2 seconds: did you mean `2h`?"), ("30", "30 seconds: did you mean `30m`?"),
     ("1", "1 second: did you mean `1h`?"), ("0", None), ("60", None), ("2s", None), ("2h", None)],
)  # fmt: skip
def test_a_short_time_without_a_unit_was_meant_with_one(text: str, meant: str | None) -> None:
    assert time_without_unit(text) == meant


@pytest.mark.parametrize(("text", "meant"), [("7", "7d"), ("3600", "3600s")])
def test_a_period_of_the_past_needs_a_unit(text: str, meant: str) -> None:
    with pytest.raises(ValueError, match=f"`{text}` has no unit: did you mean `{meant}`"):
        parse_period(text)
    assert [parse_period(meant), parse_period("0")] == [parse_time(meant), 0.0]


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("8h", 8 * HOUR), ("today", 9.5 * HOUR), ("yesterday", DAY + 9.5 * HOUR),
     ("2026-01-20", DAY + 9.5 * HOUR), ("2026-01-20 18:00", 15.5 * HOUR),
     ("2026-01-21T09:29:00", MINUTE), ("08:30", HOUR), ("9:29:00", MINUTE),
     ("18:12", 15.3 * HOUR)],
)  # fmt: skip
def test_a_period_of_the_past_may_begin_at_a_day_or_time(text: str, seconds: float) -> None:
    assert parse_since(text, datetime(2026, 1, 21, 9, 30).timestamp()) == seconds


@pytest.mark.parametrize(
    ("text", "fault"),
    [("2026-01-22", "is in the future"), ("2026-02-31", "is not in the calendar"),
     ("tuesday", "is not a time such as `8h`, `18:00`, `today`"), ("7", "has no unit"),
     ("3w", "is not a time: days are the largest unit"), ("25:00", "is not a time such as `8h`")],
)  # fmt: skip
def test_another_beginning_of_a_period_is_refused(text: str, fault: str) -> None:
    with pytest.raises(ValueError, match=f"`{text}` {fault}"):
        parse_since(text, datetime(2026, 1, 21, 9, 30).timestamp())
