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


def test_bytes_and_files_of_transfers_take_their_time_each(store: Store) -> None:
    node = farm(store)
    cluster = registry.named(store, "farm").cluster_id
    with store.writing():
        links.note(store, 0, node, 10_000, 20.0, files=100, now=NOW)
        links.note(store, 0, node, 90_000_000, 10.0, now=NOW)

    found = placement.links(store)

    assert found.rate_of(1, cluster) == pytest.approx(90e6 / 9.8, rel=0.01)
    assert found.file_s_of(1, cluster) == pytest.approx(0.2, rel=0.01)
    assert found.seconds(cluster, 90e6, 1, 1) == pytest.approx(10.0)
    assert found.rate_of(5, cluster) == found.rate_of(1, cluster)
    assert (found.rate_of(1, 1), found.file_s_of(1, 1)) == (found.rate, found.file_s)


def test_the_latest_transfers_of_a_link_count_most(store: Store) -> None:
    node = farm(store)
    cluster = registry.named(store, "farm").cluster_id
    with store.writing():
        for now, took_s in ((NOW, 2.0), (NOW + links.HALF_LIFE_S, 50.0)):
            links.note(store, 0, node, 100_000_000, took_s, now=now)

    found = placement.links(store).seconds(cluster, 100e6, 1, 1)

    assert found == pytest.approx((1.0 + 50.0) / 1.5)


def test_small_files_do_not_make_the_bytes_of_a_link_slow(store: Store) -> None:
    node = farm(store)
    cluster = registry.named(store, "farm").cluster_id
    with store.writing():
        for number in range(1, 5):
            links.note(store, 0, node, 1_000 * number, 0.1 * number, files=number, now=NOW)

    found = placement.links(store)

    assert found.seconds(cluster, 10_000, 10, 1) == pytest.approx(1.0)
    assert found.seconds(cluster, 100e6, 1, 1) == pytest.approx(1.1, rel=0.05)


def test_bytes_of_a_slow_link_take_what_files_can_not_have_taken(store: Store) -> None:
    node = farm(store)
    cluster = registry.named(store, "farm").cluster_id
    with store.writing():
        links.note(store, 0, node, 100_000, 10.5, now=NOW)

    assert placement.links(store).rate_of(1, cluster) == pytest.approx(10_000)


def test_transfers_within_a_cluster_or_without_bytes_or_time_say_nothing(store: Store) -> None:
    node = farm(store)
    with store.writing():
        links.note(store, 0, node, 0, 1.0, now=NOW)
        links.note(store, 0, node, 10_000_000, 0.0, now=NOW)
        links.note(store, 0, 0, 10_000_000, 1.0, now=NOW)

    assert not placement.links(store).rates


def test_the_rates_of_a_link_go_with_its_cluster(store: Store) -> None:
    node = farm(store)
    with store.writing():
        links.note(store, node, 0, 10_000_000, 1.0, now=NOW)
        registry.forget(store, "farm", now=NOW)

    assert not placement.links(store).rates
