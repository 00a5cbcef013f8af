"""How a relay speaks with its control host, and lets attempts wait."""

import json
import os
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.support.waiting import wait_until
from tests.wrapper.client import Client, binary, launch
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
        *("python", "executable", "system", "machine", "os", "cpus", "gpus", "memory"),
        *("disk_total", "disk_free", "filesystem", "noexec", "shell", "load", "folder"),
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
    assert node.end(1)["reason"] in ("exit-code", None)


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
def test_an_invalid_frame_is_a_fault_without_other_effects(node: Client, line: bytes) -> None:
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
        ({"binaries": [binary(script="a", shell="tcsh")]}, "`shell` is not one of bash, sh"),
        ({"binaries": [binary("a\0b")]}, "null character"),
        ({"keep": ["../x"]}, "`keep` item 1 is not a relative path"),
        ({"inputs": [{"name": "a/../b", "path": "/x", "size": 1, "required": True}]}, "`name`"),
        ({"inputs": [{"name": "a", "path": "x", "size": 1, "required": True}]}, "absolute"),
    ],
)
def test_a_bad_launch_is_refused_alone(node: Client, change: dict[str, Any], why: str) -> None:
    node.launch(launch(1, **{"binaries": [binary("true")], **change}), launch(2, binary("true")))

    refused = node.wait("refused", attempt=1)
    assert refused["reason"] == "launch-failed" and why in refused["message"]
    assert node.end(2)["outcome"] == "successful"
    assert not node.folder(1).exists()


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


def test_a_wrapper_holds_only_its_own_channel_to_the_relay(node: Client) -> None:
    node.launch(launch(1, binary("sleep", "60")), launch(2, binary("sleep", "60")))
    ends = set()
    for attempt in (1, 2):
        wrapper = node.started(attempt)
        wait_until(lambda: len(_open_files(wrapper)) == 4, what="it has read its files")  # noqa: B023
        *standard, end = _open_files(wrapper)
        assert standard == ["/dev/null"] * 3
        assert end.startswith("socket:")
        ends.add(end)

    assert len(ends) == 2


def _open_files(process: int) -> list[str]:
    """What a process has open, in the order of the numbers; it may close a file meanwhile."""
    found = {}
    for path in Path(f"/proc/{process}/fd").iterdir():
        with suppress(FileNotFoundError):
            found[int(path.name)] = str(path.readlink())
    return [found[number] for number in sorted(found)]
