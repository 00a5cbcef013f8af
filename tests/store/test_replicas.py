"""Further copies of files that many waiting packages read."""

import time

import pytest

from d0ctl.daemon.steps.schedule import decide
from d0ctl.jobfile.spec import BinarySpec, InputSpec, JobSpec, OutputSpec, PackageSpec
from d0ctl.model import Address
from d0ctl.schedule.moves.replicas import Replica
from d0ctl.show.why.file import file as why_file
from d0ctl.store import Store
from d0ctl.store.clusters import replicas
from d0ctl.store.files import copies
from d0ctl.store.nodes import registry
from d0ctl.store.views import file_locations
from tests.support import rows
from tests.support.building import job, line
from tests.support.site import Site

GB = 1_000_000_000


@pytest.fixture
def farm(store: Store) -> Site:
    """Two nodes; on the first, geometry of 2 GB was made that twenty packages will read."""
    site = Site.of(store)
    for number, name in enumerate(("n1", "n2"), 1):
        registry.add(store, Address(name, destination=name), cpus=4)
        site.up(name, machine_id=f"m{number}", disk_total=100 * GB, disk_free=90 * GB)
    site.submit(chain())
    site.launch("mc/1/1/1", "n1")
    site.end("mc/1/1/1", outputs=[{"name": "geo", "path": "/tmp/base/cache/1/geo",
                                   "size": 2 * GB, "checksum": "sha256:00"}])  # fmt: skip
    return site


def chain() -> JobSpec:
    """Geometry, and lines that make events and read them with the geometry."""
    return job(
        ("geo", [line(package("geo"))]),
        ("gen", [line(package(f"gen{n}")) for n in range(20)]),
        ("sim", [line(package(f"sim{n}", f"gen{n}", "geo")) for n in range(20)]),
        name="mc",
    )


def package(output: str, *inputs: str) -> PackageSpec:
    """A package of ten minutes."""
    return PackageSpec("1", (BinarySpec(
        "tool", script="tool", runtime=600.0, outputs=(OutputSpec(output),),
        inputs=tuple(InputSpec(name) for name in inputs),
    ),))  # fmt: skip


def spread(site: Site) -> list[Replica]:
    """What the step asks for."""
    with site.store.writing():
        return replicas.spread(site.store, (), now=time.time())


def test_a_file_that_many_packages_wait_to_read_is_brought_before_they_run(farm: Site) -> None:
    (replica,) = spread(farm)

    assert (replica.readers, round(replica.takes_s)) == (20, 20)
    geo = file_locations.in_job(farm.store, "mc", "geo").id
    assert [row.cluster for row in file_locations.transfers(farm.store, geo)] == ["n2"]
    facts = why_file(farm.store, file_locations.in_job(farm.store, "mc", "geo"), 0.0).facts
    assert any(fact.startswith("a copy for `n2` was begun at") and "20 packages" in fact
               for fact in facts), facts  # fmt: skip
    assert spread(farm) == [], "it is on its way"
    copies.forget_idle(farm.store)
    assert len(file_locations.transfers(farm.store, geo)) == 1, "packages wait for it"


def test_packages_use_the_copy_and_it_is_removed_after_the_last_of_them(farm: Site) -> None:
    spread(farm)
    geo = file_locations.in_job(farm.store, "mc", "geo").id
    row = registry.named(farm.store, "n2")
    arrival = copies.Arrival(geo, row.cluster_id, 0, "/tmp/base/cache/in/geo", row.id,
                             2 * GB, "sha256:00")  # fmt: skip
    with farm.store.writing():
        copies.arrive(farm.store, [arrival], now=time.time())
        assert {decision.node for decision in decide(farm.store, now=time.time())} >= {2, 3}

    rows.change(farm.store, "job", {"name": "mc"}, hold=1)
    assert spread(farm) == []
    assert len(replicas.of_file(farm.store, geo)) == 1


def test_nothing_is_spread_into_a_cache_without_room_or_while_links_are_in_use(farm: Site) -> None:
    store = farm.store
    with store.writing():
        assert replicas.spread(
            store, [registry.named(store, "n1").cluster_id], now=time.time()
        ) == []  # fmt: skip
    farm.up("n2", machine_id="m2", disk_total=100 * GB, disk_free=GB)
    assert spread(farm) == []
