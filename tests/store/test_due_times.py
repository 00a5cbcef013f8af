"""What is due at a time, after the clock of the control host was set back."""

from typing import Any

import pytest

from d0ctl.store import Store, due_times
from tests.store.failing import fail, launch, row, say, wait
from tests.support.jobs import NOW, job, simple, submitted
from tests.support.rows import insert, value
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
                              "began": NOW, "evidence": "it failed", "details": "{}"}),
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
