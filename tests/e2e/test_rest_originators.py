"""Whose jobs are those that come through `d0ctl serve`."""

from collections.abc import Iterator

import pytest

from tests.e2e.test_rest import TASK, Server, read, secret
from tests.support.site import Site


@pytest.fixture
def server(site: Site) -> Iterator[Server]:
    """A server of a site with no jobs."""
    site.ok("node", "list")
    server = Server(site)
    yield server
    server.stop()


@pytest.mark.parametrize(
    ("key", "originator"), [("", "a-operator"), ("originator: emmy, ", "emmy")]
)
def test_the_originator_is_the_token_unless_the_file_names_one(
    site: Site, server: Server, key: str, originator: str
) -> None:
    job = f"{{{key}stages: [{{lines: [{{run: 'true'}}]}}]}}"
    task = TASK.replace("{", f"{{{key}", 1)
    with server.client(secret(site, "operator")) as client:
        read(client.post("jobs", json={"text": job, "name": "mine", "hold": True}))
        read(client.post("tasks", json={"text": task, "name": "theirs"}))
        read(client.post("actions/clone", json={"target": "mine", "name": "again"}))

    assert {site.json("status", job)["originator"] for job in ("mine", "again")} == {originator}
    assert site.json("task", "status", "theirs")["originator"] == originator
    site.ok("throttle", "set", "researcher", originator, "--max-running", "1")


@pytest.mark.parametrize("target", ["node localhost", ["node localhost"], ["node", "localhost"]])
def test_a_throttle_is_set_by_the_words_of_the_command_line(
    site: Site, server: Server, target: object
) -> None:
    with server.client(secret(site, "admin")) as client:
        limit = {"target": target, "max_running": 1}
        read(client.post("actions/throttle/set", json=limit))

    assert "localhost" in site.ok("throttle", "list")
