"""Packages that start at their first input: the list that grows, its end, and what it costs."""

import os
import signal
from pathlib import Path
from typing import Any

import pytest

from d0ctl_wrapper.host import input_stream
from d0ctl_wrapper.protocol.paths import NodePaths
from tests.support.waiting import wait_until
from tests.wrapper.client import Client, Frame, binary, launch
from tests.wrapper.conftest import Connect

READS = """
exec 3< "$D0CTL_INPUTS"
while :; do
  closed=
  [ ! -e "$D0CTL_INPUTS.closed" ] || closed=yes
  while read -r name <&3; do cat "$name" >> all; echo "$name" >> ../read; done
  [ -z "$closed" ] || break
  sleep 0.05
done
"""
"""Puts its inputs together as they come, as docs/jobfile.md has it."""


def file(folder: Path, name: str) -> Frame:
    """An input that lies on the node, with one line."""
    path = folder / name
    path.write_text(f"{name}\n")
    return {"name": name, "path": str(path), "size": path.stat().st_size}


def given(folder: Path, name: str) -> Frame:
    """An input of a launch."""
    return {**file(folder, name), "required": True}


def fed_input(folder: Path, name: str, *binaries: int) -> Frame:
    """An input that comes after the launch."""
    return {**file(folder, name), "binaries": list(binaries or [1])}


def feed(node: Client, *inputs: Frame, attempt: int = 1, closed: bool = False) -> None:
    """Give inputs to an attempt that runs."""
    node.send(
        "input_stream", attempts=[{"attempt": attempt, "inputs": list(inputs), "closed": closed}]
    )


def early(folder: Path, *names: str, script: str = READS, **more: Any) -> Frame:
    """A package that starts with these inputs and gets others later."""
    step = binary(script=script, inputs=list(names), outputs=[{"name": "all", "min_size": None}])
    inputs = [given(folder, name) for name in names]
    return launch(1, step, inputs=inputs, keep=["all"], early=True, **more)


def read_so_far(node: Client) -> list[str]:
    """The inputs that the binary has read."""
    path = node.folder(1) / "read"
    return path.read_text().split() if path.exists() else []


def wait_read(node: Client, names: list[str]) -> None:
    """Wait until the binary has read these."""
    wait_until(lambda: read_so_far(node) == names)


def test_inputs_that_come_later_are_read_until_the_list_is_closed(
    node: Client, tmp_path: Path
) -> None:
    names = [f"part-{number:02d}" for number in range(20)]
    node.launch(early(tmp_path, names[0]))

    for place, name in enumerate(names[1:], 2):
        feed(node, fed_input(tmp_path, name))
        wait_read(node, names[:place])
    feed(node, closed=True)
    end = node.end(1)

    assert end["outcome"] == "successful"
    assert Path(end["outputs"][0]["path"]).read_text().split() == names


def test_the_same_input_twice_is_read_once(node: Client, tmp_path: Path) -> None:
    node.launch(early(tmp_path, "a"))

    again = fed_input(tmp_path, "b")
    for _ in range(3):
        feed(node, again, closed=True)

    assert Path(node.end(1)["outputs"][0]["path"]).read_text().split() == ["a", "b"]


def test_a_list_that_is_closed_at_the_start_ends_at_once(node: Client, tmp_path: Path) -> None:
    plain = {**early(tmp_path, "a", "b"), "early": False}

    node.launch(plain)

    assert Path(node.end(1)["outputs"][0]["path"]).read_text().split() == ["a", "b"]


def test_a_package_with_an_open_list_takes_no_slot(connect: Connect, tmp_path: Path) -> None:
    node = connect(cpus=1)
    node.launch(early(tmp_path, "a"))
    wait_read(node, ["a"])

    node.launch(launch(2, binary("true")))
    assert node.end(2)["outcome"] == "successful"
    feed(node, closed=True)

    assert node.end(1)["outcome"] == "successful"


def test_a_package_with_a_closed_list_takes_cpus_like_any_other(
    connect: Connect, tmp_path: Path
) -> None:
    node = connect(cpus=1)
    stays = READS + "while [ ! -e ../go ]; do sleep 0.05; done"
    node.launch(early(tmp_path, "a", script=stays))
    feed(node, closed=True)
    wait_until(lambda: (node.folder(1) / "inputs.closed").exists())

    node.launch(launch(2, binary("true")))
    node.wait("accepted", attempts=[2])
    node.wait("pong", id=node.ping())
    assert not node.folder(2).exists()
    (node.folder(1) / "go").touch()

    assert [node.end(1)["outcome"], node.end(2)["outcome"]] == ["successful"] * 2


