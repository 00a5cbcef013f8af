"""Guards over a running binary, with real processes: what they end, suspend, and say of it."""

import os
import re
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.wrapper.client import Client, Frame, binary, launch
from tests.wrapper.conftest import Connect
from tests.wrapper.pythons import found, versions
from tests.wrapper.test_command import state

SPINS = "echo begun; while :; do :; done"

HABIT = {"gap": 0.25, "runs": 212}


def program(text: str) -> Frame:
    """A binary in python."""
    return binary(sys.executable, "-c", text)


def sums_up(end: Frame) -> tuple[str, str, int]:
    """How an attempt ended, why, and in which binary."""
    return end["outcome"], end["reason"], end["binary"]


def test_a_binary_without_signs_of_life_is_looping(node: Client) -> None:
    end = node.run(binary(script=SPINS, looping=1.5, run_time_history=HABIT))

    assert sums_up(end) == ("failed", "looping", 1)
    assert re.fullmatch(
        r"binary 1 \(step\) made no progress for \d+(\.\d)? s; its longest silence in 212 runs is "
        r"0\.2 s; CPU \d+ %: looping",
        end["detail"],
    )


def test_a_looping_binary_without_cpu_use_is_reported_as_idle(node: Client) -> None:
    end = node.run(binary("sleep", "300", looping=1.5))

    assert sums_up(end) == ("failed", "looping", 1)
    assert re.fullmatch(
        r"binary 1 \(step\) made no progress for \d+(\.\d)? s; CPU 0 %: "
        "it is idle, perhaps waiting for input or a lock",
        end["detail"],
    )


def test_an_attempt_that_a_guard_ends_has_the_record_of_its_binary(node: Client) -> None:
    end = node.run(binary("true"), binary(script=SPINS, looping=1.0))

    assert [(one["binary"], one["signal"]) for one in end["binaries"]] == [(1, None), (2, 15)]
    assert end["binaries"][1]["gap"] >= 1.0
    assert end["cpu"] > 0.1


@pytest.mark.parametrize(
    "sign",
    [
        "echo event",
        "echo event >&2",
        'echo event >> "$D0CTL_PROGRESS"',
        "echo event >> made",
        "mkdir -p some/where; echo event >> some/where/scratch",
    ],
    ids=["stdout", "stderr", "progress", "output", "another file"],
)
def test_a_binary_with_any_sign_of_life_is_not_looping(node: Client, sign: str) -> None:
    steps = f"for step in 1 2 3 4 5 6 7 8; do {sign}; sleep 0.3; done; echo x > made"
    end = node.run(binary(script=steps, looping=1.5, outputs=[{"name": "made", "min_size": 1}]))

    assert end["outcome"] == "successful"


def test_a_suspended_binary_is_not_looping(node: Client) -> None:
    node.launch(launch(1, binary("sleep", "300", looping=4.0)))
    node.started(1)
    node.send("pause", attempts=[1], grace=0)
    state(node, "suspended")

    assert node.run(binary("sleep", "300", looping=4.0), attempt=2)["reason"] == "looping"
    assert not (node.folder(1) / "end").exists(), "the one that began before stands still"
    node.send("resume", attempts=[1])
    assert node.end(1)["reason"] == "looping"


def test_the_longest_silence_of_a_binary_is_reported(node: Client) -> None:
    end = node.run(binary("sleep", "1.3"), binary("true"))

    quiet, quick = (one["gap"] for one in end["binaries"])
    assert quiet >= 1.2
    assert quick < quiet


def test_a_chain_ends_after_its_wall_time(node: Client) -> None:
    end = node.run(binary("sleep", "0.8"), binary("sleep", "300"), guards={"wall_time": 2})

    assert sums_up(end) == ("failed", "wall-time", 2)
    assert re.fullmatch(r"ran for \d+(\.\d)? s, longer than its wall time of 2\.0 s", end["detail"])
    assert end["ended"] - end["started"] >= 1.9, "both binaries count"


def test_suspended_time_does_not_count_as_wall_time(node: Client) -> None:
    node.launch(launch(1, binary("sleep", "300"), guards={"wall_time": 4}))
    node.started(1)
    node.send("pause", attempts=[1], grace=0)
    assert state(node, "suspended")["suspended"] == 0.0

    other = node.run(binary("sleep", "300"), attempt=2, guards={"wall_time": 4})
    assert other["reason"] == "wall-time"
    assert not (node.folder(1) / "end").exists()
    node.send("resume", attempts=[1])
    continues = state(node, "running")
    end = node.end(1)
    assert end["reason"] == "wall-time"
    assert end["suspended"] == continues["suspended"] >= 4.0


def test_more_memory_than_asked_for_is_out_of_memory_with_the_peak(node: Client) -> None:
    hog = "import time; kept = bytes(b'x') * 90_000_000; time.sleep(300)"
    end = node.run(program(hog), guards={"memory": 40_000_000})

    assert sums_up(end) == ("failed", "out-of-memory", 1)
    said = re.fullmatch(
        r"binary 1 \(step\) used (\d+) MB of memory, more than its request of 40 MB", end["detail"]
    )
    assert said is not None
    assert int(said[1]) >= 90


def test_memory_that_processes_share_counts_once(node: Client) -> None:
    family = """
import os, time
kept = bytes(b"x") * 60_000_000
for child in range(4):
    if not os.fork():
        time.sleep(1.8)
        os._exit(0)
time.sleep(1.8)
"""
    end = node.run(program(family), guards={"memory": 120_000_000})

    assert end["outcome"] == "successful", end["detail"]


@pytest.fixture
def small_memory() -> Iterator[Path]:
    """A control group with 40 MB of memory, if we may make one."""
    with ExitStack() as stack:
        for group, limit in _groups():
            try:
                group.mkdir()
                stack.callback(group.rmdir)
                (group / limit).write_text("40000000")
            except OSError:
                continue
            yield group / "cgroup.procs"
            return
        pytest.skip("no control group for memory can be made here")


def _groups() -> Iterator[tuple[Path, str]]:
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        name = f"d0ctl-test-{os.getpid()}"
        if controllers == "memory":
            yield Path(f"/sys/fs/cgroup/memory{path}") / name, "memory.limit_in_bytes"
        if not controllers:
            yield Path(f"/sys/fs/cgroup{path}") / name, "memory.max"


def test_a_binary_that_the_kernel_kills_for_its_memory_is_out_of_memory(
    node: Client, small_memory: Path
) -> None:
    hog = "kept = [bytes([n]) * 10_000_000 for n in range(100)]"
    script = f'echo $$ > {small_memory}; {sys.executable} -c "{hog}"'
    end = node.run(binary(script=script))

    assert sums_up(end) == ("failed", "out-of-memory", 1)
    assert re.fullmatch(
        r"binary 1 \(step\) was killed by the kernel, out of memory \(kills on the node "
        r"meanwhile: \d+\); its largest process took \d+ MB",
        end["detail"],
    )


def test_a_binary_that_is_killed_by_hand_is_not_out_of_memory(node: Client) -> None:
    assert node.run(binary(script="kill -KILL $$"))["reason"] == "signal"


@pytest.mark.parametrize("version", versions())
def test_guards_work_under_every_python(connect: Connect, version: str) -> None:
    node = connect(found()[version])
    guards = {
        "wall_time": 100,
        "memory": 10**12,
        "disk": 10**12,
        "reserve": 1,
        "patience": 5,
        "swap": 10**9,
        "yield_cpu": 1.0,
    }
    end = node.run(binary(script=SPINS, looping=1.5, run_time_history=HABIT), guards=guards)

    assert sums_up(end) == ("failed", "looping", 1)
