"""Ending attempts on request, whatever they are."""

import os
import signal
import time
from pathlib import Path

from tests.support.waiting import Pid, wait_until
from tests.wrapper.client import Client, binary, launch
from tests.wrapper.conftest import Connect

DAEMON = """
trap '' TERM
python3 -c "
import os, signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
for _ in range(2):
    if os.fork():
        os._exit(0)
    os.setsid()
for name in list(os.environ):
    del os.environ[name]
if os.fork():
    os.execve('/bin/sleep', ['sleep', '300'], {})
open('../daemons', 'a').write('%d %d\\n' % (os.getppid(), os.getpid()))
time.sleep(300)
" &
sleep 300 & sleep 300; sleep 300
"""
"""Ignores TERM, and leaves daemons in sessions of their own without a mark on them."""


def daemons(node: Client, attempt: int) -> list[Pid]:
    """Wait for the daemons of an attempt."""
    path = node.folder(attempt) / "daemons"
    wait_until(lambda: path.exists() and path.read_text().endswith("\n"))
    found = [Pid.of(int(number)) for number in path.read_text().split()]
    return [pid for pid in found if pid]


def is_gone(pids: list[Pid]) -> bool:
    return not any(pid.lives() for pid in pids)


def test_a_kill_ends_an_attempt_gently(node: Client) -> None:
    node.launch(launch(1, binary(script="trap 'echo bye; exit 5' TERM; sleep 300 & wait")))
    node.started(1)
    wait_until(lambda: "sleep" in _names(node, 1))
    node.send("kill", attempts=[1], grace=20)
    end = node.end(1)

    assert (end["outcome"], end["reason"], end["exit_code"]) == ("killed", "killed", 5)
    assert (node.folder(1) / "1.out").read_text() == "bye\n"
    assert not (node.folder(1) / "work").exists()


def test_a_kill_ends_processes_that_ignore_signals_and_hide(node: Client) -> None:
    node.launch(launch(1, binary(script=DAEMON)))
    node.started(1)
    hidden = daemons(node, 1)
    assert len(hidden) == 2
    node.send("kill", attempts=[1], grace=0.2)
    end = node.end(1)

    assert is_gone(hidden)
    assert (end["outcome"], end["signal"]) == ("killed", 9)


def test_a_kill_ends_a_suspended_attempt(node: Client) -> None:
    node.launch(launch(1, binary(script="trap 'exit 6' TERM; kill -STOP $$; true")))
    node.started(1)
    wait_until(lambda: any(pid.state() == "T" for pid in _processes(node, 1)))
    node.send("kill", attempts=[1], grace=20)

    assert node.end(1)["exit_code"] == 6


def test_a_second_kill_may_shorten_the_grace(node: Client) -> None:
    node.launch(launch(1, binary(script="trap '' TERM; touch ../deaf; sleep 300; sleep 300")))
    wrapper = node.started(1)
    wait_until(lambda: (node.folder(1) / "deaf").exists())
    node.send("kill", attempts=[1], grace=300)
    wait_until(lambda: (node.folder(1) / "kill").exists())
    assert Path(f"/proc/{wrapper}").exists()
    node.send("kill", attempts=[1], grace=0.1)

    assert node.end(1)["outcome"] == "killed"


def test_a_binary_that_does_not_end_by_itself_gets_its_grace_only_once(node: Client) -> None:
    node.launch(launch(1, binary(script="trap '' TERM; touch ../deaf; sleep 300; sleep 300")))
    node.started(1)
    wait_until(lambda: (node.folder(1) / "deaf").exists())
    node.send("kill", attempts=[1], grace=0.1, partial=True, partial_grace=0.2)

    assert node.end(1)["outcome"] == "killed"


def test_a_plain_kill_shortens_one_that_keeps_outputs(node: Client) -> None:
    node.launch(launch(1, binary("sleep", "300")))
    node.started(1)
    node.send("kill", attempts=[1], grace=300, partial=True, partial_grace=300)
    wait_until(lambda: (node.folder(1) / "kill").exists())
    node.send("kill", attempts=[1], grace=0)

    assert node.end(1)["outcome"] == "killed"


