"""A wrapper serves one attempt after the other; the hand-over survives kills at any step."""

import os
import signal
from pathlib import Path

import pytest

from tests.support.waiting import Pid, wait_until
from tests.wrapper.client import Client, Frame, binary, launch
from tests.wrapper.conftest import Connect
from tests.wrapper.serving import process_of, wrapper_of
from tests.wrapper.test_death import dead, states
from tests.wrapper.test_kill import DAEMON, daemons, is_gone


def stop(process: Pid) -> None:
    """Stop a process; return once it can't read what comes next."""
    process.kill(signal.SIGSTOP)
    wait_until(lambda: process.state() == "T")


def test_a_wrapper_serves_one_attempt_after_the_other(single: Client) -> None:
    ends = [single.run(binary("echo", str(number)), attempt=number) for number in (1, 2, 3)]

    assert {end["outcome"] for end in ends} == {"successful"}
    assert len({wrapper_of(single, number) for number in (1, 2, 3)}) == 1
    assert [(single.folder(number) / "1.out").read_text() for number in (1, 2, 3)] == [
        "1\n",
        "2\n",
        "3\n",
    ]
    for number in (1, 2, 3):
        kinds = [one["kind"] for one in single.messages(number)]
        assert kinds == ["start", "end"]


def test_two_attempts_at_a_time_have_a_wrapper_each(node: Client, tmp_path: Path) -> None:
    script = (
        f"touch {tmp_path}/$D0CTL_ATTEMPT_ID; until [ -e {tmp_path}/open ]; do sleep 0.02; done"
    )
    node.launch(launch(1, binary(script=script)), launch(2, binary(script=script)))
    wait_until(lambda: (tmp_path / "1").exists() and (tmp_path / "2").exists())

    assert wrapper_of(node, 1) != wrapper_of(node, 2)
    (tmp_path / "open").touch()
    assert node.end(1)["outcome"] == node.end(2)["outcome"] == "successful"


UNUSUAL: dict[str, Frame] = {
    "a failure": launch(1, binary("false")),
    "a signal of a binary": launch(1, binary(script="kill -9 $$")),
    "a missing output": launch(
        1, binary("true", outputs=[{"name": "x", "min_size": None}]), keep=["x"]
    ),
    "a hook": launch(1, binary("true", hooks=[{"before": "true"}])),
    "a hook of the package": launch(1, binary("true"), hooks=[{"end": "true"}]),
    "log rules": launch(1, binary("echo", "hi", log_rules=[{"match": "hi", "passive": True}])),
    "an early start": launch(1, binary("true"), early=True),
    "a previous attempt": launch(1, binary("true"), previous=[{"attempt": 9, "number": 1}]),
}


@pytest.mark.parametrize("described", UNUSUAL.values(), ids=UNUSUAL.keys())
def test_a_wrapper_ends_after_anything_but_a_plain_success(
    single: Client, described: Frame
) -> None:
    single.launch(described)
    used = wrapper_of(single, 1)
    if described.get("early"):
        single.send("input_stream", attempts=[{"attempt": 1, "inputs": [], "closed": True}])
    single.end(1)
    wait_until(lambda: Pid.of(used) is None)

    assert single.run(binary("true"), attempt=2)["outcome"] == "successful"
    assert wrapper_of(single, 2) != used


def test_a_wrapper_ends_after_staging_in(single: Client, tmp_path: Path) -> None:
    (tmp_path / "data").write_text("data\n")
    entry = {"name": "data", "path": None, "size": None, "required": True}
    fetched = {**entry, "locator": f"file://{tmp_path}/data"}
    end = single.run(binary("cat", "data", inputs=["data"]), inputs=[fetched])
    used = wrapper_of(single, 1)

    assert end["outcome"] == "successful"
    assert single.run(binary("true"), attempt=2)["outcome"] == "successful"
    assert wrapper_of(single, 2) != used


