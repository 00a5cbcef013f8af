"""How much of a cache with a capacity is in use: alike on all screens, whatever its disk has."""

import time

import pytest

from d0ctl.model import Address
from d0ctl.store import Store
from d0ctl.store.clusters import capacity, disk_forecast
from d0ctl.store.clusters.cluster_views import clusters
from d0ctl.store.history import use_samples
from d0ctl.store.nodes import registry
from tests.support import rows
from tests.support.building import production
from tests.support.site import Site

MB = 1_000_000


@pytest.mark.parametrize(
    ("limit", "free", "short"),
    [(200, 54, 54), (60, 54, 54), (20, 54, None), (200, 200, None), (2000, 54, 54)],
)
def test_the_use_of_a_cache_with_a_capacity_is_that_of_its_files(
    store: Store, limit: int, free: int, short: int | None
) -> None:
    site = Site.of(store)
    registry.add(store, Address("n1", destination="n1"), cpus=2)
    site.up("n1", machine_id="m1", disk_total=252 * MB, disk_free=free * MB)
    rows.change(store, "cluster", {"name": "n1"}, capacity=limit * MB)
    site.submit(production())
    site.launch("prod/1/1/1", "n1")
    site.end("prod/1/1/1", outputs=[{"name": "gen-1", "path": "/tmp/base/cache/1/gen",
                                     "size": 4 * MB, "checksum": "sha256:00"}])  # fmt: skip
    with store.writing():
        capacity.count(store)
        use_samples.take(store, registry.named(store, "n1").id, now=time.time())

    (cache,) = (profile.cache for profile in disk_forecast.forecast(store, now=time.time())
                if profile.cache.name == "n1")  # fmt: skip
    (view,) = (view for view in clusters(store) if view.name == "n1")
    (room,) = (room for room in registry.capacities(store) if room.name == "n1")
    (sample,) = use_samples.of_node(store, room.id, since=0.0)

    assert (cache.used, view.cached, room.disk_in_use, sample.disk_in_use) == (4 * MB,) * 4
    assert cache.space == min(limit, 252) * MB
    assert cache.free == (None if short is None else short * MB)
    assert cache.holds == min(limit, 4 + free) * MB
