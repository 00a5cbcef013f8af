"""On a new link the orders to end go first, and then the lease; it is renewed with each ping."""

import json
import queue
import time
from pathlib import Path

import pytest

from d0ctl.daemon.desk import Desk
from d0ctl.daemon.loop import Loop
from d0ctl.daemon.steps.courier_reports import act_on_reports
from d0ctl.daemon.steps.monitor import reload_settings
from d0ctl.daemon.steps.orders import kill_orders, send_orders
from d0ctl.nodes import courier as couriers
from d0ctl.nodes import health_check
from d0ctl.nodes import link as links
from d0ctl.nodes.courier import Courier
from d0ctl.nodes.courier_reports import NodeUp, Report
from d0ctl.nodes.link import Frame
from d0ctl.nodes.transports.transport import Address
from d0ctl.store import Store, lifecycle
from d0ctl.store.views import one_package
from tests.daemon.contact import Stub
from tests.support import rows
from tests.support.jobs import NOW, job, simple, submitted
from tests.support.site import Site
from tests.support.waiting import wait_until


class Ear:
    """A courier that writes down what it is asked, and reaches nobody."""

    def __init__(self, node: int) -> None:
        self.node, self.address, self.cpus = node, Address("localhost"), None
        self.is_up = False
        self.lease_frame = {"kind": "lease", "seconds": 7.0}
        self.silence_s = 0.0
        self.orders: list[Frame] = []
        self.site: links.Site

    def accept(self, link: int) -> None:
        self.is_up = True

    def order(self, frame: Frame) -> None:
        self.orders.append(frame)

    def leave(self) -> None:
        pass

    def stop(self) -> None:
        pass


def launch_three(store: Store) -> None:
    """Launch three packages on this machine."""
    submitted(store, job("job", [simple(), simple(), simple()]))
    world = Site.of(store, cpus=8)
    world.schedule()
    world.hand_out(world.node("localhost"))
    world.order(world.node("localhost"))


def test_on_a_new_link_kills_go_before_the_lease(desk: Desk) -> None:
    store = desk.store
    launch_three(store)
    with store.writing():
        selected = store.select([2])
        lifecycle.kill(selected, actor="tester", note=None, now=NOW)
    ear = Ear(1)
    desk.couriers[1] = ear  # type: ignore[assignment]
    listed = {1: "running", 2: "running", 3: "running", 99: "running"}

    up = NodeUp(1, {"boot_id": "1", "cpus": 8, "base": "/b"}, listed, 1)
    Loop(desk).work([act_on_reports], reports=[up])

    kinds = [order["kind"] for order in ear.orders]
    assert kinds.count("lease") == 1 and kinds[-1] == "lease"
    killed = [attempt for o in ear.orders if o["kind"] == "kill" for attempt in o["attempts"]]
    assert sorted(killed) == [2, 99]


def test_a_dead_attempt_has_another_message_than_one_that_the_node_lacks(desk: Desk) -> None:
    store = desk.store
    launch_three(store)
    rows.change(store, "attempt", wrapper_started=NOW)
    desk.couriers[1] = Ear(1)  # type: ignore[assignment]

    up = NodeUp(1, {"boot_id": "1", "cpus": 8, "base": "/b"}, {1: "running", 2: "dead"}, 1)
    Loop(desk).work([act_on_reports], reports=[up])

    ended = [one_package.attempts(store, package)[0] for package in (1, 2, 3)]
    assert [(attempt.reason, attempt.message) for attempt in ended] == [
        (None, None),
        ("lost", "its wrapper ended without a report while the node was not in contact"),
        ("lost", "the node does not have it any more"),
    ]


def test_a_report_that_is_read_late_is_no_difference_of_clocks(desk: Desk) -> None:
    heard = time.time() - 60
    desk.couriers[1] = Ear(1)  # type: ignore[assignment]

    for ahead in (0.0, 30.0):
        facts = {"boot_id": "1", "cpus": 8, "base": "/b", "time": heard + ahead}
        Loop(desk).work([act_on_reports], reports=[NodeUp(1, facts, {}, 1, (), heard)])

        assert rows.value(desk.store, "node", "clock", id=1) == pytest.approx(ahead)


def test_a_lease_is_renewed_with_each_ping_once_it_was_given(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    link = Stub()
    monkeypatch.setattr(couriers, "open_link", lambda *_, **__: link)
    for name in ("SHORTEST_S", "LONGEST_S"):
        monkeypatch.setattr(health_check, name, 0.01)
    reports: queue.SimpleQueue[Report] = queue.SimpleQueue()
    site = links.Site("site", tmp_path, tmp_path, tmp_path, lease=7.0)
    courier = Courier(1, Address("n1"), site, deliver=lambda *_: None, report=reports.put)
    courier.start()
    try:
        wait_until(lambda: sum(frame["kind"] == "ping" for frame in link.sent) > 3)
        assert not any(frame["kind"] == "lease" for frame in link.sent)

        courier.accept(1)
        courier.order(courier.lease_frame)

        wait_until(lambda: link.sent.count({"kind": "lease", "seconds": 7.0}) > 3)
    finally:
        courier.stop()


def test_the_sites_lease_logs_and_reserve_count_at_once(desk: Desk) -> None:
    ear = Ear(1)
    desk.couriers[1] = ear  # type: ignore[assignment]
    with desk.store.writing():
        answer = json.dumps({"lease": 60.0, "keep-logs": 5.0, "control-reserve": 7})
        desk.store.change("keep_setting", name="defaults", value=answer)

    Loop(desk).work([reload_settings, reload_settings])

    assert (ear.site.lease, ear.site.keep_logs, ear.site.reserve) == (60.0, 5.0, 7)
    assert ear.orders == [{"kind": "keep", "seconds": 5.0}]


def test_the_site_sets_the_grace_of_a_kill(desk: Desk) -> None:
    with desk.store.writing():
        answer = json.dumps({"grace": 3.0, "partial-grace": 4.0})
        desk.store.change("keep_setting", name="defaults", value=answer)

    (order,) = kill_orders(desk.store, {1: "kill"})

    assert (order["grace"], order["partial_grace"]) == (3.0, 4.0)


def test_the_length_of_the_lease_is_the_sites(desk: Desk) -> None:
    assert desk.site.lease == 3000.0
    assert desk.site.keep_logs == 30 * 86400


def test_kills_on_two_nodes_in_one_turn_are_not_sent_again_in_the_next(desk: Desk) -> None:
    submitted(desk.store, job("job", [simple(nodes=("localhost",)), simple(nodes=("far",))]))
    world = Site.of(desk.store, "far", cpus=2)
    world.schedule()
    for node in world.nodes.values():
        world.hand_out(node)
        world.order(node)
    with desk.store.writing():
        selected = desk.store.select([1, 2])
        lifecycle.kill(selected, actor="tester", note=None, now=NOW)
    ears = [Ear(node) for node in world.nodes]
    for ear in ears:
        ear.is_up = True
        desk.couriers[ear.node] = ear  # type: ignore[assignment]

    for _ in range(2):
        Loop(desk).work([send_orders])

    assert [[order["kind"] for order in ear.orders] for ear in ears] == [["kill"], ["kill"]]
