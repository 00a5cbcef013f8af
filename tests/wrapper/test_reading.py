"""Orders that come while a wrapper reads, copies or stores files that take long."""

import os
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.support.waiting import wait_until
from tests.wrapper.client import Client, binary, launch
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


def test_a_pause_is_obeyed_while_an_output_is_checksummed(node: Client) -> None:
    wrapper = reading(node)

    node.send("pause", attempts=[1], grace=5)
    assert "paused on request" in state(node, "suspended")["why"]

    node.send("resume", attempts=[1])
    state(node, "running")
    assert has_open(wrapper, "big")
    node.send("kill", attempts=[1], grace=5)
    assert node.end(1)["outcome"] == "killed"


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


def test_a_copy_to_a_path_can_be_paused_and_killed(node: Client, tmp_path: Path) -> None:
    target = tmp_path / "away" / "out"
    script = "head -c 100000 /dev/zero > out; touch ../up"
    made = binary(script=script, outputs=[{"name": "out", "min_size": None}])
    stuck = tmp_path / "stuck"
    stuck.touch()
    store = (
        f"touch {tmp_path}/begun; while [ -e {stuck} ]; do sleep 0.05; done; cp {{source}} {{dest}}"
    )
    rules = {"commands": {"root": {"store": store}}, "idle": 2.0}
    deliver = [{"name": "out", "locator": "root://store/out"}]
    node.launch(launch(1, made, keep=["out"], deliver=deliver, transfer=rules))
    node.started(1)
    wait_until(lambda: (tmp_path / "begun").exists())

    node.send("pause", attempts=[1], grace=5)
    assert "SIGSTOP" in state(node, "suspended")["why"]
    node.send("kill", attempts=[1], grace=5)

    assert node.end(1)["outcome"] == "killed"
    assert not target.exists()
    assert not (node.base / "cache" / "1").exists()
