"""`why` of a package that avoids the node where it failed, while the others pause for its stage."""

import time

import pytest

from d0ctl.model import Address
from d0ctl.store.nodes import leases, registry
from tests.cli.conftest import Type
from tests.store.failing import say
from tests.support.building import document, production
from tests.support.site import Site


@pytest.fixture
def failed(site: Site) -> Site:
    """A package that failed here is to be tried elsewhere; another one failed on the other node."""
    say(site.store, exit_code={"tries": 1, "elsewhere": True})
    site.submit(production(lines=9))
    registry.add(site.store, Address("hole", "ssh", "hole"), cpus=1)
    for name in ("localhost", "hole"):
        site.up(name, machine_id=name)
    site.launch("prod/1/1/1", "localhost")
    site.end("prod/1/1/1", "failed", reason="exit-code")
    site.finish("prod/1/2/1")
    site.launch("prod/1/3/1", "hole")
    site.end("prod/1/3/1", "failed", reason="exit-code")
    with site.store.writing():
        leases.take_lease(site.store, "daemon", now=time.time())
    return site


def test_it_waits_for_the_node_that_pauses(failed: Site, d0ctl: Type) -> None:
    screen = d0ctl("why", "prod/1/1/1").stdout

    until = screen.partition("node `hole` pauses until ")[2][: len("12:34:56")]
    assert f"is ready, and it waits for `hole`, which pauses until {until}\n" in screen
    assert "node `localhost` is avoided: an attempt failed there" in screen
    assert "it would end" not in screen and "`prod/1/1/1` begins" not in screen
    nodes = document(d0ctl("why", "prod/1/1/1", "--json").stdout)["details"]["nodes"]
    assert all(node["against"] for node in nodes)
    assert "starts on `localhost` when" in d0ctl("why", "prod/1/4/1").stdout


def test_the_first_end_of_several_pauses_counts(failed: Site, d0ctl: Type) -> None:
    registry.add(failed.store, Address("pit", "ssh", "pit"), cpus=1)
    failed.up("pit", machine_id="pit")
    failed.launch("prod/1/5/1", "pit")
    failed.end("prod/1/5/1", "failed", reason="exit-code")

    screen = d0ctl("why", "prod/1/1/1").stdout

    assert "it waits for nodes that pause, `" in screen


def test_it_is_taken_where_it_failed_if_no_other_node_is_suitable(
    failed: Site, d0ctl: Type
) -> None:
    d0ctl("node", "drain", "hole")

    screen = d0ctl("why", "prod/1/1/1").stdout

    assert "starts on `localhost` when its turn comes" in screen
    assert "is avoided" not in screen


def test_the_named_commands_end_the_pause_of_a_node(failed: Site, d0ctl: Type) -> None:
    answer = d0ctl("why", "hole").stdout
    assert "it takes no package of `prod/1` until " in answer
    assert answer.count("d0ctl node drain hole && d0ctl node resume hole") == 1

    for verb in ("drain", "resume"):
        assert d0ctl("node", verb, "hole").exit_code == 0

    assert "it takes no package of" not in d0ctl("why", "hole").stdout


def test_a_failure_for_something_else_elsewhere_is_named_beside_the_last_one(
    failed: Site, d0ctl: Type
) -> None:
    failed.launch("prod/1/4/1", "localhost")
    failed.end("prod/1/4/1", "failed", reason="exit-code", detail="no calibration for run 17")
    assert "otherwise" not in d0ctl("why", "prod/1/4/1").stdout
    failed.launch("prod/1/4/1", "hole")
    failed.end("prod/1/4/1", "failed", reason="exit-code", detail="cannot open libgeom.so")

    answer = d0ctl("why", "prod/1/4/1").stdout
    assert answer.startswith("package `prod/1/4/1` failed: exit-code: cannot open libgeom.so\n")
    assert (
        "- attempt 1, on `localhost`, failed otherwise: exit-code: no calibration for run 17\n"
        in answer
    )
