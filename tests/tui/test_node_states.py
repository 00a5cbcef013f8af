"""Nodes in the first line and in their rows; jobs that stand still without a daemon."""

import time

import pytest
from msgspec.structs import replace

from d0ctl.actions import apply, request
from d0ctl.actions.action import NodeName
from d0ctl.model import Address
from d0ctl.show.drawing.signs import TAKES_NONE, UNICODE
from d0ctl.show.drawing.spans import text
from d0ctl.store.nodes import contact, leases, registry
from d0ctl.store.nodes.leases import LEASE
from d0ctl_tui.draw import strips
from d0ctl_tui.read.snapshot import Snapshot
from tests.support.building import job, line, package, production
from tests.support.site import Site
from tests.tui.conftest import Desk, Open
from tests.tui.test_drawing import NODES, node


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
    site.fail("prod/1/1/1")
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
        await desk.press("C")
        await desk.sees("would resume `zeta`")
        await desk.press("escape", "F")
        await desk.sees("failures of all jobs", "1 localhost")
        await desk.press("escape", "u")
        await desk.sees("would resume `zeta`")
        await desk.press("enter")
        await desk.sees("resumed `zeta`", "u undo")

    dashboard(script)


def test_a_node_whose_disk_is_full_takes_no_packages_on_all_screens(
    site: Site, dashboard: Open
) -> None:
    site.submit(production())
    site.up(disk_free=1_400_000, disk_total=63_000_000)
    reason = "1.4 MB of 63 MB free on its disk, less than its reserve"

    async def script(desk: Desk) -> None:
        await desk.sees("1/1 node up, 1 takes no packages   0/0")
        assert "takes no packages" in desk.lines("nodes")[0]
        await desk.press("o")
        await desk.sees(reason)

    dashboard(script, size=(160, 40))


def test_the_row_of_a_node_that_is_down_says_that_it_is_drained_too(
    site: Site, dashboard: Open
) -> None:
    site.submit(production())
    with site.store.writing():
        registry.add(site.store, Address("zeta", "ssh", "nobody@127.0.0.1:1"), cpus=1)
        contact.down(site.store, registry.named(site.store, "zeta").id, "no route", now=1e9)
    drain = request("node drain", NodeName("zeta"))
    apply(site.store, drain, actor="me", note=None, now=time.time())

    async def script(desk: Desk) -> None:
        await desk.press("o")
        await desk.sees("drained; no route")

    dashboard(script, size=(160, 40))


def test_without_a_daemon_rows_say_that_their_jobs_stand_still_as_status_does(
    site: Site, dashboard: Open
) -> None:
    site.submit(job(("a", [line(package(f"x{n}")) for n in (1, 2)]), name="late"))
    site.submit(job(("a", [line(package("x"))]), name="busy"))
    site.launch("busy/1/1/1")
    for path in ("late/1/1/1", "late/1/2/1"):
        site.fail(path, reason="stage-in", detail="no such file: raw.dat")

    async def script(desk: Desk) -> None:
        await desk.sees("no daemon", "✘ stands still")
        rows = desk.lines("tree")
        assert "▶ running" in rows[0] and "✘ stands still" in rows[1]
        assert "cooloff" not in rows[1]

    dashboard(script, size=(120, 40))


def test_jobs_that_stand_still_for_all_nodes_are_counted_found_and_explained(
    site: Site, dashboard: Open
) -> None:
    site.submit(job(("a", [line(package("x"))]), name="late"))
    site.up()
    with site.store.writing():
        leases.take_lease(site.store, LEASE, now=time.time())
    drain = request("node drain", NodeName("localhost"))
    apply(site.store, drain, actor="me", note="new disks", now=time.time())

    async def script(desk: Desk) -> None:
        await desk.sees("1 drained", "✘ 1 stands still")
        await desk.press("n")
        await desk.sees("package `late/1/1/1`")
        assert "nothing needs a person" not in desk.screen
        await desk.press("Z")
        await desk.sees("✘ stands still", "new disks")

    dashboard(script)


def test_nodes_without_a_daemon_are_not_connected_and_their_slots_are_in_use() -> None:
    nodes = tuple(replace(of, state="unknown", used=2, is_up=False) for of in NODES[:2])
    snapshot = Snapshot(at=100.0, nodes=nodes)

    header = text(strips.header(snapshot, (), "/home/x", "", "", 50.0, 120, UNICODE))

    assert f"2 nodes not connected   4/{sum(of.cpus for of in nodes)} slots" in header


def test_a_narrow_header_has_the_nodes_that_are_down_or_full_beside_many_problems() -> None:
    nodes = (*NODES, node("e", TAKES_NONE))
    needing = {1: {"failed": 6, "unreachable": 2}}
    snapshot = Snapshot(at=100.0, nodes=nodes, needing=needing, tasks={9: "failed"})

    narrow = text(strips.header(snapshot, (LEASE,), "/home/x", "", "", 50.0, 80, UNICODE))

    assert "4/5 up, 1 full" in narrow and "✘ 6" in narrow and "1 task" in narrow


@pytest.mark.parametrize(
    ("leases", "words"),
    [(("job 1", "node 2"), "`run` is driving"), (("node 2",), "no daemon: nothing new starts")],
)
def test_a_daemon_that_ends_and_still_has_nodes_is_no_run(
    leases: tuple[str, ...], words: str
) -> None:
    snapshot = Snapshot(at=100.0, nodes=NODES)

    assert words in text(strips.header(snapshot, leases, "/h", "", "", 50.0, 120, UNICODE))
