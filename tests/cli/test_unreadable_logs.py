"""Logs on nodes that are down or removed: no command leads to them."""

import pytest

from d0ctl.model import Address
from d0ctl.store.nodes import registry
from tests.cli.conftest import Type
from tests.cli.test_standing import down, drive
from tests.support.building import production
from tests.support.site import Site

LOGS = "d0ctl logs prod/1/1/1"


@pytest.fixture
def failed(site: Site) -> Site:
    """A site with a package that failed on another node, which is up."""
    registry.add(site.store, Address("far", "ssh", "far"), cpus=4)
    site.up()
    site.submit(production(lines=1))
    site.launch("prod/1/1/1", "far")
    site.end("prod/1/1/1", "failed", reason="exit-code", exit_code=3, binary=1)
    drive(site)
    return site


def test_the_log_of_a_package_is_not_suggested_while_its_node_is_down(
    d0ctl: Type, failed: Site
) -> None:
    assert LOGS in d0ctl("why", "prod/1/1/1").stdout
    down(failed, "far")

    for words in (["why", "prod/1/1/1"], ["why", "prod"], ["status", "prod/1/1/1"]):
        said = d0ctl(*words).stdout
        assert LOGS not in said, words
        assert "- its log can't be read while `far` is down" in said, words
    assert LOGS not in d0ctl("why", "prod/1/1/1/1").stdout
    assert LOGS not in d0ctl("status", "prod/1/1/1/1").stdout


def test_nor_is_it_once_its_node_was_removed(d0ctl: Type, failed: Site) -> None:
    assert d0ctl("node", "remove", "far", "--yes").exit_code == 0

    said = d0ctl("why", "prod/1/1/1").stdout
    assert LOGS not in said
    assert "- its log can't be read: node `far` was removed" in said
    failures = d0ctl("logs", "prod", "--failed").stdout
    assert "its log can't be read: its node `far` was removed" in failures
    assert LOGS not in failures


def test_the_last_lines_of_a_log_on_a_removed_node_are_all_there_is(
    d0ctl: Type, site: Site
) -> None:
    registry.add(site.store, Address("far", "ssh", "far"), cpus=4)
    site.up()
    site.submit(production(lines=1))
    site.launch("prod/1/1/1", "far")
    site.end("prod/1/1/1", "failed", reason="exit-code", exit_code=3, binary=1, stderr="no beam\n")
    assert LOGS in d0ctl("logs", "prod", "--failed").stdout
    assert d0ctl("node", "remove", "far", "--yes").exit_code == 0

    failures = d0ctl("logs", "prod", "--failed")

    assert (failures.exit_code, "│ no beam" in failures.stdout) == (0, True)
    assert "    its log can't be read: node `far` was removed" in failures.stdout
    assert LOGS not in failures.stdout
    refused = d0ctl("logs", "prod/1/1/1")
    assert (refused.exit_code, refused.stderr.splitlines()) == (3, [
        "d0ctl: its node `far` was removed", "d0ctl status prod/1/1/1"
    ])  # fmt: skip
    assert "no beam" in d0ctl("status", "prod/1/1/1").stdout


def test_nor_is_that_of_a_binary_that_has_not_run(d0ctl: Type, failed: Site) -> None:
    assert "d0ctl logs" not in d0ctl("why", "prod/1/1/2/1").stdout
    assert "d0ctl logs" not in d0ctl("status", "prod/1/1/2/1").stdout
