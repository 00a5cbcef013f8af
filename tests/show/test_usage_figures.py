"""The figures of `report usage`."""

import pytest

from d0ctl.show.usage import figures


@pytest.mark.parametrize(
    ("part", "shown"),
    [(None, "-"), (0.0, "0%"), (0.0001, "<1%"), (0.5, "50%"), (0.994, "99%"), (0.9999, ">99%"),
     (1.0, "100%"), (1.2, "120%")],
)  # fmt: skip
def test_only_all_is_100_percent_and_only_none_is_0(part: float | None, shown: str) -> None:
    assert figures._percent(part) == shown
