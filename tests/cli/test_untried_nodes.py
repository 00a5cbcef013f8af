"""`why` of a package that is tried on other nodes: which of them have not been tried."""

from d0ctl.model import Address
from d0ctl.store.nodes import registry
from tests.cli.conftest import Type
from tests.cli.test_advised_retries import CERTAIN
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


def test_a_node_that_came_back_after_the_last_try_is_named_in_place_of_a_warning(
    site: Site, d0ctl: Type
) -> None:
    registry.add(site.store, Address("far", "ssh", "far"), cpus=2)
    for name in ("localhost", "far"):
        site.up(name, machine_id=name)
    site.submit(production())
    d0ctl("node", "drain", "far")
    lack(site, "prod/1/1/1", "localhost")
    away = "`far`, which has not been tried, takes no packages now\n"
    back = "`far`, which has not been tried, can take it now\n"

    answer = d0ctl("why", "prod/1/1/1").stdout
    assert "not retried: it failed like this on all nodes that could take it\n" in answer
    assert away in answer and CERTAIN in " ".join(answer.split())

    d0ctl("node", "resume", "far")
    for name in ("prod/1/1/1", "prod"):
        answer = d0ctl("why", name).stdout
        assert back in answer and "a plain retry" not in answer
        assert "d0ctl retry prod" in answer


def test_another_node_is_no_advice_for_a_command_that_is_wrong_on_all_nodes(
    site: Site, d0ctl: Type
) -> None:
    registry.add(site.store, Address("far", "ssh", "far"), cpus=2)
    site.submit(production())
    lack(site, "prod/1/1/1", "localhost", "1.sh: line 1: ./sim.sh: No such file or directory")
    site.up("far", machine_id="far")

    assert "not been tried" not in d0ctl("why", "prod/1/1/1").stdout
