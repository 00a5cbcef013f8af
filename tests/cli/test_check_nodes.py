"""`status --check` at a site with drained nodes."""

import time

from d0ctl.model import Address
from d0ctl.store.nodes import leases, registry
from tests.cli.conftest import Type
from tests.support.building import production
from tests.support.site import Site


def test_drained_nodes_are_named_beside_those_that_work(site: Site, d0ctl: Type) -> None:
    with site.store.writing():
        leases.take_lease(site.store, "daemon", now=time.time())
    site.submit(production())
    site.up()
    for name in ("farm01", "farm02"):
        registry.add(site.store, Address(name, "ssh", name), cpus=2)
        site.up(name)
        d0ctl("node", "drain", name)

    text = "moving: 1 job; nodes `farm01` and `farm02` drained\n"
    assert d0ctl("status", "-q").stdout == text
