"""Jobs whose packages wait for room in full caches, in which nothing is about to change."""

import os
import time
from pathlib import Path
from typing import Any

import pytest

from d0ctl.config import Home
from d0ctl.daemon.drive import driving
from d0ctl.daemon.steps.cleanup import make_room
from d0ctl.daemon.steps.schedule import decide
from d0ctl.daemon.turn import Turn
from d0ctl.jobfile.spec import Disposition, JobSpec
from d0ctl.model import Address
from d0ctl.schedule.standstill import Cause
from d0ctl.select import parse
from d0ctl.store.jobs import unneeded_files
from d0ctl.store.nodes import leases, placement, registry
from d0ctl.store.nodes.standstill import job_standing, production
from d0ctl.store.views.awaited import read
from d0ctl.store.views.job_files import eta
from tests.show.asking import why
from tests.store.test_capacity import MB, counted, farm, files
from tests.support import rows
from tests.support.building import job, line, package
from tests.support.site import Site

__all__ = ["farm"]


@pytest.fixture
def full(farm: Site) -> Site:
    """The farm with 30 MB left, from which nothing may be removed, and a driver."""
    files(farm, 50, disposition=Disposition.RETAIN_INDEF)
    settle(farm)
    assert counted(farm) == []
    with farm.store.writing():
        leases.take_lease(farm.store, "daemon", now=time.time())
    rows.change(farm.store, "node", {"name": "localhost"}, drained=1)
    return farm


def settle(site: Site) -> None:
    """Unneeded files are removed, packages become ready and jobs end, as in a turn of a daemon."""
    with site.store.writing():
        unneeded_files.clean_up(site.store, now=time.time())
        placement.advance(site.store, now=time.time())
        placement.end_jobs(site.store, now=time.time())


def large(number: int = 3, size: int = 40, name: str = "large", **more: Any) -> JobSpec:
    """A job of packages that need so much disk, and one that reads all their files."""
    made = [f"{name}-{each}" for each in range(number)]
    lines = [line(package(file, disk=size * MB, **more)) for file in made]
    return job(("fill", lines), ("merge", [line(package(f"{name}-all", takes=made))]), name=name)


def causes(site: Site) -> dict[str, Cause | None]:
    """What stops each job."""
    found = production(site.store, now=time.time())
    return {each.name: each.standing.cause for each in found.jobs}


def test_a_job_whose_packages_fit_no_cache_that_may_become_emptier_stands_still(
    full: Site,
) -> None:
    full.submit(large())

    assert causes(full) == {"large": Cause.NO_SPACE}
    (found,) = read(full.store, parse("large/1"), time.time())
    assert found.found.standing.cause is Cause.NO_SPACE
    standing = job_standing(full.store, full.id_of("large"), now=time.time()).standing
    assert standing.is_settled
    assert standing.why_unfit == {"n1": "30 MB of its cache left, needs 40 MB"}
    assert eta.horizon(full.store, now=time.time()).jobs[full.id_of("large")].unfit == 3


def test_why_gives_the_capacity_that_all_waiting_packages_need_and_no_estimate(full: Site) -> None:
    full.submit(large())
    full.submit(large(1, 60, "larger"))

    found = why(full, "large/1/1/1")

    command = "d0ctl cluster set n1 capacity=288MB   # for 4 packages, if its disk has the space"
    assert command in found.commands
    assert not [fact for fact in found.facts if "ends in" in fact or "end in" in fact]


def test_a_job_with_a_package_that_fits_moves(full: Site) -> None:
    full.submit(large())
    full.submit(large(1, 30, "small"))

    assert causes(full) == {"large": Cause.NO_SPACE, "small": None}
    registry.add(full.store, Address("n2", destination="n2"), cpus=8)
    full.up("n2", machine_id="m2", disk_total=1000 * MB, disk_free=900 * MB)
    assert causes(full) == {"large": None, "small": None}


def test_a_job_that_no_cache_could_ever_hold_stands_still(full: Site) -> None:
    full.submit(job(("a", [line(package("a", disk=90 * MB, nodes=("n1",)))]), name="large"))

    assert causes(full) == {"large": Cause.IMPOSSIBLE}


@pytest.mark.parametrize(("size", "cause"), [(40, None), (55, Cause.NO_SPACE)])
def test_copies_that_stay_while_there_is_space_are_removed_for_packages_that_fit_then(
    farm: Site, home: Home, size: int, cause: Cause | None
) -> None:
    files(farm, 30, 10, 20, disposition=Disposition.RETAIN_TEMP)  # of 80 MB
    settle(farm)
    counted(farm)
    rows.change(farm.store, "node", {"name": "localhost"}, drained=1)
    with farm.store.writing():
        leases.take_lease(farm.store, "daemon", now=time.time())
    farm.submit(job(("sum", [line(package("sum", needs=["j1:f"]))]), name="reader", hold=True))
    farm.submit(job(("a", [line(package("a", disk=size * MB + 25 * MB))]), name="large"))

    before = causes(farm)["large"]
    with driving(home, None) as desk, desk.store.writing():
        make_room(desk, Turn(time.time()))

    left = {path[-3] for (path,) in rows.read(farm.store, "location", "path", by="path")}
    assert before is cause and causes(farm)["large"] is cause
    assert left == ({"2"} if cause is None else {"1", "2", "3"})
    decisions = decide(farm.store, now=time.time())
    assert len(decisions) == (cause is None)


