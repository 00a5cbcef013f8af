"""When a package that waits for its inputs moves to another node."""

from hypothesis import given
from hypothesis import strategies as st

from d0ctl.schedule.costs import Cost
from d0ctl.schedule.moves.behind import LEAST_LATE_S, MOST_MOVES, better

NEAR = {"near": Cost(5.0, 0.0, 60.0)}


def test_a_package_that_is_much_too_late_goes_where_it_ends_earlier() -> None:
    assert better(200.0, 10.0, Cost(3.0, 0.0, 60.0), NEAR, moves=0) == "near"


def test_a_package_stays_while_it_is_a_little_late_or_was_expected_to_take_long() -> None:
    here = Cost(500.0, 0.0, 60.0)

    assert better(10.0 + LEAST_LATE_S - 1, 10.0, here, NEAR, moves=0) is None
    assert better(1000.0, 400.0, here, NEAR, moves=0) is None


def test_a_package_stays_if_no_other_node_is_better_by_a_margin() -> None:
    slow = {"slow": Cost(150.0, 0.0, 60.0)}

    assert better(200.0, 10.0, Cost(3.0, 0.0, 60.0), slow, moves=0) is None
    assert better(200.0, 10.0, Cost(3.0, 0.0, 60.0), {}, moves=0) is None


@given(st.floats(0, 1e6), st.floats(0, 1e6), st.integers(MOST_MOVES, 99))
def test_a_package_stays_after_some_moves(waited: float, expected: float, moves: int) -> None:
    assert better(waited, expected, Cost(1e6, 0.0, 60.0), NEAR, moves) is None
