"""Nodes that a job excludes, as its status shows them."""

import json
import time

import pytest

from d0ctl.model import Address
from d0ctl.store.nodes import registry
from tests.cli.conftest import Type
from tests.support.building import document, production
from tests.support.rows import change, insert
from tests.support.site import Site


@pytest.fixture
def excluding(site: Site) -> Site:
    """A job of which five packages failed for good on a node, and seven succeeded on another."""
    insert(site.store, "setting", name="bad-nodes", value=json.dumps({"failures": 0}))
    site.submit(production(lines=20))
    registry.add(site.store, Address("hole", "ssh", "hole"), cpus=1)
    for name in ("localhost", "hole"):
        site.up(name, machine_id=name)
    for number in range(1, 8):
        site.finish(f"prod/1/{number}/1")
    for number in range(8, 13):
        site.launch(f"prod/1/{number}/1", "hole")
        site.end(f"prod/1/{number}/1", "failed", reason="exit-code")
    return site


def test_packages_that_stay_failed_are_not_said_to_run_elsewhere(
    excluding: Site, d0ctl: Type
) -> None:
    assert document(d0ctl("status", "prod", "--json").stdout)["excluded"] != []
    screen = d0ctl("status", "prod").stdout
    assert "5 failed" in screen
    assert "elsewhere" not in screen


def test_only_packages_that_are_tried_on_other_nodes_are_said_to_run_elsewhere(
    excluding: Site, d0ctl: Type
) -> None:
    for number, reason in ((13, "lost"), (14, "stage-in"), (15, "lost")):
        excluding.launch(f"prod/1/{number}/1", "hole")
        excluding.end(f"prod/1/{number}/1", "failed", reason=reason)
    sentence = "that failed or got lost on node `hole` run elsewhere: 8 of 8 attempts of this job"
    assert f"3 packages {sentence}" in d0ctl("status", "prod").stdout

    excluding.launch("prod/1/13/1")
    excluding.launch("prod/1/15/1", "hole")

    assert f"2 packages {sentence}" in d0ctl("status", "prod").stdout
    excluding.end("prod/1/13/1")
    sentence = "1 package that failed or got lost on node `hole` runs elsewhere: 8 of 8 attempts"
    assert sentence in d0ctl("status", "prod").stdout
    change(excluding.store, "job", ended=time.time())
    assert "elsewhere" not in d0ctl("status", "prod").stdout
