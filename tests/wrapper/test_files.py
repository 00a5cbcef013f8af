"""Files that a relay handles for its control host: whole, and never outside of BASE."""

import base64
import hashlib
import os
from pathlib import Path
from typing import Any

import pytest

from tests.support.waiting import Pid, wait_until
from tests.wrapper.client import Client, binary, launch

TEXT = b"ten bytes\n"
CHECKSUM = "sha256:" + hashlib.sha256(TEXT).hexdigest()

OUTSIDE = ["../x", "/etc/passwd", "cache/../../x", "link/x", "x", "cache", "cache/..", ".", "lock/"]
"""Paths that lead out of BASE, or name what lies directly under it."""


@pytest.fixture
def aside(node: Client) -> Path:
    """A file that was put aside, beside a link that leads out of BASE."""
    (node.base.parent / "x").write_text("precious")
    (node.base / "link").symlink_to(node.base.parent)
    path = node.base / "cache/aside/1"
    path.write_bytes(TEXT)
    return path


def take(node: Client, **changes: Any) -> str:
    """Have a file taken, and give what was wrong with it."""
    request = {"id": "t", "aside": "cache/aside/1", "path": "cache/in/k/raw", "size": len(TEXT)}
    node.send("take", **{**request, "checksum": CHECKSUM, **changes})
    answer = node.wait("taken", id="t")
    assert answer["ok"] == (answer["message"] == "")
    return str(answer["message"])


def read(node: Client, path: str, offset: int = 0, length: int = 100) -> tuple[bytes, Any, str]:
    """Read a piece of a file, and give it with the size of the file and what was wrong."""
    node.send("read", id="r", path=path, offset=offset, length=length)
    answer = node.wait("data", id="r")
    return base64.b64decode(answer["base64"]), answer["size"], answer["message"]


def test_a_complete_file_is_accepted(node: Client, aside: Path) -> None:
    assert take(node) == ""
    assert not aside.exists()
    assert (node.base / "cache/in/k/raw").read_bytes() == TEXT


def test_a_file_is_accepted_by_absolute_paths(node: Client, aside: Path) -> None:
    target = node.base / "bin/x.pyz"

    assert take(node, aside=str(aside), path=str(target), checksum=None, size=None) == ""
    assert target.read_bytes() == TEXT


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"size": 11}, "it has 10 bytes, not 11"),
        ({"checksum": "sha256:" + "0" * 64}, "its checksum differs"),
        ({"aside": "cache/aside/2"}, "No such file"),
        ({"aside": "cache/aside/link"}, "it is not a file"),
        ({"aside": "cache/in"}, "it is not a file"),
    ],
)
def test_an_incomplete_file_is_not_accepted(
    node: Client, aside: Path, change: dict[str, Any], why: str
) -> None:
    (node.base / "cache/aside/link").symlink_to("/etc/passwd")

    assert why in take(node, **change)
    assert not (node.base / "cache/in/k/raw").exists()


@pytest.mark.parametrize("path", OUTSIDE)
def test_no_file_is_accepted_from_or_to_outside(node: Client, aside: Path, path: str) -> None:
    assert "is not inside" in take(node, path=path)
    assert "is not inside" in take(node, aside=path)
    assert (node.base.parent / "x").read_text() == "precious"
    assert aside.exists()


def test_a_relay_returns_size_and_checksum_of_a_file(node: Client, aside: Path) -> None:
    node.send("hash", id=1, path="cache/aside/1")
    node.send("hash", id=2, path="cache/aside")
    node.send("hash", id=3, path="link/x")
    node.send("hash", id=4, path="wake")

    found = node.wait("hashed", id=1)
    assert (found["ok"], found["size"], found["checksum"]) == (True, 10, CHECKSUM)
    for number, why in ((2, "not a file"), (3, "not inside"), (4, "not a file")):
        answer = node.wait("hashed", id=number)
        assert not answer["ok"] and why in answer["message"]


def test_a_relay_goes_on_while_large_files_are_read(node: Client) -> None:
    with (node.base / "cache/large").open("wb") as file:
        file.truncate(2**31)
    for number in range(3):
        node.send("hash", id=number, path="cache/large")
    node.send("ping", id="while")

    node.wait("pong", id="while")
    assert not [frame for frame in node.frames if frame["kind"] == "hashed"]
    assert node.run(binary("true"))["outcome"] == "successful"


