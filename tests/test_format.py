"""How lengths of time and sizes are written for people."""

import pytest

from d0ctl.units import duration, without_unit

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
