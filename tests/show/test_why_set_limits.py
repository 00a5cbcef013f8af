"""`why` of a package that what people set for nodes and clusters rules out."""

import time
from typing import Any

import pytest

from d0ctl.jobfile.spec import JobSpec
from d0ctl.model import Address
from d0ctl.store.nodes import leases, registry
from tests.show.asking import why
from tests.support import rows
from tests.support.building import job, line, package
from tests.support.site import Site

MB = 1_000_000

ENOUGH = "   # if that is enough"


@pytest.fixture
def site(site: Site) -> Site:
    """A driver, and a node with 4 GB of memory and a disk of 1 GB."""
    with site.store.writing():
        leases.take_lease(site.store, "daemon", now=time.time())
    site.up(memory=4000 * MB, disk_total=1000 * MB, disk_free=900 * MB)
    return site


def set_capacity(site: Site, size: int | None, **more: Any) -> None:
    """A person sets it for the cluster of the only node."""
    rows.change(site.store, "cluster", {}, capacity=size, **more)


def set_memory(site: Site, size: int) -> None:
    """A person sets it for the only node."""
    rows.change(site.store, "node", {}, memory_asked=size, memory=size)


def production(number: int = 1, **requests: Any) -> JobSpec:
    """A job of packages that are alike."""
    return job(("a", [line(package(f"x{each}", **requests)) for each in range(number)]))


def suggested(site: Site, path: str = "prod/1/1/1") -> list[str]:
    """The commands that change a node, a cluster or a package."""
    verbs = ("d0ctl node set", "d0ctl cluster set", "d0ctl edit")
    return [command for command in why(site, path).commands if command.startswith(verbs)]


def test_a_capacity_that_is_too_small_is_raised_before_a_request_is_lowered(site: Site) -> None:
    set_capacity(site, 6 * MB)
    site.submit(production(disk=10 * MB))
    cluster = rows.value(site.store, "cluster", "name")

    assert suggested(site) == [
        f"d0ctl cluster set {cluster} capacity=10MB   # for one package, if its disk has the space",
        f"d0ctl edit prod/1/1/1 --disk 6MB{ENOUGH}",
    ]


def test_the_raised_capacity_leaves_room_for_software_and_files_that_are_there(site: Site) -> None:
    set_capacity(site, 20 * MB, software_share=0.2, cached=8 * MB)
    site.submit(production(2, disk=20 * MB))

    command, _ = suggested(site)

    assert "capacity=60MB   # for 2 packages, if" in command


def test_a_capacity_for_all_packages_that_no_disk_has_is_not_suggested(site: Site) -> None:
    set_capacity(site, 6 * MB)
    site.submit(production(200, disk=10 * MB))

    assert "capacity=10MB   # for one package, if" in suggested(site)[0]


@pytest.mark.parametrize("capacity", [6 * MB, None])
def test_no_capacity_helps_a_package_that_needs_more_than_the_disk(
    site: Site, capacity: int | None
) -> None:
    set_capacity(site, capacity)
    site.submit(production(disk=2000 * MB))

    assert [command.split()[1] for command in suggested(site)] == ["edit"]


def test_memory_that_a_person_has_set_is_raised_to_what_a_package_requests(site: Site) -> None:
    set_memory(site, 200 * MB)
    site.submit(production(memory=500 * MB))
    node = rows.value(site.store, "node", "name")

    assert suggested(site) == [
        f"d0ctl node set {node} memory=500MB   # the machine has 4.0 GB",
        f"d0ctl edit prod/1/1/1 --memory 200MB{ENOUGH}",
    ]


def test_what_a_machine_lacks_can_not_be_set(site: Site) -> None:
    set_memory(site, 200 * MB)
    site.submit(production(memory=5000 * MB))

    assert suggested(site) == [f"d0ctl edit prod/1/1/1 --memory 200MB{ENOUGH}"]


def test_both_limits_are_raised_if_both_rule_a_package_out_and_none_if_more_does(
    site: Site,
) -> None:
    set_memory(site, 200 * MB)
    set_capacity(site, 6 * MB)
    site.submit(production(memory=500 * MB, disk=10 * MB))
    needs_more = package("x", memory=500 * MB, disk=10 * MB, cpus=64)
    site.submit(job(("a", [line(needs_more)]), name="wide"))

    assert [command.split()[1] for command in suggested(site)] == ["node", "cluster", "edit"]
    assert [command.split()[1] for command in suggested(site, "wide/1/1/1")] == ["edit"]


def test_the_note_is_only_about_requests_of_amounts(site: Site) -> None:
    registry.add(site.store, Address("far", "ssh", "far"), cpus=4)
    site.submit(production(nodes=("far",), cpus=1))
    site.up("far", memory=4000 * MB, machine_id="far")
    rows.change(site.store, "node", {"name": "far"}, state="down")

    assert suggested(site) == ["d0ctl edit prod/1/1/1 --on localhost"]


@pytest.mark.parametrize("failed", ["prod/1/1/1", "prod/1/2/1"], ids=["itself", "another"])
def test_no_request_is_suggested_that_is_less_than_attempts_of_its_stage_took(
    site: Site, failed: str
) -> None:
    site.submit(production(2, disk=10 * MB))
    site.fail(failed, reason="disk-full", binaries=[took(disk=8 * MB)])
    rows.change(site.store, "package", {}, phase="ready")
    set_capacity(site, 6 * MB)

    found = why(site, "prod/1/1/1")

    assert "attempts of its stage took up to 8.0 MB of disk" in found.facts
    assert [command.split()[1] for command in suggested(site)] == ["cluster"]
    set_capacity(site, 9 * MB)
    assert f"d0ctl edit prod/1/1/1 --disk 9MB{ENOUGH}" in suggested(site)


def took(**use: int) -> dict[str, Any]:
    """What an end message says of a binary."""
    now = time.time()
    return {"binary": 1, "started": now - 1, "ended": now, "exit_code": None, "signal": None,
            "reason": None, "cpu": 1.0, "rss": 1 << 20, "disk": 0} | use  # fmt: skip


def test_memory_that_attempts_took_before_a_package_was_corrected_is_not_known_to_be_needed(
    site: Site,
) -> None:
    site.submit(production(memory=500 * MB))
    site.fail("prod/1/1/1", reason="out-of-memory", rss=450 * MB)
    rows.change(site.store, "package", {}, phase="ready")
    set_memory(site, 200 * MB)
    edit = f"d0ctl edit prod/1/1/1 --memory 200MB{ENOUGH}"
    assert edit not in suggested(site)

    rows.change(site.store, "package", {}, redefined=time.time() + 1)

    assert edit in suggested(site)
