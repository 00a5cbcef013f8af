"""When jobs end behind others that limits keep from some of the CPUs."""

from collections.abc import Sequence
from itertools import count

import pytest

from d0ctl.schedule.estimates import JobLeft, Range, StageLeft
from d0ctl.schedule.horizon import Horizon
from d0ctl.schedule.quota import Capacity, Limit

NUMBERS = count()
SITE = Capacity(4, 4.0, 1.0)


def stage(
    packages: int, seconds: float, *limits: Limit, seq: int = 1, after: float = 0.0
) -> StageLeft:
    """A stage of which each package takes this time, and the rest of its chains some more."""
    each = Range(seconds, seconds, seconds)
    return StageLeft(seq, packages, each, rank=seconds + after, limits=limits)


def job(*stages: StageLeft, limits: Sequence[Limit] = ()) -> JobLeft:
    return JobLeft("one", stages, chain=max(of.rank for of in stages), limits=limits)


def at_most(packages: int) -> list[Limit]:
    """A limit of a job alone."""
    return [Limit(f"job {next(NUMBERS)}", packages)]


def ends(*jobs: JobLeft) -> list[float]:
    """When jobs end, in their order, without what the longest chain adds."""
    of = Horizon(SITE, dict(enumerate(jobs)))
    return [end.low if (end := of.end(id)) else -1.0 for id in of.jobs]


def test_a_job_uses_the_cpus_that_a_limited_one_before_it_never_uses() -> None:
    first = job(stage(40, 3.0), limits=at_most(2))

    assert ends(first, job(stage(10, 3.0))) == [60.0, 15.0]
    assert ends(first, job(stage(60, 3.0))) == [60.0, 75.0]
    assert ends(job(stage(40, 3.0), limits=at_most(4)), job(stage(10, 3.0))) == [30.0, 37.5]


def test_a_limited_job_begins_when_the_ones_before_it_leave_it_cpus() -> None:
    free = job(stage(40, 3.0))

    assert ends(free, job(stage(10, 3.0), limits=at_most(1))) == [30.0, 60.0]
    assert ends(free, job(stage(10, 3.0), limits=at_most(1)), free) == [30.0, 60.0, 67.5]


def test_limited_jobs_run_beside_each_other_as_far_as_there_are_cpus() -> None:
    three = [job(stage(20, 3.0), limits=at_most(2)) for _ in range(3)]

    assert ends(*three, job(stage(20, 3.0))) == [30.0, 30.0, 60.0, 60.0]


def test_a_job_uses_what_a_limited_stage_leaves_after_the_stages_before_it() -> None:
    first = job(stage(40, 3.0, after=3.0), stage(10, 3.0, Limit("stage", 1), seq=2))

    assert ends(first, job(stage(5, 3.0))) == [60.0, 35.0]
    of = Horizon(SITE, {1: first, 2: job(stage(5, 3.0))})
    begin = of.start(2, 1, 3.0, 0)
    assert begin is not None and begin.middle == 30.0


@pytest.mark.parametrize(
    ("packages", "expected"), [(2, [30.0, 60.0, 15.0]), (4, [15.0, 30.0, 37.5])]
)
def test_jobs_that_share_a_limit_leave_the_rest_to_others(
    packages: int, expected: list[float]
) -> None:
    shared = job(stage(20, 3.0), limits=[Limit("researcher * emmy", packages)])

    assert ends(shared, shared, job(stage(10, 3.0))) == expected


def test_what_a_job_on_hold_would_use_is_free_for_others() -> None:
    halted = JobLeft("on hold", [stage(40, 3.0)], chain=3.0, limits=at_most(2), is_halted=True)

    assert ends(halted, job(stage(10, 3.0)))[1] == 7.5


def test_ends_do_not_depend_on_which_are_asked_for_first() -> None:
    jobs = {id: job(stage(5 + id, 3.0), limits=at_most(1 + id % 3)) for id in range(8)}
    running = JobLeft("runs", [StageLeft(1, 2, Range(3, 3, 3), rank=3.0, running=2.0)],
                      begun=Range(2, 2, 2), chain=3.0)  # fmt: skip
    jobs |= {8: running, 9: job(stage(3, 3.0))}
    of, other = Horizon(SITE, jobs), Horizon(SITE, jobs)

    assert [of.end(id) for id in jobs] == [other.end(id) for id in reversed(jobs)][::-1]
    assert [Horizon(SITE, jobs).end(id) for id in jobs] == [of.end(id) for id in jobs]
