"""Caches that will overflow, and who says so."""

import time
from typing import Any

import pytest

from d0ctl.config import Home
from d0ctl.daemon.drive import driving
from d0ctl.daemon.steps.cleanup import foresee_caches
from d0ctl.daemon.turn import Turn
from d0ctl.jobfile.spec import BinarySpec, Disposition, InputSpec, JobSpec, OutputSpec, PackageSpec
from d0ctl.model import Address
from d0ctl.schedule.disk_profile import Profile
from d0ctl.show.usage.site_check import check
from d0ctl.show.why import node as why_node
from d0ctl.show.why.production import obstacles
from d0ctl.store import Store
from d0ctl.store.clusters import disk_forecast
from d0ctl.store.files import links
from d0ctl.store.nodes import registry
from d0ctl.store.nodes.standstill import production
from tests.support import rows
from tests.support.building import job, line
from tests.support.site import Site

MB = 1_000_000


@pytest.fixture
def farm(store: Store) -> Site:
    """A node with two CPUs and 100 MB of disk, of which 60 MB are free."""
    site = Site.of(store)
    registry.add(store, Address("n1", destination="n1"), cpus=2)
    site.up("n1", cpus=2, machine_id="m1", disk_total=100 * MB, disk_free=60 * MB)
    return site


def chain(size: int, **more: Any) -> JobSpec:
    """Packages that make a file each, and readers of these."""
    makers = [package(f"a{n}", size, runtime=100.0, **more) for n in range(3)]
    readers = [package(f"b{n}", 1, runtime=50.0, reads=f"a{n}") for n in range(3)]
    return job(
        ("make", [line(spec) for spec in makers]),
        ("read", [line(spec) for spec in readers]),
        name="mc",
    )


def package(
    output: str, size: int, *, runtime: float, reads: str = "", keep: bool = False
) -> PackageSpec:
    """A package that makes a file of so many MB."""
    kept = frozenset([Disposition.RETAIN_INDEF] if keep else ())
    return PackageSpec("1", (BinarySpec(
        "tool", script="tool", runtime=runtime, inputs=(InputSpec(reads),) if reads else (),
        outputs=(OutputSpec(output, size=size * MB, dispositions=kept),),
    ),))  # fmt: skip


def foreseen(site: Site) -> Profile:
    """What is foreseen of the cache of the node."""
    found = disk_forecast.forecast(site.store, now=time.time())
    return next(forecast for forecast in found if forecast.cache.name == "n1")


def test_packages_that_wait_for_room_in_the_cache_do_not_fill_it(farm: Site) -> None:
    farm.submit(chain(25))
    before = foreseen(farm)
    farm.launch("mc/1/1/1", "n1")
    farm.launch("mc/1/2/1", "n1")
    during = foreseen(farm)
    farm.up("n1", cpus=2, machine_id="m1", disk_total=100 * MB, disk_free=10 * MB)
    for number in (0, 1):
        farm.end(f"mc/1/{number + 1}/1", outputs=[{
            "name": f"a{number}", "path": f"/tmp/base/cache/{number}/a", "size": 25 * MB,
            "checksum": "sha256:00"}])  # fmt: skip
    after = foreseen(farm)

    assert [found.peak[1] for found in (before, during, after)] == [90 * MB] * 3
    assert [found.full_s for found in (before, during, after)] == [None] * 3


def submit_undeclared(farm: Site) -> None:
    """A job that declares no sizes; they are known from earlier runs."""
    farm.submit(chain(25))
    rows.change(farm.store, "requirement", space=None)


def test_outputs_of_ready_and_running_packages_fill_the_cache(farm: Site) -> None:
    submit_undeclared(farm)
    assert foreseen(farm).cache.used == 40 * MB

    at_s, peak = foreseen(farm).peak
    assert (round(at_s), peak) == (200, 115 * MB)
    farm.launch("mc/1/1/1", "n1")
    later = foreseen(farm)

    assert later.peak[1] == 115 * MB
    assert later.full_s == pytest.approx(200, abs=5)


@pytest.mark.parametrize(("keep", "freed"), [(False, 25 * MB), (True, 0)])
def test_inputs_leave_with_their_last_reader_unless_a_disposition_keeps_them(
    farm: Site, keep: bool, freed: int
) -> None:
    farm.submit(chain(25, keep=keep))
    farm.launch("mc/1/1/1", "n1")
    farm.end("mc/1/1/1", outputs=[{"name": "a0", "path": "/tmp/base/cache/1/a0",
                                   "size": 25 * MB, "checksum": "sha256:00"}])  # fmt: skip
    before = foreseen(farm).points[-1][1]
    farm.launch("mc/2/1/1", "n1")

    assert before == foreseen(farm).points[-1][1] == (40 + 2 * 25) * MB - freed


def test_files_in_transit_over_a_link_slow_per_file_count_by_their_bytes(farm: Site) -> None:
    farm.submit(chain(25))
    n1 = registry.named(farm.store, "n1")
    with farm.store.writing():
        for bytes_, files, took_s in ((100, 10, 500.0), (90 * MB, 1, 10.0)):
            links.note(farm.store, 0, n1.id, bytes_, took_s, files=files, now=time.time())
    file = rows.value(farm.store, "file", "id", name="a0")
    rows.insert(farm.store, "transfer", file_id=file, cluster_id=n1.cluster_id, wanted=time.time())
    rows.change(farm.store, "file", {"id": file}, size=1000)

    at_s, has = foreseen(farm).points[1]

    assert has == 40 * MB + 1000
    assert at_s == pytest.approx(100, rel=0.1)


def test_status_and_why_say_when_a_cache_will_overflow(farm: Site, home: Home) -> None:
    submit_undeclared(farm)
    with driving(home, None) as desk:
        desk.forecast_due = 0.0
        with desk.store.writing():
            foresee_caches(desk, Turn(time.time()))
        found = production(farm.store, now=time.time(), driven=True)
        (obstacle,) = [
            obstacle for obstacle in obstacles(found, time.time()) if "cache" in obstacle.text
        ]
        assert obstacle.text.startswith("the cache of `n1` will be full at about")
        assert "115 MB" in obstacle.text and "it holds 100 MB" in obstacle.text
        assert obstacle.commands == ("d0ctl report disk n1",)
        assert obstacle.text in why_node.node(farm.store, "n1", time.time()).facts
        assert f"; {obstacle.text}" in check(found, time.time()).headline
        later = found.overflows[0].at + 3600
        assert production(farm.store, now=later, driven=True).overflows == []

        farm.up("n1", cpus=2, machine_id="m1", disk_total=1000 * MB, disk_free=971 * MB)
        rows.change(farm.store, "cache_overflow", space=20 * MB)
        full = production(farm.store, now=later, driven=True)
        assert "the cache of `n1` has too little room: 29 MB of 20 MB" in [
            obstacle.text for obstacle in obstacles(full, later)
        ]

        farm.up("n1", cpus=2, machine_id="m1", disk_total=1000 * MB, disk_free=900 * MB)
        desk.forecast_due = 0.0
        with desk.store.writing():
            foresee_caches(desk, Turn(time.time()))
        assert production(farm.store, now=time.time()).overflows == []


def test_messages_that_wait_for_a_daemon_come_before_its_first_forecast(
    farm: Site, home: Home
) -> None:
    farm.submit(chain(25))
    with driving(home, None) as desk:
        with desk.store.writing():
            foresee_caches(desk, Turn(time.time()))

        assert production(farm.store, now=time.time()).overflows == []
