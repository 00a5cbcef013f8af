"""How a relay speaks with its control host, and lets attempts wait."""

import json
import os
import resource
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from d0ctl_wrapper.protocol import message
from tests.support.waiting import wait_until
from tests.wrapper.client import KEY, Client, binary, launch
from tests.wrapper.conftest import Connect

GATE = "until [ -e '{gate}' ]; do sleep 0.02; done"
"""A script that runs until a test opens the gate."""


def gate(path: Path) -> str:
    return GATE.format(gate=path)


def test_a_relay_sends_the_facts_of_its_node(node: Client) -> None:
    node.send("stat", id="s")
    facts = node.wait("facts", id="s")["facts"]

    assert set(facts) == {
        *("time", "utc_offset", "boot_id", "machine_id", "hostname", "user", "home", "base"),
        *("python", "executable", "system", "machine", "os", "cpus", "memory", "disk_total"),
        *("disk_free", "filesystem", "noexec", "shell", "load"),
    }
    assert facts["base"] == str(node.base)
    assert facts["boot_id"] == Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    assert 0 < facts["disk_free"] <= facts["disk_total"]
    assert facts["filesystem"]


def test_a_relative_base_is_in_the_home(connect: Connect, tmp_path: Path) -> None:
    node = connect(environment={"HOME": str(tmp_path)}, base="some/base")

    assert node.wait("hello")["facts"]["base"] == str(tmp_path / "some/base")
    assert (tmp_path / "some/base/attempts").is_dir()


def test_a_relay_without_a_number_of_cpus_uses_all(connect: Connect, tmp_path: Path) -> None:
    node = connect(cpus=None)
    steps = [
        launch(number, binary(script=f"touch {tmp_path}/{number}; {gate(tmp_path / 'open')}"))
        for number in range(1, len(os.sched_getaffinity(0)) + 2)
    ]

    node.launch(*steps)

    for step in steps[:-1]:
        wait_until((tmp_path / str(step["attempt"])).exists)
    assert not (tmp_path / str(steps[-1]["attempt"])).exists()
    (tmp_path / "open").touch()
    node.end(steps[-1]["attempt"])


def test_a_ping_is_answered(node: Client) -> None:
    node.send("ping", id=5)

    assert abs(node.wait("pong", id=5)["time"] - time.time()) < 60


def test_a_launch_is_accepted_once(node: Client, tmp_path: Path) -> None:
    step = launch(1, binary(script=f"echo ran >> {tmp_path}/runs"))
    node.launch(step, step)
    node.end(1)
    node.launch(step)

    assert node.wait("accepted")["attempts"] == [1]
    assert node.wait("already")["attempts"] == [1]
    assert node.wait("already")["attempts"] == [1]
    assert (tmp_path / "runs").read_text() == "ran\n"


def test_a_queued_launch_is_not_queued_twice(node: Client, tmp_path: Path) -> None:
    node.launch(launch(1, binary(script=gate(tmp_path / "open")), cpus=4))
    node.launch(launch(2, binary("true")))
    node.launch(launch(2, binary("true")))

    assert node.wait("already")["attempts"] == [2]
    assert not node.folder(2).exists()
    (tmp_path / "open").touch()
    assert node.end(2)["outcome"] == "successful"


def test_no_more_attempts_run_than_there_are_cpus(node: Client, tmp_path: Path) -> None:
    script = (
        f"cd {tmp_path}; touch running.$D0CTL_ATTEMPT_ID; ls | grep -c running >> seen; "
        "rm running.$D0CTL_ATTEMPT_ID"
    )
    node.launch(*(launch(number, binary(script=script), cpus=2) for number in range(1, 21)))
    for number in range(1, 21):
        assert node.end(number)["outcome"] == "successful"

    seen = [int(line) for line in (tmp_path / "seen").read_text().split()]
    assert len(seen) == 20 and max(seen) <= 2


def test_a_launch_too_large_for_the_node_runs_alone(node: Client, tmp_path: Path) -> None:
    node.launch(
        launch(1, binary(script=gate(tmp_path / "one"))),
        launch(2, binary(script=gate(tmp_path / "two")), cpus=64),
        launch(3, binary("true")),
    )
    node.started(1)
    assert not node.folder(2).exists()

    (tmp_path / "one").touch()
    node.started(2)
    assert not node.folder(3).exists()

    (tmp_path / "two").touch()
    assert node.end(3)["outcome"] == "successful"


def test_launches_run_in_the_order_of_their_arrival(connect: Connect, tmp_path: Path) -> None:
    node = connect(cpus=1)
    step = binary(script=f"echo $D0CTL_ATTEMPT_ID >> {tmp_path}/order")
    node.launch(*(launch(number, step) for number in (5, 3, 9, 1)))
    node.end(1)

    assert (tmp_path / "order").read_text().split() == ["5", "3", "9", "1"]


