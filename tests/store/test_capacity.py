"""Caches with a capacity: what fits, what is removed, and how much of it is for software."""

import os
import time
from pathlib import Path
from typing import Any

import pytest

from d0ctl import actions
from d0ctl.actions.action import AnyRequest, NodeName
from d0ctl.actions.file_choice import FileChoice
from d0ctl.config import Home
from d0ctl.daemon.desk import Desk
from d0ctl.daemon.drive import driving
from d0ctl.daemon.steps.cleanup import free_space, keep_capacities
from d0ctl.daemon.steps.schedule import decide
from d0ctl.daemon.turn import Turn
from d0ctl.errors import Refused
from d0ctl.jobfile.spec import BinarySpec, Disposition, OutputSpec, PackageSpec
from d0ctl.model import Address
from d0ctl.select import parse
from d0ctl.sitefile.defaults import RESERVE
from d0ctl.store import Store
from d0ctl.store.clusters import capacity, disk_forecast
from d0ctl.store.jobs import unneeded_files
from d0ctl.store.nodes import leases, placement, registry
from tests.show.asking import why
from tests.support import rows
from tests.support.building import job, line, package
from tests.support.site import Site

MB = 1_000_000


@pytest.fixture
def farm(store: Store) -> Site:
    """A node of a cluster with 100 MB of cache, of which a fifth is for software."""
    site = Site.of(store)
    registry.add(store, Address("n1", destination="n1"), cpus=8)
    site.up("n1", machine_id="m1", disk_total=1000 * MB, disk_free=900 * MB)
    rows.change(store, "cluster", {"name": "n1"}, capacity=100 * MB, software_share=0.2)
    return site


def files(farm: Site, *sizes: int, disposition: Disposition, first: int = 0) -> None:
    """Files of done jobs in the cache: of j0, j1 and so on."""
    made = OutputSpec("f", dispositions=frozenset([disposition]))
    spec = PackageSpec("1", (BinarySpec("tool", script="tool", outputs=(made,)),))
    for number, size in enumerate(sizes, first):
        farm.submit(job(("make", [line(spec)]), name=f"j{number}"))
        farm.launch(f"j{number}/1/1/1", "n1")
        farm.end(f"j{number}/1/1/1", outputs=[{
            "name": "f", "path": f"/tmp/base/cache/{number + 1}/f", "size": size * MB,
            "checksum": "sha256:00",
        }])  # fmt: skip


def counted(farm: Site) -> list[capacity.FullCache]:
    """Caches with too many bytes."""
    with farm.store.writing():
        return capacity.count(farm.store)


def test_packages_go_only_where_the_cache_has_room_for_them(farm: Site) -> None:
    files(farm, 50, disposition=Disposition.RETAIN_INDEF)
    farm.submit(job(("a", [line(package("a", disk=40 * MB))]), name="large"))
    farm.submit(job(("a", [line(package("a", disk=20 * MB))]), name="small"))

    assert counted(farm) == []

    (node,) = placement.nodes(farm.store)
    assert (node.disk, node.disk_free) == (80 * MB, 30 * MB)
    (decision,) = decide(farm.store, now=time.time())
    assert decision.package == farm.id_of("small/1/1/1")


def test_packages_go_only_where_the_cache_has_room_for_their_inputs_from_outside(
    farm: Site, tmp_path: Path
) -> None:
    files(farm, 50, disposition=Disposition.RETAIN_INDEF)
    counted(farm)
    for name, size in (("large", 40), ("small", 20)):
        path = tmp_path / name
        path.touch()
        os.truncate(path, size * MB)
        farm.submit(job(("a", [line(package("a", needs=[str(path)]))]), name=name))

    (decision,) = decide(farm.store, now=time.time())

    assert decision.package == farm.id_of("small/1/1/1")
    with farm.store.writing():
        leases.take_lease(farm.store, "daemon", now=time.time())
    found = why(farm, "large/1/1/1")
    assert "node `n1` has 30 MB of its cache of 80 MB left, its inputs need 40 MB" in found.facts
    command = "d0ctl cluster set n1 capacity=113MB   # for one package, if its disk has the space"
    assert command in found.commands


