"""Copies that have arrived, many at once."""

from itertools import groupby

import pytest

from d0ctl.store import Store
from d0ctl.store.files import copies
from d0ctl.store.files.copies import Arrival
from d0ctl.store.nodes import registry
from tests.store.test_files import file_id
from tests.support.homes import faults
from tests.support.jobs import NOW, job, phases, simple, submitted
from tests.support.site import Node, Site

FILES = 200


def waiting(store: Store) -> tuple[Site, Node, list[Arrival]]:
    """A package on a node that waits for many files, and these."""
    submitted(store, job("one", [simple(inputs=[f"/in/{n}" for n in range(FILES)])]))
    site = Site.of(store, "far", cpus=2)
    far = site.node("far")
    with store.writing():
        local = registry.named(store, "localhost").id
        store.change("drain_node", node=local, note=None, now=0.0)
    site.schedule()
    rows = copies.wanted(store, now=site.now, limit=2 * FILES)
    made = 1, "sha256:" + "0" * 64
    return site, far, [
        Arrival(row.file_id, far.cluster, 0, f"/far{row.name}", far.id, *made) for row in rows
    ]  # fmt: skip


def test_a_package_starts_when_the_last_of_its_files_has_come_once_or_twice(store: Store) -> None:
    site, far, arrivals = waiting(store)
    assert len(arrivals) == FILES
    for batch in (arrivals[:100], arrivals[50:-1], arrivals[:3]):
        with store.writing():
            copies.arrive(store, batch, now=NOW)
    assert site.hand_out(far) == 0

    with store.writing():
        copies.arrive(store, arrivals[-1:] * 2, now=NOW)

    assert site.hand_out(far) == 1
    assert {entry["path"] for entry in far.orders[0][1]["inputs"]} == {
        arrival.path for arrival in arrivals
    }
    assert faults(store) == {}


def test_a_batch_of_known_files_takes_a_few_statements_however_large(store: Store) -> None:
    arrivals = waiting(store)[2]
    counts = []
    for _ in ("first", "known"):
        for batch in (arrivals[:10], arrivals):
            statements: list[str] = []
            with store.writing():
                store.connection.set_trace_callback(statements.append)
                copies.arrive(store, batch, now=NOW)
                store.connection.set_trace_callback(None)
            counts.append(len([*groupby(statements)]))  # a trigger shows its statement again

    assert counts[3] <= counts[2]
    assert counts[2] <= 10 + 16


@pytest.mark.parametrize("is_copied_anew", [False, True])
def test_a_missing_copy_that_another_package_has_reported_is_no_failure_either(
    store: Store, is_copied_anew: bool
) -> None:
    submitted(store, job("one", [simple(inputs=["/in/raw"]) for _ in "ab"]))
    site = Site.of(store, "far", cpus=2)
    far = site.node("far")
    with store.writing():
        local = registry.named(store, "localhost").id
        store.change("drain_node", node=local, note=None, now=0.0)
    site.schedule()
    site.carry()
    assert site.hand_out(far) == 2
    site.order(far)
    far.disk.clear()
    first, second = far.attempts
    far.end(first, "successful")
    far.end(second, "successful")
    said = far.spool

    site.deliver(far, [message for message in said if message["attempt"] == first])
    if is_copied_anew:
        site.schedule()
        site.carry()
        assert site.hand_out(far) == 1
    site.deliver(far, far.spool)

    assert phases(store)["one/1/2/1"] == "ready"
    assert bool(copies.copies(store, file_id(store, "/in/raw"))) is is_copied_anew
    site.settle()
    assert set(phases(store).values()) == {"done"}
    assert faults(store) == {}
