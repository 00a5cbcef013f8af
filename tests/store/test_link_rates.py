"""What transfers show of the links between clusters."""

import pytest

from d0ctl.model import Address
from d0ctl.store import Store
from d0ctl.store.files import links
from d0ctl.store.nodes import placement, registry
from tests.support.jobs import NOW


def farm(store: Store) -> int:
    """A node in a cluster of its own."""
    return registry.add(store, Address("farm", "ssh", "farm"), cpus=1)


def test_a_link_is_as_fast_as_its_transfers_were_the_latest_counting_most(store: Store) -> None:
    node = farm(store)
    cluster = registry.named(store, "farm")["cluster_id"]
    with store.writing():
        links.note(store, 0, node, 10_000_000, 10.0, now=NOW)
        links.note(store, 0, node, 90_000_000, 10.0, now=NOW + links.HALF_LIFE_S)

    found = placement.links(store)

    assert found.rate_of(1, cluster) == pytest.approx(95e6 / 15)
    assert found.rate_of(5, cluster) == found.rate_of(1, cluster)
    assert found.rate_of(1, 1) == found.rate


def test_small_transfers_and_those_within_a_cluster_say_nothing(store: Store) -> None:
    node = farm(store)
    with store.writing():
        links.note(store, 0, node, links.LEAST_BYTES - 1, 1.0, now=NOW)
        links.note(store, 0, node, 10_000_000, 0.0, now=NOW)
        links.note(store, 0, 0, 10_000_000, 1.0, now=NOW)

    assert not placement.links(store).rates


def test_the_rates_of_a_link_go_with_its_cluster(store: Store) -> None:
    node = farm(store)
    with store.writing():
        links.note(store, node, 0, 10_000_000, 1.0, now=NOW)
        registry.forget(store, "farm", now=NOW)

    assert not placement.links(store).rates