def test_a_new_relay_continues_an_input_stream(connect: Connect, tmp_path: Path) -> None:
    first = connect(cpus=1)
    first.launch(early(tmp_path, "a"))
    again = fed_input(tmp_path, "b")
    feed(first, again)
    wait_read(first, ["a", "b"])
    first.close()

    second = connect(cpus=1)
    assert second.wait("hello")["attempts"] == [{"attempt": 1, "state": "running"}]
    second.launch(launch(2, binary("true")))
    second.end(2)
    feed(second, again, fed_input(tmp_path, "c"), closed=True)

    assert Path(second.end(1)["outputs"][0]["path"]).read_text().split() == ["a", "b", "c"]


def test_inputs_for_a_stopped_wrapper_are_read_when_it_continues(
    node: Client, tmp_path: Path
) -> None:
    node.launch(early(tmp_path, "a"))
    wait_read(node, ["a"])
    pid = node.started(1)

    os.kill(pid, signal.SIGSTOP)
    feed(node, fed_input(tmp_path, "b"))
    feed(node, fed_input(tmp_path, "c"), closed=True)
    node.wait("pong", id=node.ping())
    os.kill(pid, signal.SIGCONT)

    assert Path(node.end(1)["outputs"][0]["path"]).read_text().split() == ["a", "b", "c"]


def test_each_binary_of_a_chain_has_the_list_of_its_own(node: Client, tmp_path: Path) -> None:
    first = binary(script="while [ ! -e ../go ]; do sleep 0.05; done")
    second = binary(script=READS, inputs=["b"])
    node.launch(launch(1, first, second, inputs=[given(tmp_path, "b")], early=True))
    node.started(1)

    feed(node, fed_input(tmp_path, "a", 1), fed_input(tmp_path, "c", 2), closed=True)
    wait_until(lambda: (node.folder(1) / "inputs").read_text().split() == ["a"])
    (node.folder(1) / "go").touch()

    assert node.end(1)["outcome"] == "successful"
    assert read_so_far(node) == ["b", "c"]


def test_a_binary_that_does_not_wait_for_all_inputs_has_failed(
    node: Client, tmp_path: Path
) -> None:
    node.launch(early(tmp_path, "a", script="cat a > all"))

    end = node.end(1)

    assert (end["outcome"], end["reason"]) == ("failed", "verification")
    assert "before all inputs were delivered" in end["detail"]


def test_a_late_input_without_a_file_is_a_missing_input(node: Client, tmp_path: Path) -> None:
    node.launch(early(tmp_path, "a"))
    gone = fed_input(tmp_path, "b")
    Path(gone["path"]).unlink()

    feed(node, gone)
    end = node.end(1)

    assert (end["reason"], end["missing"]) == ("missing-input", [gone["path"]])


def test_a_package_that_waits_for_inputs_can_be_killed(node: Client, tmp_path: Path) -> None:
    node.launch(early(tmp_path, "a"))
    wait_read(node, ["a"])

    node.send("kill", attempts=[1], grace=1)

    assert node.end(1)["outcome"] == "killed"


def test_half_a_line_of_an_input_stream_is_ignored(tmp_path: Path) -> None:
    folder = NodePaths(os.fsencode(tmp_path)).attempt(1)
    (tmp_path / "attempts" / "1").mkdir(parents=True)
    input_stream.append(folder, [{"name": "a"}])
    with Path(os.fsdecode(input_stream.path(folder))).open("ab") as torn:
        torn.write(b'{"name":"b"')

    assert input_stream.delivered(folder) == input_stream.Delivered({"a"}, False)
    input_stream.append(folder, [{"name": "c"}, input_stream.CLOSED])

    assert input_stream.delivered(folder) == input_stream.Delivered({"a", "c"}, True)


@pytest.mark.parametrize(
    "wrong", [{"binaries": [0]}, {"path": "relative"}, {"name": "../b"}, {"name": "/b"}]
)
def test_an_invalid_input_stream_is_a_fault(
    node: Client, tmp_path: Path, wrong: dict[str, Any]
) -> None:
    feed(node, {**fed_input(tmp_path, "a"), **wrong})

    assert "a frame of kind `input_stream`" in node.wait("fault")["message"]
