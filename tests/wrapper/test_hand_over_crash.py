"""Relays and wrappers that die at a point of the hand-over."""

import json
import shlex
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from d0ctl_wrapper.attempt.wrapper import MOST_REMOVED
from tests.support.waiting import PATIENCE_S, wait_until
from tests.wrapper.client import Client, binary, launch
from tests.wrapper.conftest import Connect
from tests.wrapper.serving import process_of, wrapper_of
from tests.wrapper.test_death import dead, states

TRAPS = Path(__file__).parents[1] / "chaos" / "node.py"

MANY = MOST_REMOVED + 100

Trapped = Callable[..., Client]


@pytest.fixture
def trapped(connect: Connect, tmp_path: Path) -> Iterator[Trapped]:
    """Opens a connection to a relay with one CPU, of which a process dies at a point."""
    orders = tmp_path / "orders"
    orders.mkdir()
    (tmp_path / "boot").write_text(Path("/proc/sys/kernel/random/boot_id").read_text())
    python = tmp_path / "python"
    words = [sys.executable, "-I", "-S", str(TRAPS), str(orders), str(tmp_path / "boot")]
    python.write_text(f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n')
    python.chmod(0o755)

    def open_connection(role: str, point: str, count: int, *, after: bool) -> Client:
        order = {"point": point, "count": count, "after": after}
        (orders / f"{role}-001.json").write_text(json.dumps(order))
        return connect(str(python), cpus=1)

    yield open_connection
    assert (orders / "fired").exists(), "the point was never reached"


@pytest.mark.parametrize(("point", "after"), [("_claim", False), ("_claim", True), ("take", False)])
def test_a_relay_that_dies_before_the_hand_over_leaves_a_dead_attempt(
    trapped: Trapped, connect: Connect, tmp_path: Path, point: str, after: bool
) -> None:
    node = trapped("relay", point, 3 if point == "take" else 2, after=after)
    node.run(binary("true"))
    node.launch(launch(2, binary(script=f"echo ran >> {tmp_path}/runs")))
    assert node.process.wait(PATIENCE_S) == -signal.SIGKILL
    successor = connect(cpus=1)

    if states(successor)[2] != "dead":
        assert dead(successor)["attempt"] == 2
    assert successor.run(binary("true"), attempt=3)["outcome"] == "successful"
    assert not (tmp_path / "runs").exists()


def test_a_relay_that_dies_after_the_hand_over_leaves_a_running_attempt(
    trapped: Trapped, connect: Connect, tmp_path: Path
) -> None:
    node = trapped("relay", "take", 3, after=True)
    node.run(binary("true"))
    node.launch(launch(2, binary(script=f"echo ran >> {tmp_path}/runs")))
    assert node.process.wait(PATIENCE_S) == -signal.SIGKILL
    successor = connect(cpus=1)

    assert states(successor)[2] in ("running", "ended")
    assert successor.end(2)["outcome"] == "successful"
    assert (tmp_path / "runs").read_text() == "ran\n"


def test_a_relay_that_dies_at_the_end_of_an_attempt_loses_no_message(
    trapped: Trapped, connect: Connect
) -> None:
    node = trapped("relay", "_rest", 1, after=True)
    node.launch(launch(1, binary("true")))
    assert node.process.wait(PATIENCE_S) == -signal.SIGKILL
    successor = connect(cpus=1)

    assert states(successor) == {1: "ended"}
    assert successor.end(1)["outcome"] == "successful"
    assert [one["kind"] for one in successor.messages(1)] == ["start", "end"]


def test_a_wrapper_that_dies_with_its_launch_leaves_a_dead_attempt(
    trapped: Trapped, tmp_path: Path
) -> None:
    node = trapped("wrapper", "launch", 2, after=True)
    ran = binary(script=f"echo ran >> {tmp_path}/runs")
    node.launch(launch(1, binary("true")), launch(2, ran))

    assert dead(node) == {"attempt": 2, "message": "its wrapper was ended by SIGKILL"}
    assert node.run(binary("true"), attempt=3)["outcome"] == "successful"
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize("after", [False, True])
def test_a_wrapper_that_dies_when_its_attempt_is_over_has_ended_it(
    trapped: Trapped, after: bool
) -> None:
    node = trapped("wrapper", "send_end_message", 1, after=after)
    node.launch(launch(1, binary("true")), launch(2, binary("true")))

    assert [node.end(number)["outcome"] for number in (1, 2)] == ["successful"] * 2
    assert not [frame for frame in node.frames if frame["kind"] == "dead"]


@pytest.mark.parametrize("linked", [0, MANY])
def test_the_end_is_reported_before_many_files_are_removed(
    trapped: Trapped, connect: Connect, tmp_path: Path, linked: int
) -> None:
    (tmp_path / "data").touch()
    entry = {"path": f"{tmp_path}/data", "size": 0, "required": True}
    names = [{"name": str(number), **entry} for number in range(1, linked + 1)]
    node = trapped("wrapper", "send_end_message", 1, after=True)
    end = node.run(binary(script="true" if linked else f"touch $(seq {MANY})"), inputs=names)

    assert end["outcome"] == "successful"
    wrapper = Path(f"/proc/{wrapper_of(node, 1)}")
    wait_until(lambda: not wrapper.exists())
    assert list((node.folder(1) / "work").iterdir())
    node.close()
    successor = connect(cpus=1)
    assert states(successor) == {1: "ended"}
    wait_until(lambda: not (node.folder(1) / "work").exists())


def test_the_wrapper_itself_removes_them_afterwards(single: Client) -> None:
    assert single.run(binary(script=f"touch $(seq {MANY})"))["outcome"] == "successful"
    assert single.run(binary("true"), attempt=2)["outcome"] == "successful"

    wait_until(lambda: not (single.folder(1) / "work").exists())


@pytest.mark.parametrize("point", ["send_end", "send_end_message"])
def test_a_recorded_end_is_sent_though_its_wrapper_dies_before_it_does(
    trapped: Trapped, point: str
) -> None:
    node = trapped("wrapper", point, 1, after=False)
    node.launch(launch(1, binary("true")))

    assert node.end(1)["outcome"] == "successful"
    assert not [frame for frame in node.frames if frame["kind"] == "dead"]


def test_the_next_relay_sends_a_recorded_end_though_its_wrapper_dies_before_it_does(
    trapped: Trapped, connect: Connect, tmp_path: Path
) -> None:
    node = trapped("wrapper", "send_end", 1, after=False)
    script = f"until [ -e {tmp_path}/open ]; do sleep 0.02; done"
    node.launch(launch(1, binary(script=script)))
    node.message(1, "start")
    node.process.kill()
    successor = connect(cpus=1)
    assert states(successor) == {1: "running"}
    (tmp_path / "open").touch()

    assert successor.end(1)["outcome"] == "successful"


def test_a_relay_that_dies_while_it_retires_a_wrapper_leaves_nothing(
    trapped: Trapped, connect: Connect
) -> None:
    node = trapped("relay", "_close", 1, after=False)
    node.run(binary("true"))
    idle = process_of(node, 1)
    assert node.process.wait(PATIENCE_S) == -signal.SIGKILL

    wait_until(lambda: not idle.lives())
    assert states(connect(cpus=1)) == {1: "ended"}