def test_no_copies_are_removed_for_packages_that_fit_elsewhere_or_find_no_cpu(
    farm: Site, home: Home
) -> None:
    files(farm, 30, 30, disposition=Disposition.RETAIN_TEMP)  # of 80 MB
    settle(farm)
    counted(farm)
    busy = package("b", cpus=8, nodes=("n1",))
    farm.submit(job(("b", [line(busy)]), name="busy"))
    farm.launch("busy/1/1/1", "n1")
    farm.submit(job(("a", [line(package("a", disk=40 * MB, nodes=("n1",)))]), name="bound"))
    registry.add(farm.store, Address("n2", destination="n2"), cpus=8)
    farm.up("n2", machine_id="m2", disk_total=1000 * MB, disk_free=900 * MB)
    farm.submit(job(("a", [line(package("a", disk=40 * MB))]), name="free"))

    def left() -> list[tuple[str]]:
        with driving(home, None) as desk, desk.store.writing():
            make_room(desk, Turn(time.time()))
        return rows.read(farm.store, "location", "path", by="path", shared=0, spare=1)

    assert len(left()) == 2
    farm.end("busy/1/1/1")
    assert left() == [("/tmp/base/cache/2/f",)]


def test_a_node_with_a_package_may_get_room_for_others(full: Site) -> None:
    full.submit(large(1, 20, "small"))
    full.submit(large())
    full.launch("small/1/1/1", "n1")

    assert causes(full) == {"small": None, "large": None}


@pytest.mark.parametrize("is_assigned", [True, False], ids=["assigned", "ready"])
def test_a_cache_with_files_that_another_job_reads_elsewhere_may_get_room(
    full: Site, is_assigned: bool
) -> None:
    registry.add(full.store, Address("n2", destination="n2"), cpus=8)
    full.up("n2", machine_id="m2", disk_total=1000 * MB, disk_free=900 * MB)
    full.submit(job(("a", [line(package("a", disk=40 * MB, nodes=("n1",)))]), name="large"))
    reader = package("sum", needs=["f"], nodes=("n2",))
    full.submit(job(("make", [line(package("f"))]), ("sum", [line(reader)]), name="pair"))
    full.launch("pair/1/1/1", "n1")
    path = "/tmp/base/cache/2/f"
    full.end("pair/1/1/1", outputs=[{
        "name": "f", "path": path, "size": 5 * MB, "checksum": "sha256:00",
    }])  # fmt: skip
    settle(full)
    if is_assigned:
        full.assign("pair/2/1/1", "n2")

    assert causes(full) == {"large": None, "pair": None}
    rows.change(full.store, "job", {"name": "pair"}, hold=1)
    assert causes(full)["large"] is (None if is_assigned else Cause.NO_SPACE)


def test_a_cache_from_which_files_are_being_copied_may_get_room(full: Site) -> None:
    full.submit(large())
    (file,) = (row[0] for row in rows.read(full.store, "location", "file_id", by="file_id"))
    rows.insert(full.store, "transfer", file_id=file, cluster_id=1, result=1, wanted=1.0)

    assert causes(full) == {"large": None}


def test_a_job_whose_inputs_exceed_each_cache_stands_still(full: Site, tmp_path: Path) -> None:
    for name, size in (("large", 40), ("small", 20)):
        path = tmp_path / name
        path.touch()
        os.truncate(path, size * MB)
        full.submit(job(("a", [line(package("a", needs=[str(path)]))]), name=name))

    assert causes(full) == {"large": Cause.NO_SPACE, "small": None}
    standing = job_standing(full.store, full.id_of("large"), now=time.time()).standing
    assert standing.why_unfit == {"n1": "30 MB of its cache left, its inputs need 40 MB"}
    assert eta.horizon(full.store, now=time.time()).jobs[full.id_of("large")].unfit == 1

    full.submit(large(name="outputs"))
    found = why(full, "large/1/1/1")
    command = "d0ctl cluster set n1 capacity=263MB   # for 4 packages, if its disk has the space"
    assert command in found.commands


def test_why_says_that_a_drained_node_is_full_too(full: Site) -> None:
    full.submit(large(nodes=("n1",)))
    rows.change(full.store, "node", {"name": "n1"}, drained=1)

    found = why(full, "large/1/1/1")

    assert "node `n1` also has 30 MB of its cache of 80 MB left, needs 40 MB" in found.facts
    assert "d0ctl node resume n1" in found.commands
    assert [each for each in found.commands if each.startswith("d0ctl cluster set n1 capacity=")]
