"""Events of other systems: what each kind does, and which are refused."""

import json
import time
from pathlib import Path
from typing import Any

import pytest

from d0ctl.daemon.desk import Desk
from d0ctl.store.tasks import state
from tests.events.sending import put, send, signed, take
from tests.support.acting import act
from tests.support.rows import insert, read, value
from tests.tasks.making import contents, status_of, submit, work


def actions(desk: Desk) -> list[tuple[Any, ...]]:
    """Verb, target, actor and reason of all actions."""
    return read(desk.store, "action", "verb", "target", "actor", "note")


def waiting(desk: Desk, folder: Path) -> int:
    """A task over the files of a folder that waits for more of them."""
    (folder / "a.raw").write_text("a")
    task = submit(desk.store, folder, inputs="{raw: {glob: '*.raw'}}",
                  split="{wait-for-input: yes}")  # fmt: skip
    work(desk.store)
    assert contents(desk.store) == {"a.raw": "picked"}
    return task


def test_a_file_that_arrived_is_found_soon(desk: Desk, tmp_path: Path) -> None:
    waiting(desk, tmp_path)
    (tmp_path / "b.raw").write_text("b")

    assert send(desk, "file-arrived", "demo/raw", reason="run 7 ended") == []

    assert value(desk.store, "dataset", "status", type="input") == "toupdate"
    work(desk.store)
    assert list(contents(desk.store)) == ["a.raw", "b.raw"]
    assert actions(desk)[-1] == ("event file-arrived", "demo/raw", "daq", "run 7 ended")


def test_a_task_whose_dataset_is_complete_stops_waiting(desk: Desk, tmp_path: Path) -> None:
    number = waiting(desk, tmp_path)
    (tmp_path / "b.raw").write_text("b")

    assert send(desk, "dataset-complete", "demo") == []

    task = state.task(desk.store, number)
    assert task is not None
    assert not task.rules.waits_for_input
    work(desk.store)
    assert list(contents(desk.store)) == ["a.raw", "b.raw"]
    assert actions(desk)[-1] == ("event dataset-complete", "demo", "daq", "event dataset-complete")


def test_a_paused_task_looks_when_it_is_resumed(desk: Desk, tmp_path: Path) -> None:
    number = waiting(desk, tmp_path)
    act(desk.store, "task pause", "demo", actor="emmy", note=None, now=time.time())

    assert send(desk, "file-arrived", "demo/raw") == []

    assert status_of(desk.store, number) == "paused"
    act(desk.store, "task resume", "demo", actor="emmy", note=None, now=time.time())
    assert status_of(desk.store, number) == "defined"


def test_a_killed_task_does_not_look_up_its_datasets(desk: Desk, tmp_path: Path) -> None:
    waiting(desk, tmp_path)
    act(desk.store, "task kill", "demo", actor="emmy", note=None, now=time.time())
    work(desk.store)

    [reason] = send(desk, "file-arrived", "demo")

    assert reason.startswith("task `demo` is abort")


def test_a_node_that_goes_down_is_drained_and_resumed_when_it_is_up(desk: Desk) -> None:
    assert send(desk, "node-down", "localhost", reason="new disk") == []
    assert value(desk.store, "node", "drained") == 1

    assert send(desk, "node-up", "localhost", id="event-0002") == []

    assert value(desk.store, "node", "drained") == 0
    assert actions(desk)[-2:] == [
        ("node drain", "localhost", "daq", "new disk"),
        ("node resume", "localhost", "daq", "event node-up"),
    ]


def test_a_node_that_a_person_drained_stays_drained(desk: Desk) -> None:
    act(desk.store, "node drain", "localhost", actor="emmy", note=None, now=time.time())

    assert send(desk, "node-down", "localhost") == ["node `localhost` is drained already"]
    reasons = send(desk, "node-up", "localhost", id="event-0002")

    assert "node `localhost` was not drained by daq, which so can't resume it" in reasons
    assert value(desk.store, "node", "drained") == 1


