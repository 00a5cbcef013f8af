"""Ranks of packages, and the classes into which they are rounded."""

from functools import cache

from hypothesis import given
from hypothesis import strategies as st

from d0ctl.schedule.critical_path import MOST_CLASSES, classes, ranks

times = st.floats(0.125, 1000)


@given(st.lists(st.tuples(times, st.sets(st.integers(0, 20))), max_size=20))
def test_a_rank_is_the_longest_way_to_the_end(steps: list[tuple[float, set[int]]]) -> None:
    seconds = [took for took, _ in steps]
    before = [{other for other in wanted if other < step} for step, (_, wanted) in enumerate(steps)]

    @cache
    def longest(step: int) -> float:
        after = [other for other, wanted in enumerate(before) if step in wanted]
        return seconds[step] + max((longest(other) for other in after), default=0.0)

    found = ranks(seconds, before)

    assert found == [longest(step) for step in range(len(steps))]


def test_steps_that_wait_for_one_another_end_the_search() -> None:
    assert ranks([1.0, 2.0, 4.0], [{1}, {0}, {0}]) == [1.0, 2.0, 4.0]


@given(st.lists(st.tuples(times, st.none() | times), min_size=1, max_size=900))
def test_there_are_few_classes_and_of_distinct_times_those_that_differ_much_stay_apart(
    pairs: list[tuple[float, float | None]],
) -> None:
    found = classes(["stage"] * len(pairs), pairs)

    assert len(set(found)) <= MOST_CLASSES + 1
    assert min(rank for rank, _ in found) >= min(rank for rank, _ in pairs) * (1 - 1e-9)


def test_only_equal_packages_share_a_class() -> None:
    found = classes(["a", "a", "a", "b"], [(10.0, 2.0), (10.0, 2.0), (5.0, None), (10.0, 2.0)])

    assert found == [(10.0, 2.0), (10.0, 2.0), (5.0, None), (10.0, 2.0)]
