"""Estimates of run times, and of when jobs and packages begin and end."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from d0ctl.schedule.estimates import JobLeft, Range, StageLeft, guess
from d0ctl.schedule.horizon import Horizon
from d0ctl.schedule.quota import Capacity, Limit, LimitedNode
from d0ctl.schedule.rehearsal.records import Task
from d0ctl.schedule.rehearsal.run import LAUNCH_S, rehearse
from d0ctl.schedule.resources import NodeRoom, Requirement
from d0ctl.store.attempts.history import earlier_runs
from d0ctl.store.attempts.history.earlier_runs import MOST_RUNS, merged, run_time
from d0ctl.store.due_times import doubt

SECONDS = st.floats(0.1, 1e6)


@given(st.lists(SECONDS, min_size=1, max_size=MOST_RUNS))
def test_a_range_holds_its_middle_and_lies_within_twice_what_was_measured(
    values: list[float],
) -> None:
    found = earlier_runs.of(values)

    assert found is not None
    assert min(values) / 2 <= found.low <= found.middle <= found.high <= 2 * max(values)
    assert min(values) <= found.middle <= max(values)


def test_late_runs_count_more_than_early_ones() -> None:
    faster = earlier_runs.of([100.0] * 40 + [10.0] * 20)
    slower = earlier_runs.of([10.0] * 40 + [100.0] * 20)

    assert faster is not None and faster.middle < 50
    assert slower is not None and slower.middle > 50


@given(st.lists(SECONDS, max_size=200))
def test_only_the_latest_runs_are_kept_however_they_arrive(values: list[float]) -> None:
    at_once = merged({}, [{"seconds": value} for value in values])
    singly: dict[str, list[float]] = {}
    for value in values:
        singly = merged(singly, [{"seconds": value, "rss": None}])

    assert at_once == singly
    assert at_once.get("seconds", []) == values[-MOST_RUNS:]


def test_the_closest_history_decides_and_an_expectation_is_corrected_by_the_past() -> None:
    near, far = {"seconds": [10.0] * 9, "part": [2.0] * 9}, {"seconds": [99.0]}

    assert run_time(None, [near, far]) == earlier_runs.of([10.0] * 9)
    assert run_time(None, [{}, far]) == earlier_runs.of([99.0])
    found = run_time(30.0, [near])
    assert found is not None and found.middle == 60.0
    assert run_time(30.0, [far]) == guess(30.0)
    assert run_time(None, [{}], 7.0) == guess(7.0)
    assert run_time(None, []) is None


def left(packages: int, seconds: float, **more: object) -> JobLeft:
    """A job of one stage whose packages are all ready and take as long."""
    stage = StageLeft(1, packages, Range(seconds / 2, seconds, 2 * seconds), rank=seconds)
    return JobLeft("one", [stage], chain=seconds, **more)  # type: ignore[arg-type]


@given(st.integers(1, 40), SECONDS, st.integers(1, 8), st.sampled_from([0.5, 1.0, 4.0]))
def test_a_rehearsed_job_ends_within_the_estimated_range(
    packages: int, seconds: float, cpus: int, speed: float
) -> None:
    assume(seconds > 10)
    nodes = [NodeRoom(1, "n1", 1, cpus, 0, speed=speed)]
    tasks = [Task(1, seconds)] * packages
    took = rehearse(nodes, [Requirement(1, 0, seconds=seconds)], tasks, []).makespan_s

    found = Horizon(Capacity(cpus, cpus * speed, speed), {1: left(packages, seconds)}).end(1)

    assert found is not None
    assert found.low <= took <= found.high + LAUNCH_S * packages


def test_a_job_ends_after_those_that_come_before_it_unless_these_are_held() -> None:
    capacity = Capacity(2, 2.0, 1.0)
    both = Horizon(capacity, {1: left(10, 60.0), 2: left(10, 60.0)})
    alone = Horizon(capacity, {1: left(10, 60.0, is_halted=True), 2: left(10, 60.0)})

    first, second, only = both.end(1), both.end(2), alone.end(2)

    assert first is not None and second is not None and only is not None
    assert second.middle > 1.9 * first.middle - 60 and only == first
    assert alone.end(1) is None


def test_nothing_is_estimated_while_a_stage_that_is_left_is_not_known() -> None:
    unknown = JobLeft("one", [StageLeft(1, 3, Range(1, 2, 3)), StageLeft(2, 1, None)])
    known = JobLeft("one", [StageLeft(1, 3, Range(1, 2, 3)), StageLeft(2, 0, None)])

    assert unknown.unknown == [2]
    assert Horizon(Capacity(1, 1.0, 1.0), {1: unknown}).end(1) is None
    assert Horizon(Capacity(1, 1.0, 1.0), {1: known}).end(1) is not None
    assert Horizon(Capacity(0, 0.0, 1.0), {1: known}).end(1) is None


WHOLE = Capacity(8, 8.0, 1.0)


def middle(of: Horizon, job: int) -> float:
    end = of.end(job)
    assert end is not None
    return end.middle


def test_a_limit_of_a_job_holds_for_its_own_work_only() -> None:
    first, second = left(8, 100.0), left(8, 100.0, limits=[Limit("job", 2)])

    assert middle(Horizon(WHOLE, {1: second}), 1) >= 400.0
    assert 500.0 <= middle(Horizon(WHOLE, {1: first, 2: second}), 2) < 600.0


def test_jobs_that_share_a_limit_wait_for_each_other() -> None:
    shared = left(8, 100.0, limits=[Limit("researcher * emmy", 2)])
    other = left(8, 100.0, limits=[Limit("researcher * carl", 2)])
    of = Horizon(WHOLE, {1: shared, 2: shared, 3: other})

    assert middle(of, 2) >= 800.0 and middle(of, 3) < 700.0


def test_a_limit_counts_packages_and_not_their_cpus() -> None:
    wide = StageLeft(1, 8, Range(400, 400, 400), rank=100.0, cpus=4.0)
    narrow = StageLeft(1, 8, Range(100, 100, 100), rank=100.0)
    ends = [middle(Horizon(WHOLE, {1: JobLeft("one", [stage], limits=[Limit("job", 2)])}), 1)
            for stage in (wide, narrow)]  # fmt: skip

    assert ends == [400.0, 400.0]


def test_a_limit_of_a_stage_holds_for_its_packages_only() -> None:
    seconds = Range(100, 100, 100)
    limited = StageLeft(2, 8, seconds, rank=100.0, limits=[Limit("stage", 1)])
    job = JobLeft("one", [StageLeft(1, 8, seconds, rank=200.0), limited])

    assert middle(Horizon(WHOLE, {1: job}), 1) == 900.0


def test_packages_are_sent_to_nodes_no_faster_than_a_limit_of_launches_allows() -> None:
    slow = left(60, 1.0, limits=[Limit("job", rate=10 / 60)])
    of = Horizon(WHOLE, {1: slow})
    start = of.start(1, 1, 1.0)

    assert middle(of, 1) >= 360.0
    assert start is not None and start.high >= 360.0


def test_throttles_of_nodes_leave_fewer_slots() -> None:
    throttled = Capacity(8, 8.0, 1.0, [LimitedNode(6, 1.0, [Limit("node", 2), Limit("node", 4)])])

    assert throttled.usable(1.0, 100.0, []) == 4.0
    assert throttled.usable(3.0, 100.0, []) == 8.0
    assert middle(Horizon(throttled, {1: left(8, 100.0), 2: left(8, 100.0)}), 2) >= 400.0


def test_a_job_does_not_end_before_its_packages_have_cooled_off() -> None:
    capacity = Capacity(4, 4.0, 1.0)
    at_once = Horizon(capacity, {1: left(1, 60.0)}).end(1)
    later = Horizon(capacity, {1: left(1, 60.0, cooling=300.0)}).end(1)

    assert at_once is not None and at_once.middle < 300.0
    assert later is not None and later.low == 300.0


def test_a_stage_does_not_end_before_its_packages_have_cooled_off_and_run() -> None:
    first = StageLeft(1, 1, Range(5, 10, 20), rank=20.0, cooling=310.0)
    stages = [first, StageLeft(2, 1, Range(5, 10, 20), rank=10.0)]
    job = JobLeft("one", stages, chain=20.0, cooling=320.0)
    of = Horizon(Capacity(4, 4.0, 1.0), {1: job})

    ends = [of.stage_end(1, 1), of.stage_end(1, 2), of.end(1)]

    lows = [end.low if end is not None else None for end in ends]
    assert lows[0] == 310.0 and lows[2] == 320.0
    assert lows[1] is not None and lows[1] < 60.0


def test_a_job_that_waits_for_a_node_that_is_down_has_no_end() -> None:
    stranded = Horizon(Capacity(4, 4.0, 1.0), {1: left(4, 60.0, nodes_down=["n1"])})

    assert (stranded.end(1), stranded.nodes_down(1)) == (None, ["n1"])
    assert (stranded.start(1, 1, 0.0), stranded.nodes_down(2)) == (None, ())


def test_an_early_progress_report_leaves_a_wide_range_and_a_late_one_a_narrow_one() -> None:
    factors = [doubt(0.0, 100.0, now) for now in (0.0, 1.0, 10.0, 50.0, 100.0, 200.0)]

    assert factors == pytest.approx([101.0, 11.0, 2.0, 1.2, 1.1, 1.1])
    begun = JobLeft("a", begun=Range(30.0, 60.0, 120.0), chain=60.0)
    found = Horizon(Capacity(1, 1.0, 1.0), {1: begun}).end(1)
    assert found is not None
    assert found.low <= 30.0 and found.high >= 120.0


def test_a_job_of_which_nothing_is_left_has_no_end() -> None:
    over = JobLeft("one", [StageLeft(1, 0, Range(1, 2, 3))])

    assert Horizon(Capacity(1, 1.0, 1.0), {1: over}).end(1) is None


@given(st.integers(1, 50), st.floats(1, 100), st.floats(0, 100))
def test_no_package_begins_later_than_its_job_ends(
    packages: int, seconds: float, rank: float
) -> None:
    of = Horizon(Capacity(4, 6.0, 2.0), {1: left(packages, seconds)})
    start, end = of.start(1, 1, rank), of.end(1)

    assert start is not None and end is not None
    assert 0 <= start.low <= start.middle <= start.high <= end.high


@given(st.integers(1, 50), SECONDS, st.integers(1, 50), SECONDS, st.integers(1, 8))
def test_a_stage_ends_after_those_before_it_and_the_last_one_with_its_job(
    many: int, long: float, few: int, short: float, cpus: int
) -> None:
    stages = [StageLeft(1, many, Range(long, long, long), rank=long + short),
              StageLeft(2, few, Range(short, short, short), rank=short)]  # fmt: skip
    of = Horizon(Capacity(cpus, cpus, 1.0), {1: JobLeft("one", stages, chain=long + short)})

    first, last, whole = of.stage_end(1, 1), of.stage_end(1, 2), of.end(1)

    assert first is not None and last is not None
    assert max(long, many * long / cpus) <= first.middle * 1.001
    assert first.low <= first.middle <= first.high and first.middle <= last.middle
    assert last == whole
    assert of.stage_end(1, 3) is None


def test_nothing_is_estimated_behind_so_many_packages_of_unknown_run_time_as_there_are_cpus() -> (
    None
):
    capacity, own = Capacity(2, 2.0, 1.0), left(8, 60.0)
    blind, few = JobLeft("new", [StageLeft(1, 2, None)]), JobLeft("new", [StageLeft(1, 1, None)])
    of = Horizon(capacity, {1: blind, 2: own})

    assert of.unknown_ahead(2) is blind
    assert (of.end(2), of.stage_end(2, 1), of.start(2, 1, 60.0)) == (None, None, None)
    assert Horizon(capacity, {1: few, 2: own}).end(2) is not None
    assert Horizon(capacity, {1: own, 2: blind}).end(1) is not None
    last = StageLeft(1, 0, Range(5, 10, 20), running=6.0)
    running = JobLeft("old", [last], begun=Range(3, 6, 12))
    assert Horizon(capacity, {1: blind, 2: running}).stage_end(2, 1) == Range(3.0, 6.0, 12.0)


def test_a_stage_ends_although_a_later_one_is_not_known() -> None:
    first, later = StageLeft(1, 8, Range(5, 10, 20), rank=20.0), StageLeft(2, 1, None, rank=10.0)
    known = Horizon(Capacity(2, 2.0, 1.0), {1: JobLeft("one", [first, later], chain=20.0)})
    earlier = StageLeft(2, 1, None, rank=30.0)
    unknown = Horizon(Capacity(2, 2.0, 1.0), {1: JobLeft("one", [first, earlier], chain=30.0)})

    end = known.stage_end(1, 1)

    assert end is not None and 40.0 <= end.middle < 60.0
    assert (known.end(1), known.stage_end(1, 2)) == (None, None)
    assert known.start(1, 1, 20.0) is not None and known.start(1, 2, 10.0) is None
    assert unknown.stage_end(1, 1) is None and unknown.start(1, 1, 20.0) is None


def test_a_stage_of_which_all_packages_are_on_nodes_ends_with_the_last_of_them() -> None:
    stages = [StageLeft(1, 0, Range(5, 10, 20), rank=20.0, running=6.0), StageLeft(2, 1, None)]
    of = Horizon(Capacity(2, 2.0, 1.0), {1: JobLeft("one", stages, chain=20.0)})

    assert of.stage_end(1, 1) == Range(3.0, 6.0, 12.0)


def test_packages_of_two_kinds_take_their_mean_together() -> None:
    both = earlier_runs.mean_of([5.0, 0.05] * 16)

    assert both is not None and both.middle == pytest.approx(2.5, rel=0.1)
    assert both.low < 0.05 and both.high > 5.0
    assert earlier_runs.mean_of([]) is None


@given(st.lists(st.floats(0.001, 1000.0), min_size=1, max_size=64))
def test_a_mean_is_within_its_range(values: list[float]) -> None:
    found, quantiles = earlier_runs.mean_of(values), earlier_runs.of(values)

    assert found is not None and quantiles is not None
    assert quantiles.low == found.low <= found.middle <= found.high == quantiles.high


def test_the_error_of_estimates_is_a_factor_in_either_direction() -> None:
    assert earlier_runs.error([(10.0, 20.0), (20.0, 10.0), (10.0, 10.0)]) == pytest.approx(2.0)
    assert earlier_runs.error([]) is None