def test_a_waiting_attempt_is_forgotten_by_a_kill(node: Client, tmp_path: Path) -> None:
    node.launch(launch(1, binary("sleep", "300"), cpus=4), launch(2, binary("true")))
    node.send("kill", attempts=[2, 77], grace=1)

    assert node.wait("absent")["attempts"] == [2, 77]
    node.send("kill", attempts=[1], grace=1)
    node.end(1)
    node.send("ping", id=0)
    node.wait("pong")
    assert not node.folder(2).exists()


def test_a_kill_right_after_the_launch_is_seen(connect: Connect) -> None:
    node = connect(cpus=64)
    for attempt in range(1, 31):
        node.launch(launch(attempt, binary("sleep", "300")))
        node.send("kill", attempts=[attempt], grace=5)

    assert {node.end(attempt)["outcome"] for attempt in range(1, 31)} == {"killed"}


def test_a_kill_of_an_ended_attempt_sends_its_end_again(node: Client) -> None:
    node.run(binary("true"))
    wait_until(lambda: not list((node.base / "spool/new").iterdir()))
    node.files.clear()
    node.send("kill", attempts=[1], grace=1)

    assert node.end(1)["outcome"] == "successful"


def test_a_killed_chain_runs_no_further_binary(node: Client, tmp_path: Path) -> None:
    trapped = binary(script="trap 'exit 0' TERM; touch up; sleep 300 & wait")
    node.launch(launch(1, trapped, binary("touch", str(tmp_path / "went on"))))
    wait_until(lambda: (node.folder(1) / "work/up").exists())
    node.send("kill", attempts=[1], grace=20)
    end = node.end(1)

    assert (end["outcome"], end["binary"], end["exit_code"]) == ("killed", 1, 0)
    assert not (tmp_path / "went on").exists()


def test_nothing_of_an_attempt_outlives_its_end_message(node: Client) -> None:
    node.run(binary(script=f"({DAEMON}) & until [ -e ../daemons ]; do sleep 0.02; done"))

    assert is_gone(daemons(node, 1))


def test_a_shutdown_that_ends_the_binary_before_the_wrapper_is_a_platform_failure(
    node: Client,
) -> None:
    after = "(while kill -0 $$; do :; done; exec kill -TERM $PPID) 2> /dev/null &"
    end = node.run(binary(script=f"{after} kill -TERM $$"))

    assert (end["outcome"], end["reason"]) == ("failed", "platform-failure")


def test_a_shutdown_of_the_node_is_a_platform_failure(node: Client) -> None:
    node.launch(launch(1, binary("sleep", "300")))
    os.kill(node.started(1), signal.SIGTERM)
    end = node.end(1)

    assert (end["outcome"], end["reason"]) == ("failed", "platform-failure")


def test_a_killed_attempt_frees_its_cpus_for_the_next(node: Client) -> None:
    node.launch(launch(1, binary("sleep", "300"), cpus=4), launch(2, binary("true")))
    node.started(1)
    began = time.monotonic()
    node.send("kill", attempts=[1], grace=20)

    assert node.end(2)["outcome"] == "successful"
    assert time.monotonic() - began < 4


def test_an_adopted_attempt_can_be_killed(connect: Connect) -> None:
    node = connect()
    node.launch(launch(1, binary(script=DAEMON)))
    node.started(1)
    hidden = daemons(node, 1)
    node.close()
    successor = connect()
    assert successor.wait("hello")["attempts"] == [{"attempt": 1, "state": "running"}]
    successor.send("kill", attempts=[1], grace=0.2)

    assert successor.end(1)["outcome"] == "killed"
    assert is_gone(hidden)


def _processes(node: Client, attempt: int) -> list[Pid]:
    mark = os.fsencode(f"D0CTL_ATTEMPT_ID={attempt}\0")
    base = os.fsencode(f"D0CTL_BASE={node.base}\0")
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            environment = (entry / "environ").read_bytes()
        except OSError:
            continue
        pid = Pid.of(int(entry.name)) if mark in environment and base in environment else None
        if pid:
            found.append(pid)
    return found


def _names(node: Client, attempt: int) -> list[str]:
    return [pid.name() for pid in _processes(node, attempt)]
