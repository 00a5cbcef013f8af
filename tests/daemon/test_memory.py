"""Memory that was freed goes back to the system."""

import subprocess
import sys
import threading

import pytest

from d0ctl.daemon.desk import Desk
from d0ctl.daemon.loop import Loop

SCRIPT = """
from d0ctl.daemon.loop import trim_memory

def resident():
    lines = open("/proc/self/status").read().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmRSS:"))

blocks = [b"x" * 100_000 for _ in range(1000)]
last = blocks.pop()  # what lies behind the others keeps them from being given back
del blocks
before = resident()
trim_memory()
print(before - resident())
"""


def test_freed_memory_before_a_block_in_use_is_given_back() -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True)

    assert int(done.stdout) > 50_000_000, done.stderr


def test_a_daemon_gives_memory_back_once_in_a_while(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[bool] = []
    monkeypatch.setattr("d0ctl.daemon.loop.trim_memory", lambda: done.append(True))
    loop = Loop(desk)

    for _ in range(2):
        loop.slow_done = 0.0
        loop.turn(threading.Event())

    assert done == [True]
