"""Messages of a node: sent until they are acknowledged, and connections that end."""

import os
import resource
import signal
import time
from pathlib import Path

from d0ctl_wrapper.protocol import message
from d0ctl_wrapper.relay.uplink import SEND_EVERY_S
from tests.support.waiting import PATIENCE_S, wait_until
from tests.wrapper.client import KEY, Client, binary, launch
from tests.wrapper.conftest import Connect


def test_messages_are_sent_again_until_they_are_acknowledged(connect: Connect) -> None:
    node = connect()
    node.acknowledges = False
    node.run(binary("true"))
    assert node.close() == 0

    successor = connect()
    successor.end(1)
    assert successor.files == node.files
    spool = successor.base / "spool/new"
    wait_until(lambda: not list(spool.iterdir()))


def test_messages_written_without_a_connection_are_sent_later(connect: Connect) -> None:
    node = connect()
    node.launch(launch(1, binary("sleep", "0.3")))
    node.started(1)
    node.close()
    wait_until(lambda: (node.folder(1) / "end").exists())

    assert connect().end(1)["outcome"] == "successful"


def test_an_end_message_is_sent_again_on_request(node: Client) -> None:
    node.run(binary("true"))
    wait_until(lambda: not list((node.base / "spool/new").iterdir()))
    answer = dict(node.files)
    node.files.clear()
    node.send("resend", attempts=[1, 99])

    node.end(1)
    assert node.files.items() <= answer.items()
    assert node.wait("absent")["attempts"] == [99]


def test_a_spool_elsewhere_gets_the_messages_and_is_left_alone(
    connect: Connect, tmp_path: Path
) -> None:
    node = connect(spool=str(tmp_path / "box"))
    node.wait("hello")
    (tmp_path / "box/new/77.1").write_text("of another node")
    node.launch(launch(1, binary("true")))
    wait_until(lambda: (tmp_path / "box/new/1.1").exists())

    found = message.parse((tmp_path / "box/new/1.1").read_text())
    assert [one["kind"] for one in found] == ["start", "end"]
    assert found[0]["token"] == message.token(KEY, 1)
    node.send("ping", id="after")
    node.wait("pong")
    assert not node.files and (tmp_path / "box/new/77.1").exists()


def test_a_file_in_the_spool_that_is_not_a_message_stays(node: Client) -> None:
    odd = node.base / "spool/new/..odd"
    odd.write_text("odd")
    node.send("ack", names=["../../lock", "..odd", "x/1.1"])
    node.run(binary("true"))

    assert not any("odd" in name for name in node.files)
    assert odd.exists() and (node.base / "lock").exists()


def test_an_unfinished_file_in_the_spool_is_removed(connect: Connect) -> None:
    node = connect()
    node.wait("hello")
    torn = node.base / "spool/tmp/5.1"
    torn.write_text('{"attempt"')
    node.close()
    connect().wait("hello")

    assert not torn.exists()


def test_a_control_host_that_does_not_read_does_not_fill_the_relays_memory(node: Client) -> None:
    resource.prlimit(node.process.pid, resource.RLIMIT_AS, (100_000_000, 100_000_000))
    large = node.base / "cache/large"
    large.write_bytes(bytes(1_000_000))
    for number in range(100):
        node.send("read", id=number, path="cache/large", offset=0, length=1_000_000)

    for number in range(100):
        assert node.wait("data", id=number)["size"] == 1_000_000


def test_a_relay_ends_when_its_stdin_closes(node: Client) -> None:
    assert node.close() == 0


def test_a_relay_ends_after_a_long_silence(connect: Connect) -> None:
    node = connect(silence=0.2)
    node.wait("hello")

    assert node.process.wait(PATIENCE_S) == 0


def test_pings_keep_a_relay(connect: Connect) -> None:
    node = connect(silence=1)
    node.wait("hello")
    began = time.monotonic()
    while time.monotonic() - began < 1.5:
        node.send("ping", id=0)
        node.wait("pong")

    assert node.process.poll() is None


def test_a_relay_ignores_a_keyboard_interrupt(node: Client) -> None:
    os.kill(node.process.pid, signal.SIGINT)
    node.send("ping", id=0)

    assert node.wait("pong")


def test_a_bad_hello_ends_the_relay_with_a_reason(connect: Connect) -> None:
    node = connect(cpus="many")
    assert node.process.stderr is not None

    assert b"the hello `cpus` is not a whole number" in node.process.stderr.read()
    assert node.process.wait() == 2


def test_a_base_that_cannot_be_created_is_a_fault(connect: Connect) -> None:
    node = connect(base="/proc/nowhere")

    assert "cannot continue" in node.wait("fault")["message"]
    assert node.process.wait(PATIENCE_S) == 1


def test_a_read_only_connection_changes_nothing(connect: Connect, tmp_path: Path) -> None:
    visitor = connect(read_only=True)
    assert visitor.wait("hello")["attempts"] == []
    assert not visitor.base.exists()

    node = connect()
    node.run(binary("echo", "hi"))
    visitor.send("read", id=1, path="attempts/1/1.out", offset=0, length=100)
    visitor.launch(launch(2, binary("true")))

    assert visitor.wait("data", id=1)["size"] == 3
    assert "read-only" in visitor.wait("fault")["message"]
    assert not node.folder(2).exists() and node.process.poll() is None


def test_messages_of_a_short_time_share_a_frame(node: Client) -> None:
    began = time.monotonic()
    node.launch(*(launch(attempt, binary("true")) for attempt in range(1, 201)))
    for attempt in range(1, 201):
        node.end(attempt)

    assert node.message_frames <= (time.monotonic() - began) / SEND_EVERY_S + 1