def test_pieces_of_a_file_are_read(node: Client, aside: Path) -> None:
    assert read(node, "cache/aside/1") == (TEXT, 10, "")
    assert read(node, "cache/aside/1", 4, 3) == (b"byt", 10, "")
    assert read(node, "cache/aside/1", -4, 3) == (b"tes", 10, "")
    assert read(node, "cache/aside/1", -400) == (TEXT, 10, "")
    assert read(node, "cache/aside/1", 400) == (b"", 10, "")


def test_a_piece_is_bounded(node: Client) -> None:
    (node.base / "cache/large").write_bytes(bytes(3 * 2**20))

    data, size, _ = read(node, "cache/large", 0, 2**40)
    assert (len(data), size) == (2**20, 3 * 2**20)


@pytest.mark.parametrize(
    "path", ["../x", "/etc/passwd", "link/x", "cache/../../x", "cache", "wake", "nowhere", "loop"]
)
def test_no_file_outside_of_base_is_read(node: Client, aside: Path, path: str) -> None:
    (node.base / "loop").symlink_to("loop")

    data, size, why = read(node, path)
    assert (data, size) == (b"", None)
    assert why


def test_forgotten_attempts_leave_nothing(node: Client) -> None:
    for attempt in (1, 2):
        step = binary(script="mkdir -p d; echo 1 > d/x")
        node.run(step, attempt=attempt, keep=["d/x"])
    (node.folder(1) / "trap").symlink_to(node.folder(2))
    (node.base / "cache/1/d").chmod(0o500)
    node.send("forget", attempts=[1, 99], paths=[])

    assert node.wait("forgotten")["attempts"] == [1, 99]
    assert not node.folder(1).exists() and not (node.base / "cache/1").exists()
    assert (node.folder(2) / "end").exists() and (node.base / "cache/2/d/x").exists()


def test_a_running_attempt_is_not_forgotten(node: Client) -> None:
    node.launch(launch(1, binary("sleep", "300"), cpus=4), launch(2, binary("true")))
    node.started(1)
    node.send("forget", attempts=[1, 2], paths=[])

    assert "attempt 1 is running" in node.wait("fault")["message"]
    assert node.wait("forgotten")["attempts"] == [2]
    assert node.folder(1).exists()
    node.send("kill", attempts=[1, 2], grace=9)
    assert node.wait("absent")["attempts"] == [2]
    node.end(1)


def test_forgotten_paths_are_removed(node: Client, aside: Path) -> None:
    (node.base / "cache/in/k").mkdir()
    (node.base / "cache/in/k/raw").touch()
    (node.base / "cache/away").symlink_to(node.base.parent)
    paths = ["cache/in/k", str(aside), "cache/away", "cache/never"]
    node.send("forget", attempts=[], paths=paths)

    assert node.wait("forgotten")["paths"] == paths
    assert not any((node.base / path).exists() for path in paths)
    assert (node.base.parent / "x").read_text() == "precious"


def test_no_path_outside_of_base_is_removed(node: Client, aside: Path) -> None:
    node.send("forget", attempts=[], paths=OUTSIDE)

    assert node.wait("forgotten")["paths"] == []
    for _ in OUTSIDE:
        assert "is not inside" in node.wait("fault")["message"]
    assert (node.base.parent / "x").read_text() == "precious"
    assert (node.base / "lock").is_file()


def test_a_helper_dies_with_its_relay(node: Client) -> None:
    with (node.base / "cache/large").open("wb") as file:
        file.truncate(2**36)
    node.send("hash", id=1, path="cache/large")
    children = Path(f"/proc/{node.process.pid}/task/{node.process.pid}/children")
    wait_until(lambda: children.read_text())
    helper = Pid.of(int(children.read_text()))
    assert helper is not None
    node.process.kill()

    wait_until(lambda: not helper.lives())


def test_the_death_of_a_helper_is_answered_with_a_failure(node: Client) -> None:
    with (node.base / "cache/large").open("wb") as file:
        file.truncate(2**36)
    node.send("hash", id=1, path="cache/large")
    children = Path(f"/proc/{node.process.pid}/task/{node.process.pid}/children")
    wait_until(lambda: children.read_text())
    os.kill(int(children.read_text()), 9)

    assert "helper" in node.wait("hashed", id=1)["message"]
