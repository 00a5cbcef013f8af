"""What passes between the loop, its couriers and real relays, at the worst moments."""

import time
from pathlib import Path

import pytest

from d0ctl.config import Home
from d0ctl.daemon.desk import Desk
from d0ctl.daemon.drive import driving
from d0ctl.daemon.loop import STEPS, Loop
from d0ctl.daemon.steps.monitor import record_contact
from d0ctl.daemon.turn import Turn
from d0ctl.dropbox import ReceivedMessages
from d0ctl.nodes import health_check
from d0ctl.store import open_store, opening
from tests.daemon.contact import turn, turn_until
from tests.daemon.couriers import contact_localhost, outcomes, reach_localhost
from tests.support.jobs import job, phases, simple, submitted
from tests.support.rows import change, insert, pragma, read
from tests.support.waiting import wait_until


def test_the_list_of_a_relay_never_affects_later_launches(desk: Desk, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    submitted(desk.store, job("job", [simple(f"while [ ! -e {gate} ]; do sleep 0.05; done")]))
    reach_localhost(desk)
    Loop(desk).work(STEPS)
    if outcomes(desk.store):
        wait_until(lambda: any(desk.dropbox.new.iterdir()))
    turn(desk)
    turn(desk)
    assert outcomes(desk.store) in ([], [None])
    gate.touch()
    turn_until(desk, lambda: set(phases(desk.store).values()) == {"done"})
    assert outcomes(desk.store) == ["successful"]


def test_the_last_contact_and_load_of_a_node_are_stored(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(health_check, "SHORTEST_S", 0.05)
    contact_localhost(desk)
    began = time.time()
    change(desk.store, "node", contact=1.0, load=None)

    def kept() -> bool:
        desk.contacts.clear()
        with desk.store.writing():
            record_contact(desk, Turn(time.time()))
        ((contact, load),) = read(desk.store, "node", "contact", "load")
        return bool(contact > began and load is not None)

    wait_until(kept)


def test_a_turn_between_those_of_each_second_stores_contact(desk: Desk) -> None:
    contact_localhost(desk)
    change(desk.store, "node", contact=1.0)
    desk.contacts.clear()

    Loop(desk).work(STEPS)

    ((contact,),) = read(desk.store, "node", "contact")
    assert contact > 1.0


def test_contact_with_a_node_is_stored_at_most_once_a_minute(desk: Desk) -> None:
    contact_localhost(desk)
    with desk.store.writing():
        record_contact(desk, Turn(time.time()))
    before = desk.store.connection.total_changes

    with desk.store.writing():
        record_contact(desk, Turn(time.time() + 30))
    assert desk.store.connection.total_changes == before
    with desk.store.writing():
        record_contact(desk, Turn(time.time() + 90))
    assert desk.store.connection.total_changes > before


def test_a_turn_with_messages_stores_contact_sooner_but_not_the_use_of_the_node(desk: Desk) -> None:
    contact_localhost(desk)
    messages = ReceivedMessages([{"kind": "note"}])  # type: ignore[list-item]
    minute = (time.time() // 60 + 2) * 60
    changes, samples = [], []

    for after_s in (0, 2, 20, 65):
        before = desk.store.connection.total_changes
        with desk.store.writing():
            record_contact(desk, Turn(minute + 10 + after_s, messages))
        changes.append(desk.store.connection.total_changes > before)
        samples.append(len(read(desk.store, "node_sample", "at", by="at")))

    assert changes == [True, False, True, True]
    assert samples[1] - samples[0] == samples[2] - samples[1] == 0
    assert samples[3] - samples[2] == 1


def test_a_long_read_leaves_no_large_write_ahead_log(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opening, "LARGEST_WAL", 1 << 20)
    wal = home.database.with_name(f"{home.database.name}-wal")
    row = {"at": 0.0, "actor": "a", "verb": "b", "target": "c", "note": "x" * 3000}

    def write(times: int) -> None:
        for _ in range(times):
            with writer.writing():
                for _ in range(300):
                    insert(writer, "action", **row)

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
        kept = pragma(desk.store, "cache_size")

    assert kept == -opening.RESIDENT_CACHE_KIB
