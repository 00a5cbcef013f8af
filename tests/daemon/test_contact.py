"""What passes between the loop, its couriers and real relays, at the worst moments."""

import queue
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from d0ctl.config import Home
from d0ctl.daemon.desk import CopyJob, Desk, Transfer
from d0ctl.daemon.drive import driving
from d0ctl.daemon.loop import STEPS, Loop
from d0ctl.daemon.steps.apply_messages import MOST_REFUSED, RESEND_S, settle_refused_ends
from d0ctl.daemon.steps.monitor import assign_couriers, record_contact
from d0ctl.daemon.steps.schedule import schedule
from d0ctl.daemon.turn import Turn
from d0ctl.errors import D0Error, DatabaseUnavailable, NodeUnreachable
from d0ctl.nodes import courier as couriers
from d0ctl.nodes import health_check
from d0ctl.nodes.carry import Copy
from d0ctl.nodes.courier import Courier
from d0ctl.nodes.link import Frame, Link, Site
from d0ctl.nodes.reports import FileFacts, NodeDown, NodeUp, Received, Report, TransferEnded
from d0ctl.nodes.transports.transport import Address
from d0ctl.store import Store, connection, open_store
from d0ctl.store.attempts.launching import launches
from tests.daemon.contact import PATIENCE_S, Stub, start_message, turn, turn_until
from tests.support.jobs import job, phases, simple, submitted
from tests.support.waiting import wait_until


def outcomes(store: Store) -> list[str | None]:
    """How each attempt ended, in their order."""
    return [row[0] for row in store.connection.execute("select outcome from attempt order by id")]


def reach_localhost(desk: Desk) -> None:
    """Let the courier shake hands with a relay, and leave what it reports unheard."""
    with desk.store.writing():
        desk.store.connection.execute("update node set state = 'up'")
    Loop(desk).work([assign_couriers])
    wait_until(lambda: not desk.mailbox.empty(), PATIENCE_S)


def test_what_a_relay_listed_is_never_held_against_later_launches(
    desk: Desk, tmp_path: Path
) -> None:
    gate = tmp_path / "gate"
    submitted(desk.store, job("job", [simple(f"while [ ! -e {gate} ]; do sleep 0.05; done")]))
    reach_localhost(desk)
    Loop(desk).work(STEPS)
    if outcomes(desk.store):
        wait_until(lambda: any(desk.dropbox.new.iterdir()), PATIENCE_S)
    turn(desk)
    turn(desk)
    assert outcomes(desk.store) in ([], [None])
    gate.touch()
    turn_until(desk, lambda: set(phases(desk.store).values()) == {"done"})
    assert outcomes(desk.store) == ["successful"]


