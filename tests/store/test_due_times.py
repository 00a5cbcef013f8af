"""What is due at a time, after the clock of the control host was set back."""

from typing import Any

import pytest

from d0ctl.store import Store, due_times
from d0ctl.store.due_times import DOUBT, OVERDUE, left_s
from d0ctl.store.nodes import placement
from tests.store.failing import fail, launch, row, say, wait
from tests.support.jobs import NOW, job, simple, submitted
from tests.support.rows import change, insert, value
from tests.support.site import Site


@pytest.mark.parametrize(
    ("reason", "phase"), [("stage-in", "cooloff"), ("hook", "held")], ids=["cools", "held"]
)
def test_a_package_waits_no_longer_because_the_clock_was_set_back(
    store: Store, reason: str, phase: str
) -> None:
    say(store, hook={"tries": 0, "hold": True, "release": 300.0})
    submitted(store, job("one", [simple()]))
    launch(Site.of(store, cpus=2))
    fail(store, reason)
    assert row(store)["not_before"] == NOW + 300

    with store.writing():
        due_times.advance(store, 3600, now=NOW - 3500)

    assert wait(store, NOW - 3301) == phase
    assert wait(store, NOW - 3300) == "ready"


DUE: list[tuple[str, str, dict[str, Any]]] = [
    ("transfer", "not_before", {"file_id": 1, "cluster_id": 1, "wanted": NOW}),
    ("archive_copy", "not_before", {"node_id": 1, "checksum": "sha256:0"}),
    ("bad_node", "next_try", {"node_id": 1, "job_id": 1, "stage_id": 1, "since": NOW,
                              "began": NOW, "evidence": "{}"}),
    ("notice", "due", {"recipient": "eve", "kind": "ended", "subject_id": 1, "subject": "one",
                       "first": NOW, "last": NOW}),
    ("delivery", "not_before", {"recipient": "eve", "message_id": "1", "title": "one",
                                "made": NOW}),
]  # fmt: skip


@pytest.mark.parametrize(("table", "column", "rest"), DUE, ids=[table for table, *_ in DUE])
def test_nothing_waits_longer_because_the_clock_was_set_back(
    store: Store, table: str, column: str, rest: dict[str, Any]
) -> None:
    submitted(store, job("one", [simple(outputs=["made"])]))
    insert(store, table, **rest, **{column: NOW + 300})

    with store.writing():
        due_times.advance(store, 3600, now=NOW - 3600)

    assert value(store, table, column) == NOW - 3300


def running(**more: Any) -> Any:
    """A package that takes 10 s on a standard node and began at 0."""
    row = {"seconds": 10.0, "speed": 1.0, "since": 0.0, "queued": 0, "eta": None, "spread": None}
    return {**row, **more}


def test_a_narrow_estimate_is_trusted_until_a_package_is_overdue() -> None:
    narrow = running(spread=0.8)

    assert left_s(narrow, 9.0) == pytest.approx(1.0)
    assert left_s(narrow, 9.7) == pytest.approx(0.3)
    assert left_s(narrow, 10.2) == pytest.approx(0.8 / DOUBT)
    assert left_s(narrow, 10.5) == pytest.approx(OVERDUE * 10.5)


def test_by_a_wide_estimate_a_package_always_takes_a_part_of_its_time_longer() -> None:
    for package in (running(spread=15.0), running()):
        assert left_s(package, 9.7) == pytest.approx(OVERDUE * 9.7)
        assert left_s(package, 12.0) == pytest.approx(OVERDUE * 12.0)


@pytest.mark.parametrize(
    ("reported", "since"),
    [(0.15, NOW + 1.0), (30.0, NOW + 31.0)],
    ids=["at-once", "after-staging-in"],
)
def test_a_package_is_expected_to_end_by_when_it_began_not_by_when_that_was_known(
    store: Store, reported: float, since: float
) -> None:
    submitted(store, job("one", [simple()]))
    launch(Site.of(store, cpus=2))
    change(store, "attempt", launched=NOW, started=NOW + 1.0)
    change(store, "package", phase="running", changed=NOW + 1.0 + reported)
    change(store, "requirement", seconds=10.0)

    ((package,),) = placement.busy(store, now=since + 4.0).values()

    assert package.left_s == pytest.approx(6.0)


def test_a_node_whose_clock_is_slow_makes_no_package_begin_before_its_launch(store: Store) -> None:
    submitted(store, job("one", [simple()]))
    launch(Site.of(store, cpus=2))
    change(store, "attempt", launched=NOW, started=NOW - 0.5)
    change(store, "package", phase="running", changed=NOW + 0.2)
    change(store, "requirement", seconds=10.0, rank=45.0)

    ((package,),) = placement.busy(store, now=NOW + 4.0).values()

    assert package.left_s == pytest.approx(6.0)
    assert (package.job, package.after) == (1, 35.0)
