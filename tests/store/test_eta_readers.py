"""When jobs and packages end that wait for files of other jobs."""

from itertools import pairwise

import pytest

from d0ctl.schedule.estimates import Range
from d0ctl.store import Store
from d0ctl.store.due_times import PackageTimes
from d0ctl.store.views.job_files import eta
from tests.store.test_urgency import timed
from tests.support.jobs import NOW, job, stage, submitted
from tests.support.rows import change, value
from tests.support.site import Site


@pytest.fixture
def site(store: Store) -> Site:
    """This machine with four CPUs."""
    return Site.of(store, cpus=4)


def chain(store: Store, **more: object) -> int:
    """Submit a job whose file `b` takes 40 s, one package after another."""
    makers = [timed(20.0, (), ("a",))], [timed(20.0, ("a",), ("b",))]
    return submitted(store, job("chain", *makers, **more))


def seconds(end: Range | None) -> float:
    """The middle of an estimate, in seconds from now."""
    assert end is not None
    return end.middle - NOW


def whole(store: Store, id: int) -> float:
    """In how many seconds a job ends."""
    return seconds(eta.end_of(store, id, now=NOW))


def package(store: Store, path: str) -> PackageTimes:
    """When a package begins and ends."""
    times = eta.package_times(store, value(store, "v_package", "package_id", path=path), now=NOW)
    assert times is not None
    return times


def test_a_job_that_waits_for_a_file_of_another_one_ends_after_the_chain_that_makes_it(
    store: Store, site: Site
) -> None:
    maker = chain(store)

    reader = submitted(store, job("reader", [timed(2.0, ("chain:b",), ("c",))],
                                  [timed(3.0, ("c",))], [timed(1.0)]))  # fmt: skip

    made = whole(store, maker)
    of = eta.horizon(store, now=NOW)
    ends = [seconds(eta.at(of.stage_end(reader, seq), NOW)) for seq in (1, 2, 3)]
    assert made >= 40.0
    assert ends[:2] == pytest.approx([made + 2.0, made + 5.0], rel=0.1) and ends[2] < 20.0
    assert whole(store, reader) == max(ends)
    first, last = package(store, "reader/1/1/1"), package(store, "reader/2/1/1")
    assert seconds(first.start) == pytest.approx(made, rel=0.1)
    assert seconds(first.end) == pytest.approx(made + 2.0, rel=0.1)
    assert seconds(last.start) == pytest.approx(made + 2.0, rel=0.1)


def test_each_of_several_jobs_in_a_row_ends_after_the_one_before_it(
    store: Store, site: Site
) -> None:
    ids = [chain(store)]
    ids += [submitted(store, job("two", [timed(100.0, ("chain:b",), ("c",))])),
            submitted(store, job("three", [timed(30.0, ("two:c",))]))]  # fmt: skip

    ends = [whole(store, id) for id in ids]

    assert [later - end for end, later in pairwise(ends)] == pytest.approx([100.0, 30.0], rel=0.1)
    assert seconds(package(store, "three/1/1/1").end) == pytest.approx(ends[2], rel=0.1)


def test_packages_that_wait_for_one_file_begin_together_and_those_for_many_one_by_one(
    store: Store, site: Site
) -> None:
    maker = submitted(
        store, job("make", [timed(100.0, (), (f"a{n}",)) for n in range(40)], priority=10)
    )
    one = submitted(store, job("one", [timed(10.0, ("make:a0",)) for _ in range(40)]))
    many = submitted(store, job("many", [timed(10.0, (f"make:a{n}",)) for n in range(40)]))

    made = whole(store, maker)
    first = seconds(package(store, "make/1/1/1").end)
    ends = whole(store, one), whole(store, many)

    assert first + 100.0 <= ends[0] <= first + 120.0
    assert made + 10.0 <= ends[1] <= made + 20.0


def test_a_job_has_no_end_while_the_run_time_of_the_packages_that_it_waits_for_is_unknown(
    store: Store, site: Site
) -> None:
    maker = submitted(store, job("maker", [timed(5.0, (), ("a",))],
                                 [timed(None, ("a",), ("b",))]))  # fmt: skip
    early = submitted(store, job("early", [timed(2.0, ("maker:a",), ("c",))]))
    late = submitted(store, job("late", [timed(1.0)], [timed(2.0, ("maker:b",), ("d",))]))
    last = submitted(store, job("last", [timed(2.0, ("late:d",))]))

    of = eta.horizon(store, now=NOW)

    assert [of.end(id) for id in (maker, late, last)] == [None, None, None]
    assert of.end(early) is not None and of.stage_end(late, 1) is not None
    assert [of.jobs[id].endless_makers for id in (early, late, last)] == [[], [maker], [late]]
    reader = value(store, "v_package", "package_id", path="late/2/1/1")
    assert eta.package_times(store, reader, now=NOW) is None


def test_a_job_more_than_one_away_from_a_paused_one_has_no_end(store: Store, site: Site) -> None:
    maker = chain(store)
    reader = submitted(store, job("reader", [timed(2.0, ("chain:b",), ("c",))]))
    last = submitted(store, job("last", [timed(2.0, ("reader:c",))]))

    change(store, "job", {"id": maker}, pause=1)

    assert [eta.end_of(store, id, now=NOW) for id in (reader, last)] == [None, None]
    assert eta.horizon(store, now=NOW).jobs[last].endless_makers == [reader]


def test_a_held_package_counts_in_no_end_of_those_that_wait_for_others_of_its_stage(
    store: Store, site: Site
) -> None:
    makers = stage(*(timed(20.0, (), (f"a{n}",)) for n in range(3)))
    submitted(store, job("make", makers))
    reader = submitted(store, job("reader", [timed(5.0, (f"make:a{n}",)) for n in range(3)]))

    change(store, "package", {"id": 1}, phase="held")

    assert 25.0 <= whole(store, reader) < 60.0
    assert eta.horizon(store, now=NOW).jobs[reader].stuck == 1