def test_many_launches_come_in_one_frame_of_many_megabytes(node: Client, tmp_path: Path) -> None:
    padding = "x" * 200_000
    node.launch(
        *(launch(number, binary("true"), environment={"PAD": padding}) for number in range(1, 4)),
        *(launch(number, binary(script=f"# {padding}\ntrue")) for number in range(4, 60)),
    )

    assert node.end(59)["outcome"] == "successful"
    assert node.end(1)["reason"] in ("launch-failed", None)


def test_frames_may_come_in_pieces(node: Client) -> None:
    text = json.dumps({"kind": "ping", "id": "in pieces"}).encode() + b"\n"
    for place in range(len(text)):
        node.send_raw(text[place : place + 1])

    assert node.wait("pong", id="in pieces")


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"not json",
        b"[]",
        b"null",
        b"{}",
        b'{"kind": 5}',
        b'{"kind": "launch"}',
        b'{"kind": "launch", "attempts": {}}',
        b'{"kind": "launch", "attempts": [5]}',
        b'{"kind": "launch", "attempts": [{"attempt": "x"}]}',
        b'{"kind": "kill", "attempts": [1], "grace": "soon"}',
        b'{"kind": "kill", "attempts": [1], "grace": NaN}',
        b'{"kind": "kill", "attempts": ["../.."], "grace": 1}',
        b'{"kind": "ack", "names": [1]}',
        b'{"kind": "read", "id": [], "path": "x", "offset": 0, "length": 1}',
        b'{"kind": "take", "id": 1, "aside": "x", "path": "", "size": 1, "checksum": null}',
        b"\xff\xfe\x00\x80",
        b"[" * 200_000,
        b'{"kind": "\\ud800"',
    ],
)
def test_an_invalid_frame_is_a_fault_and_nothing_else(node: Client, line: bytes) -> None:
    node.send_raw(line + b"\n")

    assert node.wait("fault")["message"]
    node.send("ping", id="after")
    assert node.wait("pong", id="after")


def test_a_frame_of_an_unknown_kind_is_ignored(node: Client) -> None:
    node.send("dance", attempts=[1])
    node.send("ping", id="after")

    node.wait("pong", id="after")
    assert not [frame for frame in node.frames if frame["kind"] == "fault"]


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"cpus": 0}, "`cpus` is not above zero"),
        ({"token": None}, "`token` is not text"),
        ({"environment": {"A=B": "c"}}, "has a name with `=`"),
        ({"environment": {"A": 5}}, "`A` is not text"),
        ({"binaries": []}, "has no binaries"),
        ({"binaries": [binary()]}, "either a script or a program"),
        ({"binaries": [binary("a", script="b")]}, "either a script or a program"),
        ({"binaries": [binary(script="a", shell="tcsh")]}, "`shell` is none of bash, sh"),
        ({"binaries": [binary("a\0b")]}, "null character"),
        ({"keep": ["../x"]}, "`keep` item 1 is not a relative path"),
        ({"inputs": [{"name": "a/b", "path": "/x", "size": 1, "required": True}]}, "`name`"),
        ({"inputs": [{"name": "a", "path": "x", "size": 1, "required": True}]}, "absolute"),
    ],
)
def test_a_bad_launch_is_refused_alone(node: Client, change: dict[str, Any], why: str) -> None:
    node.launch(launch(1, **{"binaries": [binary("true")], **change}), launch(2, binary("true")))

    refused = node.wait("refused", attempt=1)
    assert refused["reason"] == "launch-failed" and why in refused["message"]
    assert node.end(2)["outcome"] == "successful"
    assert not node.folder(1).exists()


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
    wait_until(lambda: (tmp_path / "box/new/1.2").exists())

    found = message.parse((tmp_path / "box/new/1.2").read_text())
    assert [one["kind"] for one in found] == ["binary", "end"]
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

    assert node.process.wait(10) == 0


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
    assert node.process.wait(10) == 1


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


def test_a_wrapper_holds_only_its_own_channel_to_the_relay(node: Client) -> None:
    node.launch(launch(1, binary("sleep", "60")), launch(2, binary("sleep", "60")))
    ends = set()
    for attempt in (1, 2):
        descriptors = Path(f"/proc/{node.started(attempt)}/fd")
        links = {path.name: str(path.readlink()) for path in descriptors.iterdir()}
        assert [links.pop(name) for name in "012"] == ["/dev/null"] * 3
        [end] = links.values()
        assert end.startswith("socket:")
        ends.add(end)

    assert len(ends) == 2


def test_a_relay_reaps_orphans_without_busy_waiting(node: Client) -> None:
    node.launch(launch(1, binary("sleep", "60")))
    node.started(1)
    fields = Path(f"/proc/{node.process.pid}/stat").read_text().rpartition(")")[2].split()
    before = int(fields[11]) + int(fields[12])
    node.process.poll()
    with pytest.raises(TimeoutError):
        wait_until(lambda: False, 1.0)

    fields = Path(f"/proc/{node.process.pid}/stat").read_text().rpartition(")")[2].split()
    assert int(fields[11]) + int(fields[12]) - before <= 2
