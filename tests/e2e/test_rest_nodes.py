"""Several nodes in one request to `d0ctl serve`."""

from collections.abc import Iterator

import pytest

from d0ctl.model import Address
from d0ctl.store.nodes import registry
from tests.e2e.test_rest import Server, read, secret
from tests.support.site import Site


@pytest.fixture
def farm(site: Site) -> Iterator[Server]:
    """A server of a site with localhost and another node."""
    site.ok("node", "list")
    with site.opened() as store, store.writing():
        registry.add(store, Address("n1", "ssh", "n1"), cpus=2)
    server = Server(site)
    yield server
    server.stop()


def test_nodes_are_drained_and_resumed_together_by_their_names_or_a_pattern(
    site: Site, farm: Server
) -> None:
    with farm.client(secret(site, "admin")) as client:
        both = ["localhost", "n1"]
        drained = read(client.post("actions/node/drain", json={"target": both}))
        resumed = read(client.post("actions/node/resume", json={"target": "*"}))
        unknown = read(client.post("actions/node/drain", json={"target": ["n1", "farm9"]}), 404)

    assert drained["lines"] == ["drained `localhost`", "drained `n1`"]
    assert drained["undo"] == "d0ctl node resume localhost n1"
    assert resumed["lines"] == ["resumed `localhost`", "resumed `n1`"]
    assert "farm9" in unknown["error"]
    assert not any(node["drained"] for node in site.json("node", "list")["nodes"])
