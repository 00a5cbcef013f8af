"""Events that come from a queue: a real broker, and what goes wrong between it and the disk."""

import json
import threading
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from d0ctl.daemon.desk import Desk
from d0ctl.daemon.loop import SLOW_STEPS, Loop
from d0ctl.daemon.steps.apply_messages import apply_messages, listen_for_events
from d0ctl.doctor.dropbox import leftovers
from d0ctl.doctor.examine import silent_queue
from d0ctl.sitefile.reader import read_text
from tests.events.sending import signed
from tests.support.mosquitto import HOST, Mosquitto
from tests.support.rows import read, value
from tests.support.smtp import free_port, make_certificate, silent_server
from tests.support.waiting import wait_until
from tests.tasks.making import contents, submit, work

assert listen_for_events in SLOW_STEPS


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[Mosquitto]:
    """A broker without encryption that takes anybody."""
    with Mosquitto(tmp_path / "broker") as broker:
        yield broker


def listen(desk: Desk, said: dict[str, Any]) -> None:
    """Name a queue in the site file, and wait until the thread has subscribed."""
    keys = read_text(json.dumps({"event-queue": said})).settings["event-queue"]
    with desk.store.writing():
        desk.store.change("keep_setting", name="event-queue", value=json.dumps(keys))
    turn(desk)
    assert desk.listener is not None
    wait_until(desk.listener.is_listening.is_set, what="the thread listens")


def turn(desk: Desk) -> None:
    """Take a turn as the loop does, without scheduling."""
    Loop(desk).work([listen_for_events, apply_messages], desk.dropbox.collect())


def rejected(desk: Desk) -> list[str]:
    """Why messages were rejected."""
    reasons = (desk.dropbox.folder / "rejected").glob("*.reason")
    return sorted(path.read_text().strip() for path in reasons)


def wait_for(desk: Desk, *reasons: str) -> None:
    """Take turns until so many messages were rejected, and compare why."""

    def came() -> bool:
        turn(desk)
        return len(rejected(desk)) >= len(reasons)

    wait_until(came, what="they are rejected")
    assert rejected(desk) == sorted(reasons)


def wait_for_actions(desk: Desk, *notes: str) -> None:
    """Take turns until so many actions were done, and compare their reasons."""

    def came() -> bool:
        turn(desk)
        return len(read(desk.store, "action", "note", actor="daq")) >= len(notes)

    wait_until(came, what="the events were taken")
    found = Counter(note for (note,) in read(desk.store, "action", "note", actor="daq"))
    assert found == Counter(notes)


def test_events_of_all_kinds_come_by_tls_and_password(desk: Desk, tmp_path: Path) -> None:
    (tmp_path / "a.raw").write_text("a")
    submit(desk.store, tmp_path, inputs="{raw: {glob: '*.raw'}}", split="{wait-for-input: yes}")
    work(desk.store)
    (tmp_path / "b.raw").write_text("b")
    login = tmp_path / "login"
    login.write_text("daq\nsecret\n")
    login.chmod(0o600)
    certificate = make_certificate(tmp_path / "certificate")

    with Mosquitto(tmp_path / "broker", certificate, ("daq", "secret")) as broker:
        listen(desk, broker.said | {"login": str(login), "client": "lab-1"})
        for number, (kind, name) in enumerate([
            ("file-arrived", "demo/raw"), ("dataset-complete", "demo/raw"),
            ("node-down", "localhost"), ("node-up", "localhost"),
        ]):  # fmt: skip
            assert broker.publish(signed(desk, kind, name, id=f"event-000{number}", reason=kind))
            wait_for_actions(
                desk, *["file-arrived", "dataset-complete", "node-down", "node-up"][: number + 1]
            )
        work(desk.store)
        assert list(contents(desk.store)) == ["a.raw", "b.raw"]
        assert list(silent_queue(desk.store)) == []

        login.write_text("daq\nwrong\n")
        [finding] = silent_queue(desk.store)
        assert finding.detail == "it refuses the connection: Not authorized"
        login.chmod(0o644)
        [finding] = silent_queue(desk.store)
        assert finding.detail.startswith("login: other users may read `")


