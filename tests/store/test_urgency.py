"""Run times of packages: which come first, and where they go."""

import pytest
from msgspec.structs import replace

from d0ctl.jobfile.spec import LineSpec, PackageSpec
from d0ctl.store import Store
from d0ctl.store.attempts import messages
from d0ctl.store.jobs.submission import urgency
from d0ctl.store.nodes import placement
from tests.store.catalogue import entry, keep
from tests.support.jobs import binary, job, package, stage, submitted
from tests.support.rows import change, read
from tests.support.site import Site

DAY = 86400.0


def timed(
    seconds: float | None, inputs: tuple[str, ...] = (), outputs: tuple[str, ...] = ()
) -> PackageSpec:
    """A package of one binary with an expected run time."""
    return package(binary("true", inputs, outputs, runtime=seconds))


def order(store: Store) -> list[tuple[float, float | None]]:
    """Rank and run time of the requirements with ready packages, the first first."""
    return [
        (requirement.rank, requirement.seconds) for requirement in placement.requirements(store)
    ]


def test_the_package_with_the_longest_chain_behind_it_comes_first(store: Store) -> None:
    submitted(store, job("dag", [
        timed(5.0, (), ("a",)), timed(2.0, (), ("b",)),
        timed(30.0, ("b",), ("c",)), timed(1.0, ("a", "c")),
    ]))  # fmt: skip

    assert order(store) == [(33.0, 2.0), (6.0, 5.0)]


def test_lines_and_stages_that_come_after_others_count_like_readers_of_files(store: Store) -> None:
    first = LineSpec("first", (timed(2.0), timed(3.0)))
    second = LineSpec("second", (timed(7.0),), after=((1, 1),))
    last = replace(stage(timed(20.0)), after=(1,))
    submitted(store, job("one", stage(first, second, timed(1.0)), last))

    assert order(store) == [(32.0, 2.0), (21.0, 1.0)]


def test_unknown_run_times_count_as_usual_ones_and_the_catalogue_has_those_of_software(
    store: Store,
) -> None:
    keep(store, entry(runtime=50.0))
    submitted(store, job("one", [
        timed(4.0), timed(None, (), ("a",)), timed(6.0, ("a",)),
        package(binary(software="reco/v1")),
    ]))  # fmt: skip

    assert order(store) == [(50.0, 50.0), (12.0, None), (4.0, 4.0)]


def test_packages_of_a_large_job_share_the_rank_of_their_stage(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(urgency, "MOST_EXACT", 10)
    makers = [timed(2.0, (), (f"a{n}",)) for n in range(8)]
    readers = [timed(3.0, (f"a{n}",)) for n in range(8)]
    submitted(store, job("one", makers, readers))

    assert read(store, "requirement", "rank", "seconds", by="id") == [(5.0, 2.0), (3.0, 3.0)]


def test_a_measured_run_time_is_that_of_a_standard_node(store: Store) -> None:
    submitted(store, job("one", [timed(15.0)]))
    requirement = placement.requirements(store)[0].id

    messages.keep_pace(store, messages.Applied(durations={requirement: [(10.0, 4.0), (30.0, 1.0)]}))

    assert read(store, "requirement", "pace", "seconds") == [(20.0, (15.0 + 35.0) / 2)]


def test_a_package_waits_for_a_fast_node_and_takes_the_slow_one_when_many_wait(
    store: Store,
) -> None:
    site = Site.of(store, "fast", cpus=1)
    with store.writing():
        change(store, "node", {"name": "fast"}, speed_asked=4.0)
    fast, slow = site.node("fast"), site.node("localhost")
    submitted(store, job("first", [timed(DAY)]))
    site.schedule()
    site.hand_out(fast)
    submitted(store, job("second", [timed(DAY)]))
    site.schedule()

    assert read(store, "v_package", "job", "node", by="package_id") == [
        ("first", "fast"), ("second", None)
    ]  # fmt: skip
    submitted(store, job("many", [timed(DAY) for _ in range(9)]))
    assert site.schedule() == 1
    nodes = [node for (node,) in read(store, "v_package", "node", by="package_id")]
    assert nodes.count(slow.name) == 1 and nodes[1] is None
