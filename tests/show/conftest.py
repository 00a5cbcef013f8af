"""A home whose jobs and nodes are explained."""

import pytest

from d0ctl.store.nodes import leases
from tests.show.asking import NOW
from tests.support.site import Site


@pytest.fixture
def site(site: Site) -> Site:
    """A site with a driver."""
    with site.store.writing():
        leases.take_lease(site.store, "daemon", now=NOW)
    return site