def test_a_wrapper_ends_after_an_attempt_that_was_asked_for_its_status(
    single: Client, tmp_path: Path
) -> None:
    script = f"until [ -e {tmp_path}/open ]; do sleep 0.02; done"
    single.launch(launch(1, binary(script=script)))
    single.started(1)
    single.send("ask", id="s", attempt=1)
    assert single.wait("status", id="s")["state"] == "running"
    (tmp_path / "open").touch()
    assert single.end(1)["outcome"] == "successful"

    assert single.run(binary("true"), attempt=2)["outcome"] == "successful"
    assert wrapper_of(single, 2) != wrapper_of(single, 1)


def test_an_idle_wrapper_ends_after_some_seconds(single: Client) -> None:
    single.run(binary("true"))
    idle = process_of(single, 1)

    wait_until(lambda: not idle.lives(), 15, "the wrapper ends")
    assert single.run(binary("true"), attempt=2)["outcome"] == "successful"


def test_an_idle_wrapper_ends_with_its_relay(single: Client) -> None:
    single.run(binary("true"))
    idle = process_of(single, 1)
    single.process.kill()

    wait_until(lambda: not idle.lives(), 4, "the wrapper ends")


def test_a_killed_idle_wrapper_costs_no_attempt(single: Client) -> None:
    single.run(binary("true"))
    idle = process_of(single, 1)
    idle.kill(signal.SIGKILL)
    wait_until(lambda: not idle.lives())

    assert single.run(binary("true"), attempt=2)["outcome"] == "successful"
    assert not [frame for frame in single.frames if frame["kind"] == "dead"]


def test_another_wrapper_gets_a_launch_that_a_dying_one_did_not_read(
    single: Client, tmp_path: Path
) -> None:
    single.run(binary("true"))
    idle = process_of(single, 1)
    stop(idle)
    single.launch(launch(2, binary(script=f"echo ran >> {tmp_path}/runs")))
    assert wrapper_of(single, 2) == idle.number
    single.ping()
    single.wait("pong")
    idle.kill(signal.SIGKILL)

    assert single.end(2)["outcome"] == "successful"
    assert (tmp_path / "runs").read_text() == "ran\n"
    assert wrapper_of(single, 2) != idle.number == wrapper_of(single, 1)
    assert not [frame for frame in single.frames if frame["kind"] == "dead"]


def test_a_killed_attempt_that_a_dying_wrapper_did_not_read_is_dead(single: Client) -> None:
    single.run(binary("true"))
    idle = process_of(single, 1)
    stop(idle)
    single.launch(launch(2, binary("sleep", "300")))
    wrapper_of(single, 2)
    single.send("kill", attempts=[2], grace=1)
    wait_until(lambda: (single.folder(2) / "kill").exists())
    idle.kill(signal.SIGKILL)

    assert dead(single)["attempt"] == 2


def test_a_shutdown_that_reaches_an_idle_wrapper_ends_the_attempt_it_is_given(
    single: Client,
) -> None:
    single.run(binary("true"))
    idle = process_of(single, 1)
    stop(idle)
    idle.kill(signal.SIGTERM)
    single.launch(launch(2, binary("sleep", "300")))
    assert wrapper_of(single, 2) == idle.number
    idle.kill(signal.SIGCONT)

    end = single.end(2)
    assert (end["outcome"], end["reason"]) == ("failed", "platform-failure")
    assert single.run(binary("true"), attempt=3)["outcome"] == "successful"


def test_an_idle_wrapper_ends_by_sigterm(single: Client) -> None:
    single.run(binary("true"))
    idle = process_of(single, 1)
    idle.kill(signal.SIGTERM)

    wait_until(lambda: not idle.lives(), 4, "the wrapper ends")
    assert single.run(binary("true"), attempt=2)["outcome"] == "successful"


