"""What passes between the loop, its couriers and real relays, at the worst moments."""

import queue
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from d0ctl import daemon
from d0ctl.agents.control import Control
from d0ctl.agents.oversee import look_after
from d0ctl.config import Home
from d0ctl.errors import NodeUnreachable
from d0ctl.nodes import courier as couriers
from d0ctl.nodes.courier import Carried, Courier, Down, Report, Up
from d0ctl.nodes.link import Frame, Link, Site
from d0ctl.nodes.transport import Address
from d0ctl.store import Store
from tests.support.jobs import job, phases, simple, submitted
from tests.support.waiting import wait_until

PATIENCE_S = 5.0


@pytest.fixture
def control(home: Home) -> Iterator[Control]:
    """All that a daemon has, which does only what a test makes it do."""
    with daemon.driving(home, None) as control:
        yield control


def turn(control: Control) -> None:
    """A whole turn of the daemon, the slow steps included."""
    control.slow_done = 0.0
    control.wake.set()
    daemon._turn(control, threading.Event())


def turn_until(control: Control, condition: Callable[[], object]) -> None:
    """Turn after turn until something is true."""

    def is_true() -> object:
        turn(control)
        return condition()

    wait_until(is_true, PATIENCE_S)


def outcomes(store: Store) -> list[str | None]:
    """How each attempt ended, in their order."""
    return [row[0] for row in store.connection.execute("select outcome from attempt order by id")]


def reach_localhost(control: Control) -> None:
    """Let the courier shake hands with a relay, and leave what it reports unheard."""
    with control.store.writing():
        control.store.connection.execute("update node set state = 'up'")
        control.afterwards = []
        look_after(control, 0.0)
    for action in control.afterwards:
        action()
    wait_until(lambda: not control.mailbox.empty(), PATIENCE_S)


def test_what_a_relay_listed_is_never_held_against_later_launches(
    control: Control, tmp_path: Path
) -> None:
    gate = tmp_path / "gate"
    submitted(control.store, job("job", [simple(f"while [ ! -e {gate} ]; do sleep 0.05; done")]))
    reach_localhost(control)
    daemon._work(control, ())
    if outcomes(control.store):
        wait_until(lambda: any(control.dropbox.new.iterdir()), PATIENCE_S)
    turn(control)
    turn(control)
    assert outcomes(control.store) in ([], [None])
    gate.touch()
    turn_until(control, lambda: set(phases(control.store).values()) == {"done"})
    assert outcomes(control.store) == ["successful"]


class Stub:
    """A link that says what it is told to, and then nothing until it is closed."""

    def __init__(self, *frames: Frame) -> None:
        self.hello: Frame = {"kind": "hello", "facts": {}, "attempts": []}
        self.base = "/base"
        self.frames = frames
        self.sent: list[Frame] = []
        self.is_deaf = False
        self.closed = threading.Event()

    def batches(self) -> Iterator[list[Frame]]:
        yield from ([frame] for frame in self.frames)
        self.closed.wait()

    def send(self, frame: Frame) -> None:
        if self.is_deaf:
            raise NodeUnreachable("it took no data")
        self.sent.append(frame)

    def close(self) -> None:
        self.closed.set()


class Links:
    """What a courier gets when it reaches its node: one link after the other."""

    def __init__(self) -> None:
        self.ready: queue.SimpleQueue[Stub | Exception] = queue.SimpleQueue()
        self.asked = threading.Event()

    def open(self, *_: object, **__: object) -> Stub:
        self.asked.set()
        link = self.ready.get()
        if isinstance(link, Exception):
            raise link
        return link


@pytest.fixture
def links(monkeypatch: pytest.MonkeyPatch) -> Links:
    """Stand in for the way to a node."""
    links = Links()
    monkeypatch.setattr(couriers, "open_link", links.open)
    monkeypatch.setattr(couriers, "FIRST_WAIT_S", 0.0)
    return links


@pytest.fixture
def reports() -> "queue.SimpleQueue[Report]":
    """What the courier told."""
    return queue.SimpleQueue()


@pytest.fixture
def courier(
    links: Links, reports: "queue.SimpleQueue[Report]", tmp_path: Path
) -> Iterator[Courier]:
    """A courier at work."""
    site = Site("site", tmp_path, tmp_path, tmp_path)
    courier = Courier(
        1, Address("n1"), site, cpus=None, deliver=lambda *_: None, report=reports.put
    )
    courier.start()
    yield courier
    links.ready.put(NodeUnreachable("the test is over"))
    courier.stop()


@pytest.mark.parametrize(
    "frame",
    [
        {"kind": "messages"},
        {"kind": "messages", "files": [{"name": "1.1"}]},
        {"kind": "messages", "files": 7},
        {"kind": "pong", "id": []},
    ],
)
def test_a_frame_without_sense_ends_the_link_and_not_the_courier(
    links: Links, reports: "queue.SimpleQueue[Report]", courier: Courier, frame: Frame
) -> None:
    links.ready.put(Stub(frame))
    assert isinstance(reports.get(timeout=PATIENCE_S), Up)
    assert isinstance(reports.get(timeout=PATIENCE_S), Down)
    links.ready.put(Stub())
    assert isinstance(reports.get(timeout=PATIENCE_S), Up)


def test_trouble_that_nobody_thought_of_does_not_end_a_courier(
    links: Links, reports: "queue.SimpleQueue[Report]", courier: Courier
) -> None:
    links.ready.put(RuntimeError("who would have thought"))
    assert isinstance(reports.get(timeout=PATIENCE_S), Down)
    links.ready.put(Stub())
    up = reports.get(timeout=PATIENCE_S)
    assert isinstance(up, Up)

    def errand(courier: Courier, link: Link) -> tuple[int, str]:
        raise RuntimeError("nobody would")

    for name in "ab":
        courier.errand(name, errand)
        carried = reports.get(timeout=PATIENCE_S)
        assert isinstance(carried, Carried)
        assert (carried.errand, carried.trouble) == (name, "RuntimeError: nobody would")


def test_an_order_that_does_not_go_out_ends_the_link(
    links: Links, reports: "queue.SimpleQueue[Report]", courier: Courier
) -> None:
    deaf = Stub()
    links.ready.put(deaf)
    up = reports.get(timeout=PATIENCE_S)
    assert isinstance(up, Up)
    courier.accept(up.link)
    deaf.is_deaf = True
    courier.order({"kind": "kill", "attempts": [1], "grace": 5.0})
    down = reports.get(timeout=PATIENCE_S)
    assert isinstance(down, Down)
    assert deaf.closed.is_set()
    fresh = Stub()
    links.ready.put(fresh)
    again = reports.get(timeout=PATIENCE_S)
    assert isinstance(again, Up)
    courier.order({"kind": "kill", "attempts": [2], "grace": 5.0})
    courier.accept(again.link)
    courier.order({"kind": "kill", "attempts": [3], "grace": 5.0})
    wait_until(lambda: fresh.sent, PATIENCE_S)
    assert [frame["attempts"] for frame in fresh.sent] == [[3]]


def test_a_courier_that_is_reaching_its_node_is_stopped_at_once_and_leaves_no_link(
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
    with daemon.driving(home, None) as control:
        for node in range(10, 16):
            control.begin(
                Courier(
                    node,
                    Address(f"n{node}"),
                    site,
                    cpus=None,
                    deliver=control.dropbox.deliver,
                    report=control.report,
                )
            )
        assert links.asked.wait(PATIENCE_S)
        began = time.monotonic()
    assert time.monotonic() - began < 3.0
    for _ in range(6):
        links.ready.put(NodeUnreachable("the test is over"))
