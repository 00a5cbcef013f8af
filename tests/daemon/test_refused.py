"""Messages and reports that are refused cost no other."""

import threading
import time
from pathlib import Path
from typing import Any

import pytest

from d0ctl.config import Home
from d0ctl.daemon.desk import Desk
from d0ctl.daemon.drive import driving
from d0ctl.daemon.in_progress import CopyJob, Transfer
from d0ctl.daemon.loop import Loop
from d0ctl.daemon.steps.apply_messages import MOST_REFUSED, RESEND_S, settle_refused_ends
from d0ctl.daemon.steps.schedule import schedule
from d0ctl.daemon.turn import Turn
from d0ctl.errors import D0Error, DatabaseUnavailable, NodeUnreachable
from d0ctl.nodes.carry import Copy
from d0ctl.nodes.courier_reports import NodeDown, Received, Report, TransferEnded
from d0ctl.nodes.link import Frame
from d0ctl.store.attempts.launching import launches
from tests.daemon.contact import Stub, start_message, turn, turn_until
from tests.daemon.couriers import Links, ended, outcomes, reach_localhost
from tests.support.jobs import job, phases, simple, submitted
from tests.support.rows import change, read, value
from tests.support.waiting import wait_until


def launched(desk: Desk, packages: int) -> list[int]:
    """Attempts that are launched as far as the store knows; no node hears of them."""
    submitted(desk.store, job("job", [simple() for _ in range(packages)]))
    with desk.store.writing():
        change(desk.store, "node", state="up", cpus=100)
        schedule(desk, Turn(0.0))
        launches.launch(desk.store, [1], limit=100, now=0.0)
    return [row[0] for row in read(desk.store, "attempt", "id")]


def torn_end(desk: Desk, attempt: int) -> str:
    """The text of an end message that was signed as a wrapper would, without most of it."""
    return start_message(desk, attempt, kind="end")


def running(desk: Desk, gate: Path) -> int:
    """Have a package run on a real relay until a file, or no folder for it, is there; its attempt.

    The folder of a test is removed at its end, perhaps before the package sees the file.
    """
    script = f"while [ -d {gate.parent} ] && [ ! -e {gate} ]; do sleep 0.05; done"
    submitted(desk.store, job("job", [simple(script)]))
    reach_localhost(desk)
    turn_until(desk, lambda: set(phases(desk.store).values()) == {"running"})
    return int(value(desk.store, "attempt", "id"))


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

    wait_until(end)
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
    first, two, three = launched(desk, 3)
    refuse(desk, two)
    desk.dropbox.deliver("localhost", [start_message(desk, a) for a in (first, two, three)])
    desk.transfers[Transfer(1, 1, 1)] = 1
    desk.report(TransferEnded(1, CopyJob(Transfer(1, 1, 1), Copy("/a", "/b", None, None)), "no"))
    desk.report(NodeDown(1, "a test says so"))
    for _ in range(3):
        turn(desk)
    started = {row[0]: row[1] is not None for row in read(desk.store, "attempt", "id", "started")}
    assert started == {first: True, two: False, three: True}
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
def test_an_invalid_report_does_not_affect_the_others(desk: Desk, frame: Frame) -> None:
    (attempt,) = launched(desk, 1)
    desk.report(Received(1, frame))
    desk.dropbox.deliver("localhost", [start_message(desk, attempt)])
    desk.report(NodeDown(1, "a test says so"))
    for _ in range(3):
        turn(desk)
    assert set(phases(desk.store).values()) == {"unreachable"}
    assert value(desk.store, "attempt", "started") == 0.0


@pytest.mark.parametrize(
    "facts", [{"cpus": -1}, {"cpus": "many"}, {"cpus": 2**70}, {"boot_id": "\ud800"}, []]
)
def test_a_node_with_invalid_facts_is_not_up_and_stops_no_other(
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
        desk.dropbox.deliver("localhost", [start_message(desk, attempt)])
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


def test_side_effects_after_a_commit_continue_when_one_fails(desk: Desk) -> None:
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
    errors = iter([None, None, DatabaseUnavailable("the disk is full")])

    def work_until_it_fails(*words: Any) -> None:
        if error := next(errors, None):
            raise error
        work(*words)

    monkeypatch.setattr(Loop, "work", work_until_it_fails)
    with pytest.raises(DatabaseUnavailable):
        loop.turn(threading.Event())
    assert loop.reports == reports[1:]
