"""A wrapper serves one attempt after the other; the hand-over survives kills at any step."""

import json
import os
import shlex
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from d0ctl_wrapper.attempt.run.detach import RelayContext
from d0ctl_wrapper.protocol import launch as launches
from d0ctl_wrapper.protocol.paths import NodePaths
from d0ctl_wrapper.relay.attempts import pool as pools
from d0ctl_wrapper.relay.attempts.pool import WrapperPool
from tests.support.waiting import Pid, wait_until
from tests.wrapper.client import Client, Frame, binary, launch
from tests.wrapper.conftest import Connect
from tests.wrapper.test_death import dead, states
from tests.wrapper.test_kill import DAEMON, daemons, is_gone

TRAPS = Path(__file__).parents[1] / "chaos" / "node.py"


def wrapper_of(node: Client, attempt: int) -> int:
    """The pid in the record of an attempt."""
    record = node.folder(attempt) / "wrapper"
    wait_until(lambda: record.exists() and record.read_text().endswith("\n"))
    return int(record.read_text().split()[0])


def process_of(node: Client, attempt: int) -> Pid:
    """The living wrapper of an attempt."""
    pid = Pid.of(wrapper_of(node, attempt))
    assert pid is not None
    return pid


@pytest.fixture
def single(connect: Connect) -> Client:
    """A connection to a relay with one CPU, so that its attempts share a wrapper."""
    node = connect(cpus=1)
    node.wait("hello")
    return node


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
        assert kinds == ["start", "binary", "end"]


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
    used = process_of(single, 1)
    if described.get("early"):
        single.send("input_stream", attempts=[{"attempt": 1, "inputs": [], "closed": True}])
    single.end(1)
    wait_until(lambda: not used.lives())

    assert single.run(binary("true"), attempt=2)["outcome"] == "successful"
    assert wrapper_of(single, 2) != used.number


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


def test_a_shutdown_that_reaches_an_idle_wrapper_ends_the_attempt_it_is_given(
    single: Client,
) -> None:
    single.run(binary("true"))
    idle = process_of(single, 1)
    idle.kill(signal.SIGSTOP)
    wait_until(lambda: idle.state() == "T")
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
    idle.kill(signal.SIGSTOP)
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
    idle.kill(signal.SIGSTOP)
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
    idle.kill(signal.SIGSTOP)
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


# deaths at each step of the hand-over ----------------------------------------------------

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


@pytest.mark.parametrize(
    ("point", "after"), [("_claim", False), ("write_record", True), ("take", False)]
)
def test_a_relay_that_dies_before_the_hand_over_leaves_a_dead_attempt(
    trapped: Trapped, connect: Connect, tmp_path: Path, point: str, after: bool
) -> None:
    node = trapped("relay", point, 3 if point == "take" else 2, after=after)
    node.run(binary("true"))
    node.launch(launch(2, binary(script=f"echo ran >> {tmp_path}/runs")))
    assert node.process.wait(30) == -signal.SIGKILL
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
    assert node.process.wait(30) == -signal.SIGKILL
    successor = connect(cpus=1)

    assert states(successor)[2] in ("running", "ended")
    assert successor.end(2)["outcome"] == "successful"
    assert (tmp_path / "runs").read_text() == "ran\n"


def test_a_relay_that_dies_at_the_end_of_an_attempt_loses_no_message(
    trapped: Trapped, connect: Connect
) -> None:
    node = trapped("relay", "_rest", 1, after=True)
    node.launch(launch(1, binary("true")))
    assert node.process.wait(30) == -signal.SIGKILL
    successor = connect(cpus=1)

    assert states(successor) == {1: "ended"}
    assert successor.end(1)["outcome"] == "successful"
    assert [one["kind"] for one in successor.messages(1)] == ["start", "binary", "end"]


def test_a_wrapper_that_dies_with_its_launch_leaves_a_dead_attempt(
    trapped: Trapped, tmp_path: Path
) -> None:
    node = trapped("wrapper", "launch", 2, after=True)
    node.run(binary("true"))
    node.launch(launch(2, binary(script=f"echo ran >> {tmp_path}/runs")))

    assert dead(node) == {"attempt": 2, "message": "its wrapper was ended by SIGKILL"}
    assert node.run(binary("true"), attempt=3)["outcome"] == "successful"
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize("after", [False, True])
def test_a_wrapper_that_dies_when_its_attempt_is_over_has_ended_it(
    trapped: Trapped, after: bool
) -> None:
    node = trapped("wrapper", "tell_end", 1, after=after)
    ends = [node.run(binary("true"), attempt=number) for number in (1, 2, 3)]

    assert {end["outcome"] for end in ends} == {"successful"}
    assert not [frame for frame in node.frames if frame["kind"] == "dead"]


def test_a_relay_that_dies_while_it_retires_a_wrapper_leaves_nothing(
    trapped: Trapped, connect: Connect
) -> None:
    node = trapped("relay", "_close", 1, after=False)
    node.run(binary("true"))
    idle = process_of(node, 1)
    assert node.process.wait(30) == -signal.SIGKILL

    wait_until(lambda: not idle.lives())
    assert states(connect(cpus=1)) == {1: "ended"}


# the pool itself, on real wrappers -------------------------------------------------------

Pool = tuple[WrapperPool, dict[int, Callable[[], object]]]


@pytest.fixture
def pool(tmp_path: Path) -> Iterator[Pool]:
    """A pool, and what it wants to be called for each descriptor."""
    paths = NodePaths(os.fsencode(tmp_path / "base"))
    paths.make()
    calls: dict[int, Callable[[], object]] = {}
    context = RelayContext(paths, "boot", dict(os.environb), 0o077)
    pool = WrapperPool(context, calls.__setitem__, calls.__delitem__, lambda *_: None)
    umask = os.umask(0o077)
    yield pool, calls
    os.umask(umask)
    for pid in pool.pids:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        pool.ended(pid)


def folder_of(pool: WrapperPool, attempt: int) -> Path:
    """The folder of an attempt."""
    return Path(os.fsdecode(pool._context.paths.attempt(attempt).path))


def serve(
    pool: Pool,
    attempt: int,
    meanwhile: Callable[[int], Any] = lambda pid: None,
) -> int:
    """Have an attempt run to its end, and give the pid of its wrapper."""
    wrappers, calls = pool
    over: list[int] = []
    wrappers.on_end = over.append
    checked = launches.check(launch(attempt, binary("true")))
    folder = folder_of(wrappers, attempt)
    folder.mkdir()
    pid = wrappers.start(checked)
    wait_until((folder / "end").exists)
    meanwhile(pid)
    while not over:
        for call in list(calls.values()):
            call()
    return pid


def test_a_signal_that_comes_after_the_end_reaches_no_other_attempt(
    pool: Pool,
) -> None:
    first = serve(pool, 1, lambda pid: pool[0].signal(pid, signal.SIGTERM))
    second = serve(pool, 2)

    assert second != first
    assert '"outcome":"successful"' in (folder_of(pool[0], 2) / "end").read_text()


def test_a_wrapper_ends_after_many_attempts(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pools, "MOST_ATTEMPTS", 2)
    pids = [serve(pool, attempt) for attempt in (1, 2, 3)]

    assert pids[0] == pids[1] != pids[2]
    os.waitpid(pids[0], 0)
    assert pool[0].ended(pids[0]) is None
