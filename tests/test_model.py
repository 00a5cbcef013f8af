"""How counts roll up to a status: the table of Ganga, its first two points swapped."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from d0ctl.model import (
    MOVING,
    STATUS_OF,
    Group,
    Phase,
    Status,
    by_status,
    can_move,
    known_eta,
    roll_up,
)

counts = st.dictionaries(st.sampled_from([str(phase) for phase in Phase]), st.integers(0, 3))


@pytest.mark.parametrize(
    ("given_counts", "status"),
    [
        ({"running": 1, "failed": 5, "ready": 1}, Group.RUNNING),
        ({"transferring": 1, "done": 5}, Group.RUNNING),
        ({"assigned": 1, "failed": 5}, Group.SUBMITTED),
        ({"waiting": 1, "failed": 1}, Group.SUBMITTED),
        ({"held": 1, "done": 3}, Group.SUBMITTED),
        ({"failed": 1, "done": 3, "dropped": 2}, Group.FAILED),
        ({"failed": 1, "done": 3, "canceled": 2}, Group.FAILED),
        ({"done": 5, "canceled": 1}, Group.CANCELED),
        ({"done": 1, "dropped": 3, "canceled": 2}, Group.CANCELED),
        ({"done": 1, "dropped": 3}, Group.SUCCESSFUL),
        ({"dropped": 3}, Group.CANCELED),
        ({"canceled": 3}, Group.CANCELED),
        ({}, Group.CANCELED),
    ],
)
def test_the_first_status_that_applies_wins(given_counts: dict[str, int], status: Group) -> None:
    assert roll_up(given_counts) is status


def test_blocked_work_counts_as_failed() -> None:
    assert roll_up({"waiting": 1, "done": 1}, blocked=True) is Group.FAILED
    assert roll_up({"waiting": 1, "held": 1}, blocked=True) is Group.SUBMITTED


@given(counts)
def test_every_package_has_one_status(some: dict[str, int]) -> None:
    assert sum(by_status(some).values()) == sum(some.values())
    assert set(by_status(some)) == {str(status) for status in Status}


@pytest.mark.parametrize(
    ("phase", "eta", "known"),
    [
        (Phase.RUNNING, 200.0, 200.0),
        (Phase.STAGING_IN, 200.0, 200.0),
        (Phase.RUNNING, 100.0, None),
        (Phase.RUNNING, None, None),
        (Phase.SUSPENDED, 200.0, None),
        (Phase.UNREACHABLE, 200.0, None),
        (Phase.KILLING, 200.0, None),
    ],
)
def test_only_a_package_that_progresses_and_is_not_overdue_has_an_eta(
    phase: Phase, eta: float | None, known: float | None
) -> None:
    assert known_eta(phase, eta, now=100.0) == known


@given(counts)
def test_ended_work_can_not_move(some: dict[str, int]) -> None:
    if can_move(some):
        assert roll_up(some) in (Group.RUNNING, Group.SUBMITTED)


def test_only_waiting_or_ended_work_does_not_move() -> None:
    ended = {Status.SUCCESSFUL, Status.FAILED, Status.CANCELED}
    resting = {phase for phase, status in STATUS_OF.items() if status in ended}

    assert set(Phase) - MOVING == resting | {Phase.WAITING}
