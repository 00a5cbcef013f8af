"""Orders that come while a wrapper reads, copies or stores files that take long."""

import os
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.support.waiting import wait_until
from tests.wrapper.client import Client, binary, launch
from tests.wrapper.fetching import READ, given
from tests.wrapper.test_command import state

HUGE = binary(script="truncate -s 1T big; touch ../up", outputs=[{"name": "big", "min_size": None}])
"""A binary whose output takes an hour to read, and no space."""


def reading(node: Client, **more: Any) -> int:
    """Start an attempt, wait until it reads its huge output, and give the pid of its wrapper."""
    node.launch(launch(1, {**HUGE, **more}, keep=["big"]))
    wrapper = node.started(1)
    wait_until(lambda: has_open(wrapper, "big"), what="the wrapper reads its output")
    return wrapper


def has_open(pid: int, name: str) -> bool:
    """Whether a process has a file of this name open."""
    folder = Path(f"/proc/{pid}/fd")
    try:
        return any(one.readlink().name == name for one in folder.iterdir())
    except OSError:
        return False


@pytest.mark.parametrize("checksum", [None, "md5:" + "0" * 32])
def test_a_kill_is_obeyed_while_an_output_is_checksummed(
    node: Client, checksum: str | None
) -> None:
    output = {"name": "big", "min_size": None, "checksum": checksum}
    reading(node, outputs=[output])

    node.send("kill", attempts=[1], grace=5)

    assert node.end(1)["outcome"] == "killed"
    assert not (node.base / "cache" / "1").exists()


def test_a_pause_is_obeyed_while_an_output_is_checksummed_before_the_next_binary(
    node: Client,
) -> None:
    declared = {"name": "big", "min_size": None, "checksum": "md5:" + "0" * 32}
    node.launch(launch(1, {**HUGE, "outputs": [declared]}, binary("true"), keep=["big"]))
    wrapper = node.started(1)
    wait_until(lambda: has_open(wrapper, "big"), what="the wrapper reads the output")

    node.send("pause", attempts=[1], grace=5)
    assert "paused on request" in state(node, "suspended")["why"]

    node.send("resume", attempts=[1])
    state(node, "running")
    assert has_open(wrapper, "big")
    node.send("kill", attempts=[1], grace=5)
    assert node.end(1)["outcome"] == "killed"


WAITS = "echo 1 > made; touch ../up; while [ ! -e ../go ]; do sleep 0.05; done"
"""A binary that ends once it is told."""


def test_a_paused_attempt_whose_binaries_have_ended_delivers_its_outputs_and_ends(
    node: Client,
) -> None:
    store = {"commands": {"root": {"store": "sleep 1; true {source} {dest}"}}}
    made = {"name": "made", "min_size": 1, "checksum": "md5:b026324c6904b2a9cb4b88d6d61c81d1"}
    deliver = [{"name": "made", "locator": "root://store/made"}]
    waits = binary(script=WAITS, outputs=[made])
    node.launch(launch(1, waits, keep=["made"], deliver=deliver, transfer=store))
    wait_until(lambda: (node.folder(1) / "up").exists())

    node.send("pause", attempts=[1], grace=600)
    wait_until(lambda: (node.folder(1) / "command").exists())
    (node.folder(1) / "go").touch()

    end = node.end(1)
    assert end["outcome"] == "successful", end["detail"]
    assert [one["name"] for one in end["outputs"]] == ["made"]
    assert "suspended" not in [one.get("phase") for one in node.messages(1)]
    assert node.run(binary("true"), attempt=2, cpus=4)["outcome"] == "successful"


def test_a_kill_keeps_the_outputs_of_a_paused_attempt(node: Client) -> None:
    made = {"name": "made", "min_size": 1}
    node.launch(launch(1, binary(script=WAITS, outputs=[made]), keep=["made"]))
    wait_until(lambda: (node.folder(1) / "up").exists())
    node.send("pause", attempts=[1], grace=0)
    state(node, "suspended")

    node.send("kill", attempts=[1], grace=1, partial=True)

    assert [one["name"] for one in node.end(1)["outputs"]] == ["made"]


def test_a_shutdown_is_obeyed_while_an_output_is_checksummed(node: Client) -> None:
    os.kill(reading(node), signal.SIGTERM)

    end = node.end(1)
    assert (end["outcome"], end["reason"]) == ("failed", "platform-failure")


def test_a_repeated_kill_does_not_stop_keeping_partial_outputs(node: Client) -> None:
    script = "truncate -s 3G big; touch ../up; sleep 300"
    node.launch(launch(1, {**HUGE, "script": script}, keep=["big"]))
    wrapper = node.started(1)
    wait_until(lambda: (node.folder(1) / "up").exists())
    node.send("kill", attempts=[1], grace=0.1, partial=True)
    wait_until(lambda: has_open(wrapper, "big"), what="the wrapper reads its output")

    node.send("kill", attempts=[1], grace=0.1, partial=True)

    end = node.end(1)
    assert [one["name"] for one in end["outputs"]] == ["big"], end["detail"]


def stuck(folder: Path) -> str:
    """Give a command that copies nothing."""
    return f": {{source}} {{dest}}; touch {folder}/begun; sleep 300"


def test_a_copy_of_an_output_can_be_killed(node: Client, tmp_path: Path) -> None:
    made = binary(script="echo 1 > out", outputs=[{"name": "out", "min_size": None}])
    rules = {"commands": {"root": {"store": stuck(tmp_path)}}, "idle": 2.0}
    deliver = [{"name": "out", "locator": "root://store/out"}]
    node.launch(launch(1, made, keep=["out"], deliver=deliver, transfer=rules))
    wait_until(lambda: (tmp_path / "begun").exists())

    node.send("kill", attempts=[1], grace=5)

    assert node.end(1)["outcome"] == "killed"
    assert not (node.base / "cache" / "1").exists()


def test_a_copy_of_an_input_can_be_paused_and_killed(node: Client, tmp_path: Path) -> None:
    rules = {"commands": {"root": {"fetch": stuck(tmp_path)}}, "idle": 2.0}
    node.launch(launch(1, READ, inputs=[given("root://store/raw")], transfer=rules))
    wait_until(lambda: (tmp_path / "begun").exists())

    node.send("pause", attempts=[1], grace=5)
    assert "SIGSTOP" in state(node, "suspended")["why"]
    node.send("kill", attempts=[1], grace=5)

    assert node.end(1)["outcome"] == "killed"