def test_a_script_to_bring_keeps_no_package_from_a_full_cache(farm: Site, tmp_path: Path) -> None:
    files(farm, 90, disposition=Disposition.RETAIN_INDEF)
    counted(farm)
    script = tmp_path / "merge.sh"
    script.write_text("echo")
    farm.submit(job(("a", [line(package("a", needs=[str(script)]))]), name="merge"))

    assert len(decide(farm.store, now=time.time())) == 1


def test_inputs_on_their_way_to_a_cache_are_not_brought_again(farm: Site, tmp_path: Path) -> None:
    path = tmp_path / "raw"
    path.touch()
    os.truncate(path, 60 * MB)
    lines = [line(package(f"f{number}", needs=[str(path)])) for number in range(2)]
    farm.submit(job(("a", lines), name="read"))
    counted(farm)
    farm.assign("read/1/1/1", "n1")
    rows.change(farm.store, "cluster", {"name": "n1"}, cached=60 * MB)

    assert len(decide(farm.store, now=time.time())) == 1


def test_a_disk_smaller_than_the_capacity_counts_without_its_reserve(farm: Site) -> None:
    rows.change(farm.store, "cluster", {"name": "n1"}, capacity=10_000 * MB)

    (node,) = placement.nodes(farm.store)

    assert (node.disk, node.disk_free, node.disk_short) == (1000 * MB, 850 * MB, 0)


def test_a_large_disk_keeps_the_reserve_of_the_site(farm: Site) -> None:
    farm.up("n1", machine_id="m1", disk_total=10**6 * MB, disk_free=150 * MB)

    (node,) = placement.nodes(farm.store)
    assert (node.disk_free, node.disk_short) == (150 * MB - RESERVE, RESERVE - 150 * MB)

    rows.insert(farm.store, "setting", name="defaults", value='{"reserve": 100000000}')
    (node,) = placement.nodes(farm.store)
    assert (node.disk_free, node.disk_short) == (50 * MB, 0)


def test_copies_that_no_package_needs_are_removed_from_a_node_below_its_reserve(
    farm: Site, home: Home
) -> None:
    files(farm, 15, 15, 15, disposition=Disposition.RETAIN_TEMP)
    farm.up("n1", machine_id="m1", disk_total=1000 * MB, disk_free=40 * MB)

    with driving(home, None) as desk, desk.store.writing():
        free_space(desk, Turn(time.time()))

    left = rows.read(farm.store, "location", "path", by="path")
    assert left == [("/tmp/base/cache/3/f",)]


def test_nodes_that_share_a_cache_do_not_promise_its_space_twice(farm: Site) -> None:
    registry.add(farm.store, Address("n2", destination="n2"), cpus=8, cluster="n1")
    farm.up("n2", machine_id="m2", disk_total=1000 * MB, disk_free=900 * MB)
    lines = [line(package(f"f{number}", disk=30 * MB)) for number in range(4)]
    farm.submit(job(("a", lines), name="large"))

    def decided() -> int:
        with farm.store.writing():
            return len(decide(farm.store, now=time.time()))

    assert decided() == 2
    farm.assign("large/1/1/1", "n1")
    assert decided() == 1


def test_copies_that_no_package_needs_are_removed_from_a_cache_with_too_many(
    farm: Site, home: Home
) -> None:
    files(farm, 50, 60, disposition=Disposition.RETAIN_TEMP)
    (full,) = counted(farm)
    assert (full.name, full.excess) == ("n1", 30 * MB)

    with driving(home, None) as desk:
        turn(desk)

    left = rows.read(farm.store, "location", "path", by="path")
    assert left == [("/tmp/base/cache/2/f",)]
    assert rows.read(farm.store, "purge", "path") != []
    assert rows.value(farm.store, "cluster", "cached", name="n1") == 60 * MB


def apply(farm: Site, request: AnyRequest[Any, Any]) -> None:
    """Do what a person asks for."""
    actions.apply(farm.store, request, actor="ada", note=None, now=time.time())


@pytest.mark.parametrize(
    "request_to_remove",
    [
        actions.request("node free", NodeName("n1"), wanted=40 * MB),
        actions.request("file purge", FileChoice("j0", "f")),
        actions.request("remove", parse("j0")),
        actions.request("set-status", parse("j0"), status="unscheduled"),
    ],
    ids=["node free", "file purge", "remove", "set-status"],
)
def test_copies_that_a_person_removes_leave_space_at_once(
    farm: Site, request_to_remove: AnyRequest[Any, Any]
) -> None:
    files(farm, 50, 20, disposition=Disposition.RETAIN_TEMP)
    assert counted(farm) == []
    with farm.store.writing():
        unneeded_files.clean_up(farm.store, now=time.time())

    apply(farm, request_to_remove)

    (node,) = placement.nodes(farm.store)
    assert node.disk_free == 60 * MB


