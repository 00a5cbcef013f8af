"""When a package begins, by the work that comes before it."""

import math

import pytest
from msgspec.structs import replace

from d0ctl.schedule.estimates import JobLeft, Range, StageLeft
from d0ctl.schedule.horizon import Horizon
from d0ctl.schedule.quota import Capacity


def test_a_package_does_not_begin_before_the_many_that_come_first() -> None:
    seconds = Range(9, 10, 11)
    many = StageLeft(1, 100, seconds, runs=50, rank=20.0)
    of = Horizon(Capacity(2, 2.0, 1.0), {1: JobLeft("one", [many, StageLeft(
        2, 1, seconds, runs=50, rank=10.0)], chain=20.0)})  # fmt: skip
    few = Horizon(Capacity(200, 200.0, 1.0), of.jobs)

    merge, ready, at_once = of.start(1, 2, 10.0), of.start(1, 1, 20.0, 60), few.start(1, 2, 10.0)

    assert merge is not None and 400.0 < merge.low < 500.0 <= merge.middle
    assert ready is not None and 200.0 < ready.low < 300.0 <= ready.middle
    assert at_once is not None and at_once.low == 10.0


def test_a_package_begins_after_those_that_are_ready_before_it() -> None:
    stage = StageLeft(1, 40, Range(2.0, 2.0, 2.0), rank=4.0)
    of = Horizon(Capacity(2, 2.0, 1.0), {1: JobLeft("one", [stage], chain=4.0)})

    starts = [of.start(1, 1, 4.0, before) for before in (0, 10, 30)]

    assert [start and start.middle for start in starts] == [0.0, 10.0, 30.0]
    unknown = of.start(1, 1, 4.0)
    assert unknown is not None and unknown.middle == 20.0


def running(packages: int, seconds: float, **more: object) -> JobLeft:
    """A job of which so many packages run, all for as long, and none waits."""
    each = Range(seconds, seconds, seconds)
    stage = StageLeft(1, 0, each, rank=seconds, running=seconds)
    begun = each.times(packages)
    return JobLeft("runs", [stage], begun, chain=seconds, is_on_nodes=True, **more)  # type: ignore[arg-type]


SHORT = JobLeft("waits", [StageLeft(1, 20, Range(6.0, 6.0, 6.0), rank=6.0)], chain=6.0)


def test_a_job_whose_packages_have_all_begun_ends_with_the_longest_and_waits_for_nobody() -> None:
    of = Horizon(Capacity(4, 4.0, 1.0), {1: SHORT, 2: running(4, 48.0)}, next_free=48.0)

    assert of.end(2) == Range(48.0, 48.0, 48.0)
    assert (of.before(2), of.before(1)) == (0.0, 0.0)


@pytest.mark.parametrize(
    ("keeps", "seconds", "ends"),
    [(4, 48.0, 48.0 + 30.0), (1, 3600.0, 40.0), (2, 20.0, 40.0)],
)
@pytest.mark.parametrize("is_halted", [False, True])
def test_a_job_does_its_work_on_cpus_that_others_do_not_keep(
    keeps: int, seconds: float, ends: float, is_halted: bool
) -> None:
    short, long = (1, SHORT), (2, running(keeps, seconds, is_halted=is_halted))
    free = seconds if keeps == 4 else 0.0
    of = Horizon(Capacity(4, 4.0, 1.0), dict([long, short] if is_halted else [short, long]), free)

    end, stage_end, last = of.end(1), of.stage_end(1, 1), of.start(1, 1, 6.0, 19)

    assert end is not None and end == stage_end
    assert end.low == ends and end.middle == pytest.approx(ends, rel=0.02)
    assert last is not None and last.middle == pytest.approx(ends, abs=2.0)


ONE = StageLeft(1, 1, Range(1.0, 2.0, 4.0), rank=2.0)


def test_a_job_begins_when_packages_of_others_leave_their_cpus() -> None:
    job = JobLeft("one", [ONE], chain=2.0, queue=10.0 + 2.0)
    of = Horizon(Capacity(1, 1.0, 1.0), {1: job}, next_free=10.0)

    assert of.start(1, 1, 2.0, 0) == Range(5.0, 10.0, 20.0)
    assert of.end(1) == of.stage_end(1, 1) == Range(6.0, 12.0, 24.0)


def test_nothing_is_estimated_while_nobody_knows_when_cpus_are_free() -> None:
    job = JobLeft("one", [ONE], chain=2.0, queue=math.inf)
    of = Horizon(Capacity(1, 1.0, 1.0), {1: job}, next_free=math.inf)

    assert (of.start(1, 1, 2.0, 0), of.end(1), of.stage_end(1, 1)) == (None, None, None)


def test_packages_that_only_a_retry_runs_do_not_wait_for_cpus() -> None:
    stuck = StageLeft(2, 0, Range(50.0, 60.0, 70.0), rank=60.0, stuck=1)
    job = JobLeft("one", [ONE, stuck], chain=62.0)
    waits = replace(job, queue=62.0)

    ends = [Horizon(Capacity(1, 1.0, 1.0), {1: of}).end(1) for of in (job, waits)]

    assert ends[0] is not None and ends[0] == ends[1]
