"""Inputs from outside, of which this machine has the file and a node that is down a copy."""

import time

import pytest

from d0ctl.model import Address
from d0ctl.schedule.standstill import Cause
from d0ctl.store.nodes import fitting, registry
from d0ctl.store.nodes.standstill import job_standing
from tests.cli.conftest import Type
from tests.cli.test_standing import down, drive
from tests.support.building import document, job, line, package
from tests.support.rows import change, delete, insert, read, value
from tests.support.site import Site

FILE = "/data/sim.sh"


@pytest.fixture
def site(site: Site) -> Site:
    """Two packages on a node that is down, and three that no node has yet; all read a file."""
    drive(site)
    registry.add(site.store, Address("far", "ssh", "far"), cpus=2)
    site.up("far", machine_id="m2", base="/tmp/far")
    site.submit(job(("sim", [line(package(f"x{n}", needs=[FILE])) for n in range(1, 6)])))
    copied(site)
    site.launch("prod/1/1/1", "far")
    site.launch("prod/1/2/1", "far")
    site.up()
    down(site, "far")
    return site


def copied(site: Site) -> None:
    """The node has copies of the file, which each job has for itself."""
    far = registry.named(site.store, "far")
    for file, job_id in read(site.store, "file", "id", "job_id", name=FILE):
        insert(site.store, "location", file_id=file, cluster_id=far.cluster_id, node_id=far.id,
               path=f"/tmp/far/{job_id}/sim.sh", made=0)  # fmt: skip
    change(site.store, "file", {"name": FILE}, present=1)


def test_no_place_says_that_only_the_node_has_the_file(site: Site, d0ctl: Type) -> None:
    elsewhere = "it runs elsewhere, if another node can take it\n"

    ready, of_job = d0ctl("why", "prod/1/3/1").stdout, d0ctl("why", "prod").stdout
    silent, node = d0ctl("why", "prod/1/1/1").stdout, d0ctl("why", "far").stdout
    checked = d0ctl("status", "-q").stdout
    planned = d0ctl("kill", "prod:unreachable", "--dry-run").stdout

    assert "it starts on `localhost` when its turn comes" in ready
    for answer in (of_job, silent):
        assert elsewhere in answer
    assert "2 packages unreachable in `prod`, which may run elsewhere from " in checked
    for said in (ready, of_job, silent, node, checked, planned):
        assert "copied" not in said and "only nodes" not in said and "inputs" not in said


def test_the_job_waits_for_the_node_only_as_packages_are_there(site: Site, d0ctl: Type) -> None:
    site.submit(job(("sim", [line(package("y", needs=[FILE]))]), name="more"))
    delete(site.store, "location", made=0)
    copied(site)

    assert document(d0ctl("eta", "more", "--json").stdout)["waits_for_nodes"] == []


def test_an_assigned_package_gets_it_from_this_machine(site: Site, d0ctl: Type) -> None:
    registry.add(site.store, Address("third", "ssh", "third"), cpus=2)
    site.up("third", machine_id="m3", base="/tmp/third")
    site.assign("prod/1/3/1", "third")

    answer = d0ctl("why", "prod/1/3/1").stdout

    assert f"`{FILE}`" in answer and "can't be copied" not in answer
    d0ctl("kill", "prod:unreachable,ready")
    found = job_standing(site.store, site.id_of("prod"), now=time.time() + 7200)
    assert found.work.stranded == 0 and found.standing.cause is not Cause.NO_COPY


def test_a_package_that_read_it_may_run_again(site: Site) -> None:
    site.finish("prod/1/3/1")
    number = value(site.store, "package", "id", phase="done")

    assert fitting.run_again(site.store, [number], now=time.time())
