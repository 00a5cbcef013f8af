"""Sizes, times and fractions as people write them."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from d0ctl.units import (
    MOST_BYTES,
    format_size,
    format_time,
    parse_fraction,
    parse_size,
    parse_time,
)


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("4096", 4096),
        ("200MB", 200_000_000),
        ("1.5 GiB", 1_610_612_736),
        ("2k", 2000),
        ("0", 0),
        ("1.1GB", 1_100_000_000),
        ("8 TB", 8 * 10**12),
    ],
)
def test_a_size_is_read_in_bytes(text: str, size: int) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize(
    "text", ["", "MB", "-1", "1e3", "1 XB", "1iB", "9" * 30, "1.5.2", "١MB", "1\N{KELVIN SIGN}"]
)
def test_an_invalid_size_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="`"):
        parse_size(text)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("90", 90),
        ("90s", 90),
        ("20m", 1200),
        ("1h30m", 5400),
        ("1h 30m", 5400),
        ("2d", 172_800),
        ("0.5", 0.5),
        ("0", 0),
    ],
)
def test_a_time_is_read_in_seconds(text: str, seconds: float) -> None:
    assert parse_time(text) == seconds


@pytest.mark.parametrize("text", ["", "soon", "-5", "30m1h", "1e9", "12:30", "9" * 40, "200000d"])
def test_an_invalid_time_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="`"):
        parse_time(text)


@pytest.mark.parametrize(("text", "fraction"), [("100%", 1), ("97%", 0.97), ("0.97", 0.97)])
def test_a_fraction_is_read_with_or_without_percent(text: str, fraction: float) -> None:
    assert parse_fraction(text) == fraction


@pytest.mark.parametrize("text", ["130%", "2", "-0.1", "all", ""])
def test_an_invalid_fraction_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="`"):
        parse_fraction(text)


@given(st.integers(0, MOST_BYTES))
def test_a_size_survives_being_written_and_read(size: int) -> None:
    assert parse_size(format_size(size)) == size


@given(st.integers(0, 3_000_000_000) | st.floats(0, 10**6).map(lambda s: round(s, 3)))
def test_a_time_survives_being_written_and_read(seconds: float) -> None:
    assert math.isclose(parse_time(format_time(seconds)), seconds, abs_tol=1e-6)


@pytest.mark.parametrize("text", ["10000PB", "9223372036854775808", "8192 PiB"])
def test_a_size_that_no_column_can_hold_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="more bytes than any disk has"):
        parse_size(text)


@pytest.mark.parametrize("text", ["1month", "2w", "3 weeks", "1Y"])
def test_days_are_the_largest_unit_of_time(text: str) -> None:
    with pytest.raises(ValueError, match=f"`{text}` is not a time: .* as in `30d`"):
        parse_time(text)


@pytest.mark.parametrize("text", ["soon", "tomorrow", "-5m", "5 min", ""])
def test_a_text_that_is_no_time_is_answered_with_examples(text: str) -> None:
    with pytest.raises(ValueError, match="such as `90s`, `20m`, `1h30m` or `30d`"):
        parse_time(text)
