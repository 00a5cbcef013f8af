"""How full caches become."""

import pytest

from d0ctl.schedule.disk_profile import (
    HORIZON_S,
    MOST_PLANNED,
    Alike,
    Cache,
    Change,
    planned,
    profiles,
)
from d0ctl.schedule.node_capacity import Busy
from d0ctl.schedule.resources import NodeRoom, Requirement

CACHE = Cache(2, "farm", 100, 40)


def test_a_profile_adds_changes_up_and_says_when_it_is_full_and_how_much_at_most() -> None:
    changes = [Change(20.0, 2, -50), Change(10.0, 2, 70), Change(5.0, 3, 1_000),
               Change(-3.0, 2, 10), Change(HORIZON_S + 1, 2, 1_000)]  # fmt: skip

    (found,) = profiles([CACHE], changes)

    assert found.points == [(0.0, 50), (10.0, 120), (20.0, 70)]
    assert found.peak == (10.0, 120)
    assert found.full_s == 10.0
    assert found.rows(15.0) == [(0.0, 120), (15.0, 120)]


def test_a_cache_of_unknown_size_is_never_full() -> None:
    (found,) = profiles([Cache(2, "farm", None, 0)], [Change(1.0, 2, 10**15)])

    assert found.full_s is None


def test_ready_packages_fill_the_caches_of_the_nodes_where_they_end_first() -> None:
    nodes = [NodeRoom(1, "slow", 2, 1, 0), NodeRoom(2, "fast", 3, 1, 0, speed=2.0)]
    alike = Alike(Requirement(1, 3, seconds=10.0), {0: 8, 3: 6}, {0: 8, 3: 6}, work=5, outputs=20)

    found = planned(nodes, {2: [Busy(1, 4.0)]}, [alike])

    assert [(change.at_s, change.cluster, change.bytes) for change in found] == [
        (4.0, 3, 7), (9.0, 3, 7),
        (0.0, 2, 13), (10.0, 2, 7), (10.0, 3, -6),
        (9.0, 3, 7), (14.0, 3, 7),
    ]  # fmt: skip


@pytest.mark.parametrize(("seconds", "most"), [(1.0, MOST_PLANNED), (HORIZON_S, 2)])
def test_no_more_is_planned_than_begins_in_time(seconds: float, most: int) -> None:
    alike = Alike(Requirement(1, 10**6, seconds=seconds), {}, {}, work=0, outputs=1)

    assert len(planned([NodeRoom(1, "n1", 2, 1, 0)], {}, [alike])) == most


@pytest.mark.parametrize(("free", "changes"), [(30, 2), (29, 0)])
@pytest.mark.parametrize(("space", "inputs"), [(30, {}), (None, {0: 50, 2: 20})])
def test_nothing_is_planned_where_a_cache_has_no_room_for_it(
    space: int | None, inputs: dict[int, float], free: int, changes: int
) -> None:
    full = NodeRoom(1, "n1", 2, 1, 0, disk=100, disk_free=free)
    alike = Alike(Requirement(1, 1, seconds=10.0, space=space), inputs, {}, work=10, outputs=20)

    assert len(planned([full], {}, [alike])) == changes


@pytest.mark.parametrize(("others", "number"), [(0, 4), (45, 2), (75, 0)])
def test_packages_are_planned_as_long_as_the_cache_has_room_beside_those_before(
    others: float, number: int
) -> None:
    farm = [NodeRoom(at, f"n{at}", 2, 4, 0, disk=200, disk_free=100) for at in (1, 2)]
    alike = Alike(Requirement(1, 9, seconds=10.0, space=30), {}, {}, work=10, outputs=20)

    found = planned(farm, {}, [alike], [Change(5.0, 2, others), Change(5.0, 3, 500)])

    assert sum(change.bytes for change in found) == number * 20
