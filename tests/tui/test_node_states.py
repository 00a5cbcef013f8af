"""Nodes in the first line: those that are up, and of these the drained ones."""

import time

import pytest

from d0ctl.actions import apply, request
from d0ctl.actions.action import NodeName
from d0ctl.model import Address
from d0ctl.store.nodes import registry
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


def test_the_cursor_stays_on_a_node_that_moves_up_the_list(site: Site, dashboard: Open) -> None:
    site.submit(production())
    with site.store.writing():
        registry.add(site.store, Address("zeta", "ssh", "nobody@127.0.0.1:1"), cpus=1)
    for name in ("localhost", "zeta"):
        site.up(name, machine_id=name)

    async def script(desk: Desk) -> None:
        await desk.press("o", "j")
        await desk.sees("node `zeta` is up")
        await desk.press("d")
        await desk.sees("would drain `zeta`")
        await desk.press("enter")
        await desk.sees("drained `zeta`")
        await desk.press("enter")
        await desk.until(lambda: "zeta" in desk.lines("nodelist")[0], "drained nodes are first")
        await desk.press("u")
        await desk.sees("would resume `zeta`")

    dashboard(script)