def test_events_that_are_sent_while_the_broker_restarts_come_once(
    desk: Desk, broker: Mosquitto
) -> None:
    submit(desk.store, inputs="{raw: {list: [a]}}", split="{wait-for-input: yes}")
    work(desk.store)
    listen(desk, broker.said)
    reasons = [f"run {number}" for number in range(30)]
    texts = [
        signed(desk, "file-arrived", "demo", id=f"event-{reason[4:]:0>4}", reason=reason)
        for reason in reasons
    ]
    sent = [threading.Event() for _ in texts]

    def send() -> None:
        for text, event in zip(texts, sent, strict=True):
            wait_until(partial(broker.publish, text), what="the broker takes it")
            event.set()

    sender = threading.Thread(target=send)
    sender.start()
    for number in (8, 16):
        assert sent[number].wait(120)
        broker.__exit__()
        broker.__enter__()
    sender.join()

    wait_for_actions(desk, *reasons)
    assert rejected(desk) == []


def test_messages_that_are_no_signed_events_are_refused(
    desk: Desk, broker: Mosquitto, caplog: pytest.LogCaptureFixture
) -> None:
    listen(desk, broker.said)

    broker.publish(signed(desk, "node-down", "localhost", key=b"k" * 64))
    broker.publish(b"\xff\xfe")
    broker.publish(signed(desk, "node-down", "localhost") + b" " * 8_192)

    wait_for(
        desk,
        "the signature is wrong",
        "the file is larger than 8192 bytes",
        "'utf-8' codec can't decode byte 0xff in position 0: invalid start byte",
    )
    assert value(desk.store, "node", "drained") == 0
    assert "rejected " in caplog.text
    [finding] = leftovers(desk.dropbox.folder, is_driven=True)
    assert finding.detail.startswith("3 messages that could not be applied")


def test_a_message_that_can_not_be_written_comes_again(
    desk: Desk, broker: Mosquitto, caplog: pytest.LogCaptureFixture
) -> None:
    listen(desk, broker.said)
    aside, hidden = desk.dropbox.folder / "tmp", desk.dropbox.folder / "hidden"
    aside.rename(hidden)

    assert broker.publish(signed(desk, "node-down", "localhost", reason="new disk"))

    wait_until(lambda: "can't write into" in caplog.text, what="it can't be written")
    hidden.rename(aside)
    wait_for_actions(desk, "new disk")


def test_events_sent_while_nobody_listens_are_kept(desk: Desk, broker: Mosquitto) -> None:
    listen(desk, broker.said)
    with desk.store.writing():
        desk.store.change("remove_setting", name="event-queue")

    def ended() -> bool:
        turn(desk)
        return desk.listener is None

    wait_until(ended, what="the thread ends")
    assert broker.publish(signed(desk, "node-down", "localhost", reason="new disk"))

    listen(desk, broker.said)

    wait_for_actions(desk, "new disk")


# paho leaves the socket of a handshake that failed to the garbage collector.
@pytest.mark.filterwarnings("ignore:unclosed <ssl.SSLSocket:ResourceWarning")
def test_doctor_says_whether_the_broker_answers(desk: Desk, broker: Mosquitto) -> None:
    def finding(**changes: Any) -> str:
        with desk.store.writing():
            said = json.dumps(broker.said | changes)
            desk.store.change("keep_setting", name="event-queue", value=said)
        found = [f"{finding.subject}: {finding.detail}" for finding in silent_queue(desk.store)]
        return "".join(found).replace(str(broker.port), "PORT")

    assert finding() == ""
    port = free_port()
    told = finding(port=port)
    assert told == f"{HOST}:{port}: Connection refused"
    assert finding(security="tls").startswith(f"{HOST}:PORT: ")
    with silent_server() as port:
        assert finding(port=port).endswith(": it does not answer")
