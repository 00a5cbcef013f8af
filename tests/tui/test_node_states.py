"""Nodes in the first line: those that are up, and of these the drained ones."""

import time

import pytest

from d0ctl.actions import apply, request
from d0ctl.actions.action import NodeName
from tests.support.building import production
from tests.support.site import Site
from tests.tui.conftest import Desk, Open


@pytest.mark.parametrize(
    ("is_up", "words"), [(True, "1/1 node up, 1 drained   0/0"), (False, "0/1 node up   0/0")]
)
def test_a_drained_node_is_up_only_if_it_is_connected(
    site: Site, dashboard: Open, is_up: bool, words: str
) -> None:
    site.submit(production())
    if is_up:
        site.up()
    drain = request("node drain", NodeName("localhost"))
    apply(site.store, drain, actor="me", note=None, now=time.time())

    async def script(desk: Desk) -> None:
        await desk.sees(words)

    dashboard(script)