def test_an_event_takes_effect_completely_or_not_at_all(desk: Desk) -> None:
    before = actions(desk)

    assert send(desk, "node-down", "localhost", "nowhere") == ["there is no node `nowhere`"]

    assert value(desk.store, "node", "drained") == 0
    assert actions(desk) == before


def test_an_event_is_taken_once_also_if_it_was_refused(desk: Desk) -> None:
    drain, resume = (signed(desk, kind, "localhost", id=f"{kind}-1")
                     for kind in ("node-down", "node-up"))  # fmt: skip
    put(desk, resume)
    assert take(desk) == ["node `localhost` is not drained, so it can't be resumed"]
    put(desk, drain, "two.event")
    take(desk)
    assert value(desk.store, "node", "drained") == 1

    put(desk, resume, "three.event")
    put(desk, drain, "four.event")
    reasons = take(desk)

    assert reasons == ["node `localhost` is not drained, so it can't be resumed"]
    assert value(desk.store, "node", "drained") == 1


def test_another_event_with_the_id_of_one_that_was_taken_is_rejected(desk: Desk) -> None:
    assert send(desk, "node-down", "localhost") == []

    assert send(desk, "node-up", "localhost") == [
        "another event with the id `event-0001` was taken before"
    ]
    assert value(desk.store, "node", "drained") == 1


def test_ids_are_forgotten_when_their_events_would_be_stale(desk: Desk) -> None:
    insert(desk.store, "taken_event", id="old", signature="", at=1.0)

    send(desk, "node-down", "localhost")

    assert read(desk.store, "taken_event", "id") == [("event-0001",)]


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({"key": b"k" * 64}, "the signature is wrong"),
        ({"time": 1_000}, "it is stale: more than 24 h old"),
        ({"time": 2**39}, "its time is in the future: compare the clocks"),
    ],
)
def test_an_event_that_is_forged_or_stale_is_rejected(
    desk: Desk, more: dict[str, Any], reason: str
) -> None:
    assert send(desk, "node-down", "localhost", **more) == [reason]
    assert value(desk.store, "node", "drained") == 0


@pytest.mark.parametrize(
    ("field", "new"),
    [("id", "event-0009"), ("time", 1_000_000_000), ("sender", "dax"),
     ("kind", "node-up"), ("names", ["localhost", "localhost"]), ("reason", "other")],
)  # fmt: skip
def test_every_field_is_signed(desk: Desk, field: str, new: Any) -> None:
    event = json.loads(signed(desk, "node-down", "localhost"))
    assert event[field] != new
    put(desk, json.dumps({**event, field: new}))

    assert take(desk) == ["the signature is wrong"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "node down",
        "[1]",
        "[" * 8_000,
        '{"id": "event-0001"}',
        '{"id":"event-0001","time":1,"sender":"a","kind":"node-gone","names":["n"],"signature":""}',
        '{"id":"event-0001","time":1,"sender":"a\\n","kind":"node-up","names":["n"],"signature":""}',
        '{"id":"event-0001","time":1,"sender":"a","kind":"node-up","names":["n"],"signature":"",'
        '"more":1}',
    ],
)
def test_a_file_that_is_not_an_event_is_rejected(desk: Desk, text: str) -> None:
    put(desk, text)

    [reason] = take(desk)

    assert reason.startswith("it is no event: ")


def test_a_file_that_is_too_long_is_rejected_unread(desk: Desk) -> None:
    put(desk, signed(desk, "node-down", "localhost") + b" " * 8_192)

    assert take(desk) == ["the file is larger than 8192 bytes"]


def test_a_key_that_others_can_read_signs_nothing(desk: Desk) -> None:
    text = signed(desk, "node-down", "localhost")
    desk.home.event_key.chmod(0o644)
    put(desk, text)

    assert take(desk) == [f"others can read the key `{desk.home.event_key}`"]


def test_a_home_without_a_key_takes_no_event(desk: Desk) -> None:
    text = signed(desk, "node-down", "localhost")
    desk.home.event_key.unlink()
    put(desk, text)

    [reason] = take(desk)

    assert reason.startswith("can't read the key")
