"""Couriers and links: those that fail, hang, or send too much."""

import queue
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from d0ctl.config import Home
from d0ctl.daemon.drive import driving
from d0ctl.errors import NodeUnreachable
from d0ctl.nodes import health_check
from d0ctl.nodes.courier import Courier
from d0ctl.nodes.courier_reports import FileFacts, NodeDown, NodeUp, Report, TransferEnded
from d0ctl.nodes.link import Frame, Link, Site
from d0ctl.nodes.transports.transport import Address
from tests.daemon.contact import Stub
from tests.daemon.couriers import Links
from tests.support.waiting import PATIENCE_S, wait_until


@pytest.mark.parametrize(
    "frame",
    [
        {"kind": "messages"},
        {"kind": "messages", "files": [{"name": "1.1"}]},
        {"kind": "messages", "files": 7},
        {"kind": "pong", "id": []},
    ],
)
def test_an_invalid_frame_ends_the_link_but_not_the_courier(
    links: Links, reports: "queue.SimpleQueue[Report]", courier: Courier, frame: Frame
) -> None:
    links.ready.put(Stub(frame))
    assert isinstance(reports.get(timeout=PATIENCE_S), NodeUp)
    assert isinstance(reports.get(timeout=PATIENCE_S), NodeDown)
    links.ready.put(Stub())
    assert isinstance(reports.get(timeout=PATIENCE_S), NodeUp)


def test_an_unforeseen_fault_does_not_end_a_courier(
    links: Links, reports: "queue.SimpleQueue[Report]", courier: Courier
) -> None:
    links.ready.put(RuntimeError("who would have thought"))
    assert isinstance(reports.get(timeout=PATIENCE_S), NodeDown)
    links.ready.put(Stub())
    up = reports.get(timeout=PATIENCE_S)
    assert isinstance(up, NodeUp)

    def errand(courier: Courier, link: Link) -> FileFacts:
        raise RuntimeError("nobody would")

    for name in "ab":
        courier.transfer(name, errand)
        carried = reports.get(timeout=PATIENCE_S)
        assert isinstance(carried, TransferEnded)
        assert (carried.name, carried.error) == (name, "RuntimeError: nobody would")


def test_an_order_that_does_not_go_out_ends_the_link(
    links: Links, reports: "queue.SimpleQueue[Report]", courier: Courier
) -> None:
    deaf = Stub()
    links.ready.put(deaf)
    up = reports.get(timeout=PATIENCE_S)
    assert isinstance(up, NodeUp)
    courier.accept(up.link)
    deaf.is_deaf = True
    courier.order({"kind": "kill", "attempts": [1], "grace": 5.0})
    down = reports.get(timeout=PATIENCE_S)
    assert isinstance(down, NodeDown)
    assert deaf.closed.is_set()
    fresh = Stub()
    links.ready.put(fresh)
    again = reports.get(timeout=PATIENCE_S)
    assert isinstance(again, NodeUp)
    courier.order({"kind": "kill", "attempts": [2], "grace": 5.0})
    courier.accept(again.link)
    courier.order({"kind": "kill", "attempts": [3], "grace": 5.0})
    wait_until(lambda: fresh.sent)
    assert [frame["attempts"] for frame in fresh.sent] == [[3]]


