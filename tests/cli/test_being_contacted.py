"""`status` while nodes are being contacted, just after a start of the daemon."""

import time

from d0ctl.model import Address
from d0ctl.store.nodes import leases, registry
from tests.cli.conftest import Type
from tests.support.building import production
from tests.support.site import Site


def test_a_drained_node_is_no_obstacle_while_others_are_being_contacted(
    site: Site, d0ctl: Type
) -> None:
    with site.store.writing():
        leases.take_lease(site.store, "daemon", now=time.time())
    site.up()
    registry.add(site.store, Address("far", "ssh", "far"), cpus=2)
    site.submit(production("one"))
    site.submit(production("two"))
    d0ctl("node", "drain", "localhost", "--reason", "packages run on the farm")

    screen = d0ctl("status").stdout

    assert "✘" not in screen
    assert "node resume" not in screen
    assert "1 of 2 nodes up, 1 drained, 1 being contacted" in screen