@pytest.mark.parametrize("is_unneeded", [True, False], ids=["unneeded", "file purge"])
def test_files_that_come_and_go_between_two_counts_change_nothing(
    farm: Site, is_unneeded: bool
) -> None:
    files(farm, 50, disposition=Disposition.RETAIN_INDEF)
    counted(farm)
    files(farm, 20, disposition=Disposition.RETAIN_TEMP, first=1)
    with farm.store.writing():
        unneeded_files.clean_up(farm.store, now=time.time())

    if is_unneeded:
        node = registry.named(farm.store, "n1").id
        with farm.store.writing():
            unneeded_files.make_space(farm.store, node, 1, now=time.time())
    else:
        apply(farm, actions.request("file purge", FileChoice("j1", "f")))

    assert rows.read(farm.store, "location", "path", by="path") == [("/tmp/base/cache/1/f",)]
    assert rows.value(farm.store, "cluster", "cached", name="n1") == 50 * MB


def test_files_count_from_their_arrival_on(farm: Site) -> None:
    counted(farm)

    files(farm, 50, 20, disposition=Disposition.RETAIN_INDEF)

    assert [node.disk_free for node in placement.nodes(farm.store)] == [10 * MB]
    assert counted(farm) == []
    assert [node.disk_free for node in placement.nodes(farm.store)] == [10 * MB]


def test_all_screens_show_how_much_more_than_its_capacity_a_cache_has(farm: Site) -> None:
    files(farm, 50, 60, disposition=Disposition.RETAIN_INDEF)
    counted(farm)

    room = next(row for row in registry.capacities(farm.store) if row.name == "n1")
    assert room.disk is not None and room.disk_free is not None
    assert room.disk - room.disk_free == 110 * MB
    profiles = disk_forecast.forecast(farm.store, now=time.time())
    assert {profile.cache.name: profile.cache.used for profile in profiles}["n1"] == 110 * MB
    (node,) = placement.nodes(farm.store)
    assert node.disk_free == 0


def test_the_files_of_a_cache_are_counted_when_it_gets_a_capacity(farm: Site) -> None:
    rows.change(farm.store, "cluster", {"name": "n1"}, capacity=None)
    files(farm, 50, disposition=Disposition.RETAIN_TEMP)

    apply(farm, actions.request("cluster set", NodeName("n1"), changes=("capacity=100MB",)))

    (node,) = placement.nodes(farm.store)
    assert node.disk_free == 30 * MB


def turn(desk: Desk) -> None:
    """The step of a turn."""
    with desk.store.writing():
        keep_capacities(desk, Turn(time.time()))


def test_software_gets_no_more_than_its_share(farm: Site) -> None:
    for name, size in (("old", 15), ("new", 6)):
        rows.insert(farm.store, "software", name=name, version="v1", archive=f"/{name}",
                    checksum=name, size=size * MB)  # fmt: skip
    node = registry.named(farm.store, "n1")
    capacity.check_software(farm.store, node, "old/v1", "old", 15 * MB)
    rows.insert(farm.store, "archive_copy", node_id=node.id, checksum="old", arrived=1.0)

    capacity.check_software(farm.store, node, "old/v1", "old", 15 * MB)
    with pytest.raises(Refused, match="keeps 20 MB for software, and 15 MB are in use") as full:
        capacity.check_software(farm.store, node, "new/v1", "new", 6 * MB)
    assert full.value.hint == "d0ctl software purge NAME/VERSION"


@pytest.mark.parametrize(
    ("size", "wanted"), [(21 * MB, "software-share=21%"), (101 * MB, "capacity=505MB")]
)
def test_software_that_never_fits_is_refused_with_what_to_change(
    farm: Site, size: int, wanted: str
) -> None:
    node = registry.named(farm.store, "n1")

    with pytest.raises(Refused) as refused:
        capacity.check_software(farm.store, node, "new/v1", "new", size)

    assert refused.value.hint == f"d0ctl cluster set n1 {wanted}"