def test_when_a_node_was_heard_last_and_its_load_are_kept(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(health_check, "SHORTEST_S", 0.05)
    reach_localhost(desk)
    turn(desk)
    began = time.time()
    desk.store.connection.execute("update node set contact = 1.0, load = null")

    def kept() -> bool:
        desk.contacts.clear()
        with desk.store.writing():
            record_contact(desk, Turn(time.time()))
        row = desk.store.connection.execute("select contact, load from node").fetchone()
        return bool(row[0] > began and row[1] is not None)

    wait_until(kept, PATIENCE_S)


def test_a_node_that_talks_all_the_time_is_written_down_once_a_minute(desk: Desk) -> None:
    reach_localhost(desk)
    turn(desk)
    with desk.store.writing():
        record_contact(desk, Turn(time.time()))
    before = desk.store.connection.total_changes

    with desk.store.writing():
        record_contact(desk, Turn(time.time() + 30))
    assert desk.store.connection.total_changes == before
    with desk.store.writing():
        record_contact(desk, Turn(time.time() + 90))
    assert desk.store.connection.total_changes > before


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
    assert isinstance(reports.get(timeout=PATIENCE_S), NodeUp)
    assert isinstance(reports.get(timeout=PATIENCE_S), NodeDown)
    links.ready.put(Stub())
    assert isinstance(reports.get(timeout=PATIENCE_S), NodeUp)


def test_trouble_that_nobody_thought_of_does_not_end_a_courier(
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
    wait_until(lambda: fresh.sent, PATIENCE_S)
    assert [frame["attempts"] for frame in fresh.sent] == [[3]]


def test_a_link_that_says_nothing_when_it_is_asked_is_given_up(
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
    return {"kind": "messages", "files": [{"name": name, "text": text, "more": more}]}


def test_no_more_is_taken_from_a_node_than_is_read_here(
    links: Links, reports: "queue.SimpleQueue[Report]", tmp_path: Path
) -> None:
    came: queue.SimpleQueue[str] = queue.SimpleQueue()
    may_go_on = threading.Event()
    flood = Stub(*(message_frame(f"{n}.1", str(n)) for n in range(20)))
    courier = Courier(
        1,
        Address("n1"),
        Site("site", tmp_path, tmp_path, tmp_path),
        cpus=None,
        deliver=lambda node, texts: came.put(texts[0]),
        unread=lambda node: 0 if may_go_on.is_set() else came.qsize() * 4,
        report=reports.put,
    )
    links.ready.put(flood)
    courier.start()
    try:
        wait_until(lambda: came.qsize() == 2, PATIENCE_S)
        assert [frame["names"] for frame in flood.sent if frame["kind"] == "ack"] == [
            ["0.1"], ["1.1"],
        ]  # fmt: skip

        may_go_on.set()

        wait_until(lambda: came.qsize() == 20, PATIENCE_S)
    finally:
        links.ready.put(NodeUnreachable("the test is over"))
        courier.stop()


@pytest.mark.parametrize(
    ("names", "trouble"),
    [
        (["1.1", "2.1"], "the relay mixes the pieces of two files"),
        (["1.1"] * 40, "the relay sends a file without end"),
    ],
)
def test_pieces_that_make_no_file_end_the_link(
    links: Links,
    reports: "queue.SimpleQueue[Report]",
    courier: Courier,
    names: list[str],
    trouble: str,
) -> None:
    text = "x" * 1_000_000

    links.ready.put(Stub(*(message_frame(name, text, more=True) for name in names)))

    assert isinstance(reports.get(timeout=PATIENCE_S), NodeUp)
    assert reports.get(timeout=PATIENCE_S) == NodeDown(1, trouble)


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
    with driving(home, None) as desk:
        for node in range(10, 16):
            desk.begin(
                Courier(
                    node,
                    Address(f"n{node}"),
                    site,
                    cpus=None,
                    deliver=desk.dropbox.deliver,
                    report=desk.report,
                )
            )
        assert links.asked.wait(PATIENCE_S)
        began = time.monotonic()
    assert time.monotonic() - began < 3.0
    for _ in range(6):
        links.ready.put(NodeUnreachable("the test is over"))


def launched(desk: Desk, packages: int) -> list[int]:
    """Attempts that are launched as far as the store knows; no node hears of them."""
    submitted(desk.store, job("job", [simple() for _ in range(packages)]))
    with desk.store.writing():
        desk.store.connection.execute("update node set state = 'up', cpus = 100")
        schedule(desk, Turn(0.0))
        launches.launch(desk.store, 1, limit=100, now=0.0)
    rows = desk.store.connection.execute("select id from attempt order by id")
    return [row[0] for row in rows]


def torn_end(desk: Desk, attempt: int) -> str:
    """The text of an end message that was signed as a wrapper would, without most of it."""
    return start_message(desk, attempt, kind="end")


def running(desk: Desk, gate: Path) -> int:
    """Have a package run on a real relay until a file is there; its attempt."""
    script = f"while [ ! -e {gate} ]; do sleep 0.05; done"
    submitted(desk.store, job("job", [simple(script)]))
    reach_localhost(desk)
    turn_until(desk, lambda: set(phases(desk.store).values()) == {"running"})
    return int(desk.store.connection.execute("select id from attempt").fetchone()[0])


def ended(desk: Desk) -> tuple[Any, ...]:
    """How the attempt ended, and why."""
    query = "select outcome, reason, message from attempt"
    return tuple(desk.store.connection.execute(query).fetchone())


REFUSED = ("failed", "verification",
           "the end message of its node was refused: line 1 has no `outcome`")  # fmt: skip


def test_an_attempt_fails_whose_end_message_is_refused_however_often_it_is_sent(
    desk: Desk, tmp_path: Path
) -> None:
    attempt = running(desk, tmp_path / "gate")
    for _ in range(MOST_REFUSED):
        assert outcomes(desk.store) == [None]
        desk.dropbox.deliver("localhost", [torn_end(desk, attempt)])
        turn(desk)
    turn(desk)

    assert ended(desk) == REFUSED
    assert set(phases(desk.store).values()) == {"failed"}
    assert desk.refused_ends == {}
    (tmp_path / "gate").touch()


def test_an_attempt_fails_whose_node_does_not_send_a_refused_end_again(
    desk: Desk, tmp_path: Path
) -> None:
    attempt = running(desk, tmp_path / "gate")
    desk.dropbox.deliver("localhost", [torn_end(desk, attempt)])
    turn(desk)
    with desk.store.writing():
        settle_refused_ends(desk, Turn(time.time() + RESEND_S / 2))
    assert outcomes(desk.store) == [None]

    with desk.store.writing():
        settle_refused_ends(desk, Turn(time.time() + RESEND_S + 1))

    assert ended(desk) == REFUSED
    (tmp_path / "gate").touch()


def test_an_end_message_that_was_torn_on_its_way_is_sent_again_and_counts(
    desk: Desk, tmp_path: Path
) -> None:
    attempt = running(desk, tmp_path / "gate")
    (tmp_path / "gate").touch()

    def end() -> Path | None:
        files = desk.dropbox.new.iterdir()
        return next((path for path in files if '"kind":"end"' in path.read_text()), None)

    wait_until(end, PATIENCE_S)
    torn = end()
    assert torn is not None
    text = torn.read_text()
    torn.unlink()
    torn.write_text(text[:-40])

    turn(desk)
    assert desk.refused_ends[attempt].times == 1
    turn_until(desk, lambda: set(phases(desk.store).values()) == {"done"})
    turn(desk)

    assert outcomes(desk.store) == ["successful"]
    assert desk.refused_ends == {}


def refuse(desk: Desk, attempt: int) -> None:
    """Let the database refuse whatever would change this attempt."""
    desk.store.connection.execute(
        f"create temp trigger refused before update on main.attempt when old.id = {attempt}"
        " begin select raise(abort, 'a test refuses it'); end"
    )


def test_one_message_that_the_database_refuses_costs_no_other_message_or_report(
    desk: Desk,
) -> None:
    one, two, three = launched(desk, 3)
    refuse(desk, two)
    desk.dropbox.deliver("n1", [start_message(desk, a) for a in (one, two, three)])
    desk.transfers[Transfer(1, 1, 1)] = 1
    desk.report(TransferEnded(1, CopyJob(Transfer(1, 1, 1), Copy("/a", "/b", None, None)), "no"))
    desk.report(NodeDown(1, "a test says so"))
    for _ in range(3):
        turn(desk)
    started = {
        row[0]: row[1] is not None
        for row in desk.store.connection.execute("select id, started from attempt")
    }
    assert started == {one: True, two: False, three: True}
    assert not list(desk.dropbox.new.iterdir())
    rejected = desk.home.dropbox / "rejected"
    assert [p.read_text() for p in rejected.iterdir() if p.suffix == ".reason"]
    assert not desk.transfers
    assert desk.store.row("node_by_id", node=1)["state"] == "down"  # type: ignore[index]


@pytest.mark.parametrize(
    "frame",
    [
        {"kind": "dead"},
        {"kind": "dead", "attempts": [{"attempt": 2**70, "message": "x"}]},
        {"kind": "refused", "attempt": "one", "reason": "\ud800", "message": "\ud800"},
        {"kind": "refused", "attempt": [1], "reason": 1, "message": 1},
        {"kind": "absent", "attempts": 7},
    ],
)
def test_a_report_without_sense_costs_no_other(desk: Desk, frame: Frame) -> None:
    (attempt,) = launched(desk, 1)
    desk.report(Received(1, frame))
    desk.dropbox.deliver("n1", [start_message(desk, attempt)])
    desk.report(NodeDown(1, "a test says so"))
    for _ in range(3):
        turn(desk)
    assert set(phases(desk.store).values()) == {"unreachable"}
    assert desk.store.connection.execute("select started from attempt").fetchone()[0] == 0.0


@pytest.mark.parametrize(
    "facts", [{"cpus": -1}, {"cpus": "many"}, {"cpus": 2**70}, {"boot_id": "\ud800"}, []]
)
def test_a_node_with_facts_without_sense_is_not_up_and_stops_no_other(
    home: Home, links: Links, facts: Frame
) -> None:
    with driving(home, None) as desk:
        mad = Stub()
        mad.facts = facts
        links.ready.put(mad)
        links.ready.put(NodeUnreachable("the test is over"))
        for _ in range(3):
            turn(desk)
        turn_until(desk, mad.closed.is_set)
        turn_until(desk, lambda: desk.store.row("node_by_id", node=1)["state"] == "down")  # type: ignore[index]
        (attempt,) = launched(desk, 1)
        desk.dropbox.deliver("n1", [start_message(desk, attempt)])
        turn(desk)
        assert "running" in phases(desk.store).values()
        links.ready.put(NodeUnreachable("the test is over"))


def test_a_message_that_is_no_unicode_is_rejected_as_any_other(desk: Desk) -> None:
    desk.dropbox.deliver("n1", ["\ud800\n", "also bad"])
    turn(desk)
    assert not list(desk.dropbox.new.iterdir())


def test_a_full_disk_leaves_nothing_in_the_drop_box(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(D0Error, match="dropbox` takes no message: No space left on device"):
        desk.dropbox.deliver("n1", ["text"])
    assert not list((desk.home.dropbox / "tmp").iterdir())
    assert not list(desk.dropbox.new.iterdir())


def test_what_follows_a_commit_is_done_though_a_part_of_it_fails(desk: Desk) -> None:
    done: list[str] = []

    def fail() -> None:
        raise OSError(28, "No space left on device")

    def step(desk: Desk, turn: Turn) -> None:
        turn.after(fail)
        turn.after(done.append, "launched")

    Loop(desk).work([step])
    assert done == ["launched"]


def test_a_database_that_fails_while_the_bad_report_is_sought_costs_no_report(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    reports: list[Report] = [Received(1, {"kind": "dead"}), NodeDown(1, "one"), NodeDown(1, "two")]
    for report in reports:
        desk.report(report)
    loop, work = Loop(desk), Loop.work
    troubles = iter([None, None, DatabaseUnavailable("the disk is full")])

    def work_until_it_fails(*words: Any) -> None:
        if trouble := next(troubles, None):
            raise trouble
        work(*words)

    monkeypatch.setattr(Loop, "work", work_until_it_fails)
    with pytest.raises(DatabaseUnavailable):
        loop.turn(threading.Event())
    assert loop.reports == reports[1:]


class Broken(Stub):
    """A link that fails as nobody expects."""

    def batches(self) -> Iterator[list[Frame]]:
        raise KeyError("attempts")


def test_a_link_that_fails_as_nobody_expects_is_closed(
    links: Links, reports: "queue.SimpleQueue[Report]", courier: Courier
) -> None:
    mad = Broken()
    links.ready.put(mad)
    assert isinstance(reports.get(timeout=PATIENCE_S), NodeUp)
    assert isinstance(reports.get(timeout=PATIENCE_S), NodeDown)
    assert mad.closed.is_set()


def test_a_long_look_at_the_database_leaves_no_large_file_behind(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "LARGEST_WAL", 1 << 20)
    wal = home.database.with_name(f"{home.database.name}-wal")
    rows = [(0.0, "a", "b", "c", "x" * 3000)] * 300

    def write(times: int) -> None:
        for _ in range(times):
            with writer.writing():
                writer.connection.executemany(
                    "insert into action (at, actor, verb, target, note) values (?, ?, ?, ?, ?)",
                    rows,
                )

    with open_store(home) as writer, open_store(home) as reader:
        with reader.reading():
            reader.rows("nodes")
            write(10)
            assert wal.stat().st_size > 8 << 20
        write(2)
        with writer.writing():
            pass
        assert wal.stat().st_size < 8 << 20


def test_the_daemon_keeps_little_of_the_database_in_memory(home: Home) -> None:
    with driving(home, None) as desk:
        kept = desk.store.connection.execute("pragma cache_size").fetchone()[0]

    assert kept == -connection.RESIDENT_CACHE_KIB
