"""When stages and packages end that cool off, or that need what cooling packages make."""

import pytest
from msgspec.structs import replace

from d0ctl.jobfile.spec import JobSpec, StageSpec
from d0ctl.schedule.estimates import Range
from d0ctl.store import Store
from d0ctl.store.views.job_files import eta
from tests.store.test_urgency import timed
from tests.support.jobs import NOW, job, line, stage, submitted
from tests.support.rows import change
from tests.support.site import Site

TRY = NOW + 500
"""When the package that cools off is tried again."""


@pytest.fixture
def site(store: Store) -> Site:
    """This machine with four CPUs."""
    return Site.of(store, cpus=4)


def cool(store: Store, package: int = 1) -> None:
    """A package fails, and cools off."""
    for phase in ("assigned", "starting"):
        change(store, "package", {"id": package}, phase=phase)
    change(store, "package", {"id": package}, phase="cooloff", node_id=None, not_before=TRY)


def merged() -> JobSpec:
    """Two packages, one that reads what both make, one after that, one that reads the second."""
    return job("one", [timed(30.0, (), ("a",)), timed(30.0, (), ("b",))],
               [timed(20.0, ("a", "b"), ("c",))], [timed(10.0, ("c",), ("d",))],
               [timed(5.0, ("b",))])  # fmt: skip


def stage_end(store: Store, id: int, stage: int) -> Range | None:
    """When a stage of a job is estimated to end."""
    return eta.at(eta.horizon(store, now=NOW).stage_end(id, stage), NOW)


def ends(store: Store, id: int, stages: int) -> list[float]:
    """When the stages of a job end at the soonest, in seconds after the next try."""
    found = [stage_end(store, id, seq) for seq in range(1, stages + 1)]
    return [end.low - TRY for end in found if end is not None]


def test_stages_that_need_what_cools_off_end_after_it_and_others_when_they_would(
    store: Store, site: Site
) -> None:
    number = submitted(store, merged())

    cool(store)

    first, second, third, side = ends(store, number, 4)
    assert (first, second, third) == (30.0, 50.0, 60.0)
    assert side < -300.0
    whole = eta.end_of(store, number, now=NOW)
    assert whole is not None and whole.low == TRY + 60.0


def test_a_job_that_needs_a_file_of_a_job_that_cools_off_ends_after_it(
    store: Store, site: Site
) -> None:
    submitted(store, merged())
    other = submitted(store, job("two", [timed(7.0, ("one:c",), ("e",))], [timed(8.0, ("e",))]))

    cool(store)

    whole = eta.end_of(store, other, now=NOW)
    assert ends(store, other, 2) == [57.0, 65.0]
    assert whole is not None and whole.low == TRY + 65.0


def test_packages_begin_after_those_before_them_have_cooled_off(store: Store, site: Site) -> None:
    submitted(store, merged())

    cool(store)

    found = [eta.package_times(store, package, now=NOW) for package in (1, 3, 4, 5)]
    begins = [times.start.low - TRY for times in found if times is not None and times.start]
    assert begins[:3] == [0.0, 30.0, 50.0]
    assert begins[3] < -300.0


def followed(stages: list[StageSpec], after: tuple[int, ...] = ()) -> JobSpec:
    """A job of two stages, the second of which begins after others."""
    first, second = stages
    return job("one", first, replace(second, after=after))


@pytest.mark.parametrize(
    "spec",
    [followed([stage(timed(30.0)), stage(timed(20.0))], after=(1,)),
     job("one", stage(line(timed(30.0), timed(20.0)))),
     job("one", stage(timed(30.0), replace(line(timed(20.0)), after=((1, 1),))))],
    ids=["stage", "package", "line"],
)  # fmt: skip
def test_what_follows_without_a_file_begins_and_ends_after_what_cools_off(
    store: Store, site: Site, spec: JobSpec
) -> None:
    number = submitted(store, spec)

    cool(store)

    times = eta.package_times(store, 2, now=NOW)
    assert times is not None and times.start is not None
    assert times.start.low == TRY + 30.0
    assert ends(store, number, len(spec.stages))[-1] == 50.0


def test_a_node_of_another_speed_takes_another_time_after_the_cool_off(
    store: Store, site: Site
) -> None:
    number = submitted(store, merged())
    change(store, "node", speed_asked=2.0)

    cool(store)

    assert ends(store, number, 3) == [15.0, 25.0, 30.0]


def test_a_package_that_cools_off_delays_its_many_readers_and_what_they_make(
    store: Store, site: Site
) -> None:
    readers = [timed(0.25, ("a",), (f"b{n}",)) for n in range(1100)]
    merge = timed(10.0, tuple(f"b{n}" for n in range(1100)))
    number = submitted(store, job("one", [timed(30.0, (), ("a",))], readers, [merge]))

    cool(store)

    last = eta.package_times(store, 1102, now=NOW)
    assert ends(store, number, 3) == [30.0, 30.25, 40.25]
    assert last is not None and last.start is not None and last.start.low == TRY + 30.25
