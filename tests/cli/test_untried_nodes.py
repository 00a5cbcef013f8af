"""`why` of a package that is tried on other nodes: which of them have not been tried."""

from d0ctl.model import Address
from d0ctl.store.nodes import registry
from tests.cli.conftest import Type
from tests.cli.test_missing_on_nodes import lack
from tests.support.building import production
from tests.support.site import Site


def test_the_nodes_that_have_not_been_tried_are_named(site: Site, d0ctl: Type) -> None:
    for name in ("far", "near"):
        registry.add(site.store, Address(name, "ssh", name), cpus=2)
    for name in ("localhost", "far", "near"):
        site.up(name, machine_id=name)
    site.submit(production())
    lack(site, "prod/1/1/1", "localhost")

    answer = d0ctl("why", "prod/1/1/1").stdout
    assert "not on `localhost` if another node can take it\n" in answer
    assert "`far` and `near`, which have not been tried, can take it now\n" in answer

    d0ctl("node", "drain", "near")
    assert "`far`, which has not been tried, can take it now\n" in d0ctl("why", "prod/1/1/1").stdout
    d0ctl("node", "drain", "far")
    answer = d0ctl("why", "prod/1/1/1").stdout
    assert "`far` and `near`, which have not been tried, take no packages now\n" in answer
