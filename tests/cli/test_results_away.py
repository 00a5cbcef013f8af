"""Packages that have succeeded and whose results are on a node that is down."""

import time

import pytest

from d0ctl.store.nodes import contact
from tests.cli.conftest import Type
from tests.support.building import production
from tests.support.rows import change, insert, value
from tests.support.site import Site


@pytest.fixture
def site(site: Site) -> Site:
    """A site with a package that has succeeded on a node that is down, before it was copied."""
    site.submit(production())
    site.launch("prod/1/1/1")
    with site.store.writing():
        change(site.store, "package", {"phase": "running"}, phase="transferring")
        file = value(site.store, "file", "id", name="gen-1")
        insert(site.store, "transfer", file_id=file, cluster_id=1, wanted=1.0, tries=1, result=1,
               last_error="the connection broke")  # fmt: skip
        contact.down(site.store, 1, "connection refused", now=time.time())
    return site


def test_they_are_not_said_to_be_copied_until_the_node_answers(site: Site, d0ctl: Type) -> None:
    package, job = d0ctl("why", "prod/1/1/1").stdout, d0ctl("why", "prod").stdout

    assert "its results are copied to results/ once `localhost` answers" in package
    assert "  $ d0ctl node check localhost\n" in package
    assert "- file `gen-1` can't be copied: node `localhost` is down\n" in job
    assert "is being copied" not in package + job


def test_the_advised_removal_of_the_node_is_one_that_is_not_refused(
    site: Site, d0ctl: Type
) -> None:
    pages = [d0ctl("why", what).stdout for what in ("localhost", "prod/1/1/1")]

    assert all("d0ctl node remove localhost --lost   # if" in page for page in pages)
    assert d0ctl("node", "remove", "localhost", "--dry-run").exit_code == 4
    assert d0ctl("node", "remove", "localhost", "--lost", "--dry-run").exit_code == 0
