"""The nodes that are down and without which jobs do not end."""

import time

import pytest

from d0ctl.model import Address
from d0ctl.store.nodes import contact, registry
from d0ctl.store.views.job_files import eta
from tests.support.building import job, line, package
from tests.support.rows import change, insert, value
from tests.support.site import Site


@pytest.fixture
def site(site: Site) -> Site:
    """A site with a second node."""
    registry.add(site.store, Address("far", "ssh", "far"), cpus=2)
    site.up("far", machine_id="m2", base="/tmp/far")
    site.up()
    return site


def make_on(site: Site, path: str, node: str) -> None:
    """A package succeeds on a node."""
    site.launch(path, node)
    site.end(path)


def down(site: Site, name: str = "far") -> None:
    """A node stops answering."""
    with site.store.writing():
        contact.down(site.store, registry.named(site.store, name).id, "refused", now=time.time())


def nodes_down(site: Site, name: str = "prod") -> list[str]:
    """Return the nodes for which a job waits."""
    return [*eta.horizon(site.store, now=time.time()).nodes_down(site.id_of(name))]


def test_a_job_waits_for_a_node_with_one_of_the_inputs_of_a_package_that_waits_for_others(
    site: Site,
) -> None:
    merge = [line(package("all", needs=["x", "y"]))]
    site.submit(job(("a", [line(package("x")), line(package("y"))]), ("b", merge)))
    make_on(site, "prod/1/1/1", "far")
    down(site)

    assert nodes_down(site) == ["far"]
    with site.store.writing():
        copy = {"file_id": value(site.store, "file", "id", name="x"), "made": 0.0}
        insert(site.store, "location", cluster_id=1, path="/x", **copy)
    assert nodes_down(site) == [], "this machine has a copy"


def test_a_job_does_not_wait_for_inputs_of_packages_that_wait_for_a_failed_one(
    site: Site,
) -> None:
    merge = [line(package("all", needs=["x", "y"]))]
    gen = [line(package(name)) for name in ("x", "y", "z")]
    site.submit(job(("a", gen), ("b", merge)))
    make_on(site, "prod/1/1/1", "far")
    site.fail("prod/1/2/1")
    down(site)

    assert nodes_down(site) == [], "`z` ends, and the merge only after a retry"


def test_a_job_waits_for_a_file_of_another_job_on_a_node_that_is_down(site: Site) -> None:
    site.submit(job(("a", [line(package("x")), line(package("y"))]), name="first"))
    make_on(site, "first/1/1/1", "far")
    site.submit(job(("b", [line(package("z", needs=["first:x"]))]), name="second"))
    down(site)
    assert nodes_down(site, "second") == [], "it was delivered to results/"

    with site.store.writing():
        change(site.store, "file", {"name": "x"}, result=0)

    assert nodes_down(site, "second") == ["far"]
    assert nodes_down(site, "first") == [], "nothing of it reads the file"


def test_a_job_waits_for_results_on_a_node_that_is_down(site: Site) -> None:
    site.submit(job(("a", [line(package("x")), line(package("y"))])))
    make_on(site, "prod/1/1/1", "far")
    with site.store.writing():
        x = value(site.store, "file", "id", name="x")
        insert(site.store, "transfer", file_id=x, cluster_id=1, wanted=1.0, result=1)
    assert nodes_down(site) == []

    down(site)

    assert nodes_down(site) == ["far"]


def test_a_file_from_a_locator_is_copied_from_there(site: Site) -> None:
    site.submit(job(("a", [line(package("x"), package("y", needs=["x"]))])))
    make_on(site, "prod/1/1/1", "far")
    with site.store.writing():
        change(site.store, "file", {"name": "x"}, locator="https://example.org/x")
    down(site)

    assert nodes_down(site) == []