def test_a_link_that_answers_no_ping_is_closed(
    links: Links,
    reports: "queue.SimpleQueue[Report]",
    courier: Courier,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, seconds in (("SHORTEST_S", 0.01), ("LONGEST_S", 0.02), ("SILENCE_S", 0.1)):
        monkeypatch.setattr(health_check, name, seconds)
    mute = Stub()
    links.ready.put(mute)
    up = reports.get(timeout=PATIENCE_S)
    assert isinstance(up, NodeUp)
    courier.accept(up.link)
    courier.order({"kind": "resend", "attempts": [1]})

    down = reports.get(timeout=PATIENCE_S)
    assert isinstance(down, NodeDown)
    assert down.error.startswith("it does not answer: nothing came for")
    assert mute.closed.is_set()
    assert sum(frame["kind"] == "ping" for frame in mute.sent) > 1


def test_a_link_that_takes_no_order_is_down_for_that_reason(
    links: Links, reports: "queue.SimpleQueue[Report]", courier: Courier
) -> None:
    deaf = Stub()
    deaf.is_deaf = True
    links.ready.put(deaf)
    up = reports.get(timeout=PATIENCE_S)
    assert isinstance(up, NodeUp)

    courier.accept(up.link)
    courier.order({"kind": "resend", "attempts": [1]})

    assert reports.get(timeout=PATIENCE_S) == NodeDown(1, "it took no data")


def message_frame(name: str, text: str, *, more: bool = False) -> Frame:
    """A frame with one file of messages, or a piece of one."""
    file = {"name": name, "text": text, "more": more}
    return {"kind": "messages", "files": [file], "disk_free": None}


def test_a_node_may_send_no_more_than_is_read_here(
    links: Links, reports: "queue.SimpleQueue[Report]", tmp_path: Path
) -> None:
    came: queue.SimpleQueue[str] = queue.SimpleQueue()
    may_go_on = threading.Event()
    flood = Stub(*(message_frame(f"{n}.1", str(n)) for n in range(20)))
    courier = Courier(
        1,
        Address("n1"),
        Site("site", tmp_path, tmp_path, tmp_path),
        deliver=lambda node, texts: came.put(texts[0]),
        unread=lambda node: 0 if may_go_on.is_set() else came.qsize() * 4,
        report=reports.put,
    )
    links.ready.put(flood)
    courier.start()
    try:
        wait_until(lambda: came.qsize() == 2)
        assert [frame["names"] for frame in flood.sent if frame["kind"] == "ack"] == [
            ["0.1"], ["1.1"],
        ]  # fmt: skip

        may_go_on.set()

        wait_until(lambda: came.qsize() == 20)
    finally:
        links.ready.put(NodeUnreachable("the test is over"))
        courier.stop()


def test_the_free_space_of_a_disk_is_known_before_the_messages_of_a_package_are(
    links: Links, reports: "queue.SimpleQueue[Report]", tmp_path: Path
) -> None:
    reported: queue.SimpleQueue[int] = queue.SimpleQueue()
    sizes = [900, 890, 500]
    link = Stub(*({**message_frame(f"{n}.1", "x"), "disk_free": free}
                  for n, free in enumerate(sizes)))  # fmt: skip
    courier = Courier(
        1,
        Address("n1"),
        Site("site", tmp_path, tmp_path, tmp_path),
        deliver=lambda node, texts: reported.put(reports.qsize()),
        unread=lambda node: 0,
        report=reports.put,
    )
    links.ready.put(link)
    courier.start()
    try:
        wait_until(lambda: reported.qsize() == len(sizes))
        assert [reported.get() for _ in sizes] == [2, 2, 3]  # the first report: the node is up
    finally:
        links.ready.put(NodeUnreachable("the test is over"))
        courier.stop()


@pytest.mark.parametrize(
    ("names", "error"),
    [
        (["1.1", "2.1"], "the relay mixed up the pieces of two files"),
        (["1.1"] * 40, "the relay sent an endless file"),
    ],
)
def test_pieces_that_make_no_file_end_the_link(
    links: Links,
    reports: "queue.SimpleQueue[Report]",
    courier: Courier,
    names: list[str],
    error: str,
) -> None:
    text = "x" * 1_000_000

    links.ready.put(Stub(*(message_frame(name, text, more=True) for name in names)))

    assert isinstance(reports.get(timeout=PATIENCE_S), NodeUp)
    assert reports.get(timeout=PATIENCE_S) == NodeDown(1, error)


def test_stopping_a_courier_during_its_connect_leaves_no_link(
    links: Links, reports: "queue.SimpleQueue[Report]", courier: Courier
) -> None:
    assert links.asked.wait(PATIENCE_S)
    began = time.monotonic()
    courier.stop()
    assert time.monotonic() - began < 2.0
    late = Stub()
    links.ready.put(late)
    assert late.closed.wait(PATIENCE_S)
    assert reports.empty()


def test_many_nodes_that_do_not_answer_are_left_as_quickly_as_one(
    home: Home, links: Links, tmp_path: Path
) -> None:
    site = Site("site", tmp_path, tmp_path, tmp_path)
    with driving(home, None) as desk:
        for node in range(10, 16):
            desk.begin(
                Courier(
                    node,
                    Address(f"n{node}"),
                    site,
                    deliver=desk.dropbox.deliver,
                    report=desk.report,
                )
            )
        assert links.asked.wait(PATIENCE_S)
        began = time.monotonic()
    assert time.monotonic() - began < 3.0
    for _ in range(6):
        links.ready.put(NodeUnreachable("the test is over"))


class Broken(Stub):
    """A link that fails as nobody expects."""

    def batches(self) -> Iterator[list[Frame]]:
        raise KeyError("attempts")


def test_a_link_with_an_unexpected_error_is_closed(
    links: Links, reports: "queue.SimpleQueue[Report]", courier: Courier
) -> None:
    mad = Broken()
    links.ready.put(mad)
    assert isinstance(reports.get(timeout=PATIENCE_S), NodeUp)
    assert isinstance(reports.get(timeout=PATIENCE_S), NodeDown)
    assert mad.closed.is_set()