def test_a_wrapper_that_was_stopped_while_idle_runs_what_it_was_given(connect: Connect) -> None:
    node = connect(cpus=1)
    node.run(binary("true"))
    idle = process_of(node, 1)
    stop(idle)
    node.launch(launch(2, binary("true")))
    assert wrapper_of(node, 2) == idle.number
    node.process.kill()
    successor = connect(cpus=1)
    assert states(successor) == {1: "ended", 2: "running"}
    successor.launch(launch(2, binary("true")))
    assert successor.wait("already")["attempts"] == [2]

    idle.kill(signal.SIGCONT)
    assert successor.end(2)["outcome"] == "successful"
    wait_until(lambda: not idle.lives())


def test_a_kill_reaches_an_attempt_whose_wrapper_has_not_begun(single: Client) -> None:
    single.run(binary("true"))
    idle = process_of(single, 1)
    stop(idle)
    single.launch(launch(2, binary("sleep", "300")))
    wrapper_of(single, 2)
    single.send("kill", attempts=[2], grace=1)
    wait_until(lambda: (single.folder(2) / "kill").exists())
    idle.kill(signal.SIGCONT)

    assert single.end(2)["outcome"] == "killed"


def test_a_pause_reaches_an_attempt_whose_wrapper_has_not_begun(
    single: Client, tmp_path: Path
) -> None:
    single.run(binary("true"))
    idle = process_of(single, 1)
    stop(idle)
    single.launch(launch(2, binary(script="sleep 0.5; touch ../done; sleep 300")))
    wrapper_of(single, 2)
    single.send("pause", attempts=[2], grace=0)
    wait_until(lambda: (single.folder(2) / "pause").exists())
    idle.kill(signal.SIGCONT)

    wait_until(lambda: any(one["kind"] == "state" for one in arrived(single, 2)))
    assert [one["phase"] for one in arrived(single, 2)][-1] == "suspended"
    single.send("kill", attempts=[2], grace=0)
    assert single.end(2)["outcome"] == "killed"


def arrived(node: Client, attempt: int) -> list[Frame]:
    """The messages of an attempt, with those that arrive now."""
    node.ping()
    node.wait("pong")
    return node.messages(attempt)


def test_the_record_of_an_ended_attempt_may_name_a_wrapper_that_is_busy(
    connect: Connect, tmp_path: Path
) -> None:
    node = connect(cpus=1)
    node.run(binary("true"))
    script = f"until [ -e {tmp_path}/open ]; do sleep 0.02; done"
    node.launch(launch(2, binary(script=script)))
    assert wrapper_of(node, 2) == wrapper_of(node, 1)
    visitor = connect(read_only=True)
    visitor.send("ask", id="a", attempt=1)
    assert visitor.wait("status", id="a")["state"] == "ended"
    node.process.kill()
    successor = connect(cpus=1)
    assert states(successor) == {1: "ended", 2: "running"}

    successor.files.clear()
    successor.send("kill", attempts=[1], grace=0)
    assert successor.end(1)["outcome"] == "successful"
    (tmp_path / "open").touch()
    assert successor.end(2)["outcome"] == "successful"


def test_the_death_of_a_wrapper_ends_only_the_processes_of_its_last_attempt(
    connect: Connect,
) -> None:
    node = connect(cpus=2)
    assert node.run(binary("true"))["outcome"] == "successful"
    node.launch(launch(2, binary(script=DAEMON)), launch(3, binary("sleep", "300")))
    used = wrapper_of(node, 2)
    assert used == wrapper_of(node, 1)
    hidden = daemons(node, 2)
    other = node.started(3)
    os.kill(used, signal.SIGKILL)

    assert dead(node) == {"attempt": 2, "message": "its wrapper was ended by SIGKILL"}
    assert is_gone(hidden)
    assert Path(f"/proc/{other}").exists()
    node.send("kill", attempts=[3], grace=0)
    assert node.end(3)["outcome"] == "killed"
