"""Nodes whose driver was killed: nobody knows their state, and no screen claims it."""

import time

from d0ctl.daemon.drive import driving
from d0ctl.doctor.leases import holders
from d0ctl.store.nodes import contact, leases, registry
from d0ctl.store.nodes.holder import abandoned, holder
from tests.cli.conftest import Type
from tests.support.building import document
from tests.support.jobs import job
from tests.support.rows import change, insert, read
from tests.support.site import Site

UP = {"boot_id": "b", "cpus": 2, "base": "/b"}


def kill_driver(site: Site) -> None:
    """Leave the home as a daemon that was killed while `localhost` was up."""
    with site.store.writing():
        contact.up(site.store, 1, UP, now=time.time())
    insert(site.store, "lease", name="node 1", holder=f"{holder()}x", taken=1)


def test_nodes_of_a_killed_driver_are_not_connected_on_any_screen(site: Site, d0ctl: Type) -> None:
    for name in ("one", "two"):
        site.submit(job(name))
    kill_driver(site)

    change(site.store, "node", contact=time.time() + 9)

    shown = document(d0ctl("node", "list", "--json").stdout)["nodes"][0]
    assert (shown["state"], shown["since"]) == ("unknown", shown["contact"])
    assert "not connected" in d0ctl("node", "list").stdout
    assert "`localhost` is not in contact" in d0ctl("why", "--node", "localhost").stdout
    assert "no daemon: 1 node not connected" in d0ctl("status").stdout
    assert "d0ctl_node_up{" not in d0ctl("report", "metrics").stdout
    assert [row.state for row in registry.capacities(site.store)] == ["unknown"]


def test_a_node_with_a_living_driver_is_up(site: Site, d0ctl: Type) -> None:
    kill_driver(site)
    with site.store.writing():
        assert leases.take_lease(site.store, "node 1", now=time.time())

    assert abandoned(site.store) == set()
    assert "not connected" not in d0ctl("node", "list").stdout


def test_the_next_driver_settles_what_a_killed_one_left(site: Site) -> None:
    kill_driver(site)
    insert(site.store, "lease", name="node 7", holder=f"{holder()}x", taken=1)

    with driving(site.store.home, None) as desk:
        assert leases.leases(desk.store) == []
        assert read(desk.store, "node", "state") == [("unknown",)]


def test_the_lease_of_a_removed_node_goes_with_it(site: Site, d0ctl: Type) -> None:
    site.submit(job("work"))
    kill_driver(site)

    assert d0ctl("node", "remove", "localhost", "--yes").exit_code == 0

    assert leases.leases(site.store) == []
    assert list(holders(site.store)) == []
