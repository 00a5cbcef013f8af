"""Packages that have succeeded and whose results are on a node that is down."""

import time

import pytest

from d0ctl.model import Address
from d0ctl.store.nodes import contact, registry
from tests.cli.conftest import Type
from tests.cli.test_standing import drive
from tests.support.building import job, line, package
from tests.support.rows import change, insert, value
from tests.support.site import Site


@pytest.fixture
def site(site: Site) -> Site:
    """A site with a package that has succeeded on a node that is down, before it was copied."""
    drive(site)
    registry.add(site.store, Address("far", "ssh", "far"), cpus=2)
    site.up()
    site.up("far", machine_id="m2", base="/tmp/far")
    site.submit(job(("a", [line(package("x"))])))
    site.launch("prod/1/1/1", "far")
    far = registry.named(site.store, "far")
    with site.store.writing():
        change(site.store, "package", {"phase": "running"}, phase="transferring")
        change(site.store, "file", {"name": "x"}, present=1, size=10)
        x = value(site.store, "file", "id", name="x")
        insert(site.store, "location", file_id=x, cluster_id=far.cluster_id, path="/x", made=0.0)
        insert(site.store, "transfer", file_id=x, cluster_id=1, wanted=1.0, tries=1, result=1,
               last_error="the connection broke")  # fmt: skip
        contact.down(site.store, far.id, "connection refused", now=time.time())
    return site


def test_they_are_not_said_to_be_copied_until_the_node_answers(site: Site, d0ctl: Type) -> None:
    package, job = d0ctl("why", "prod/1/1/1").stdout, d0ctl("why", "prod").stdout

    assert "its results are copied to results/ once `far` answers" in package
    assert "  $ d0ctl node check far\n" in package
    assert "- file `x` can't be copied: node `far` is down\n" in job
    assert "is being copied" not in package + job


def test_the_advised_removal_of_the_node_makes_them_again(site: Site, d0ctl: Type) -> None:
    pages = [d0ctl("why", what).stdout for what in ("far", "prod/1/1/1")]

    assert all("d0ctl node remove far --lost   # if" in page for page in pages)
    assert d0ctl("node", "remove", "far").exit_code == 4
    assert d0ctl("node", "remove", "far", "--lost").exit_code == 0
    assert site.phase("prod/1/1/1") == "ready"


def test_a_job_of_which_only_these_are_left_stands_still_once_the_node_was_down_for_long(
    site: Site, d0ctl: Type
) -> None:
    with site.store.writing():
        change(site.store, "node", {"name": "far"}, since=time.time() - 7200)

    text = "1 package waits for files whose only copies are on nodes that have been down for too"
    why, check = d0ctl("why", "prod"), d0ctl("status", "prod", "--check")

    assert why.stdout.startswith(f"job `prod` stands still: {text}")
    assert "  $ d0ctl node check far\n" in why.stdout
    assert check.exit_code == 5 and text in check.stdout
