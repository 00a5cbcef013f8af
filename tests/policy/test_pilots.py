"""How many pilots are asked for, and when they end."""

import pytest
from msgspec.structs import replace

from d0ctl.policy.pilots import Supply, delay_s, is_closing, more, surplus

NONE = Supply(
    queued=0, running=0, free_cpus=0.0, lately=0, cpus=4, max_queued=10, max_running=20,
    submit_rate=30,
)  # fmt: skip


def test_as_many_pilots_are_submitted_as_packages_need() -> None:
    assert more(0.0, NONE) == 0
    assert more(1.0, NONE) == 1
    assert more(9.0, NONE) == 3
    assert more(9.0, replace(NONE, queued=2)) == 1
    assert more(9.0, replace(NONE, running=1, free_cpus=4.0)) == 2
    assert more(9.0, replace(NONE, queued=5)) == 0


@pytest.mark.parametrize(
    ("limits", "most"),
    [
        ({"max_queued": 3}, 3),
        ({"max_queued": 3, "queued": 2}, 1),
        ({"max_queued": 3, "queued": 5}, 0),
        ({"max_running": 4}, 4),
        ({"max_running": 4, "running": 2, "queued": 1}, 1),
        ({"max_running": 0}, 0),
        ({"submit_rate": 5}, 5),
        ({"submit_rate": 5, "lately": 4}, 1),
    ],
)
def test_no_more_pilots_are_submitted_than_the_site_allows(
    limits: dict[str, int], most: int
) -> None:
    assert more(1000.0, replace(NONE, **limits)) == most


def test_queued_pilots_go_when_they_are_not_needed() -> None:
    assert surplus(0.0, replace(NONE, queued=3)) == 3
    assert surplus(1.0, replace(NONE, queued=3)) == 0


def test_a_pilot_takes_nothing_shortly_before_its_end() -> None:
    assert is_closing(59.0, 3600.0)
    assert not is_closing(61.0, 3600.0)
    assert not is_closing(30.0, 100.0)
    assert not is_closing(None, 3600.0)


def test_after_failures_the_next_ones_wait_longer_but_not_forever() -> None:
    delays = [delay_s(failures) for failures in (0, 1, 2, 100)]

    assert delays == [0.0, 15.0, 30.0, 900.0]
