"""A short benchmark of one CPU: how often it does each of three tasks in a second of CPU time.

The tasks run in compiled code, so the version of Python hardly counts: compression (branches and
tables), powers of long integers (multiplication), and sorting of floating-point numbers (memory).
"""

import time
import zlib
from typing import Any, Callable, Dict

Frame = Dict[str, Any]

TASK_S = 0.4
"""The seconds of CPU time that each task is repeated for."""

_PRIME = 2**2203 - 1


def answer(frame: Frame) -> Frame:
    """Run the benchmark; return the frame with the rates."""
    rates = {name: _rate(task) for name, task in _tasks().items()}
    return {"kind": "benchmarked", "id": frame["id"], "rates": rates}


def _tasks() -> "Dict[str, Callable[[], Any]]":
    numbers = _numbers(20000)
    text = b"".join(b"%d %x\n" % (number, number) for number in numbers)
    floats = [number / 7.0 for number in numbers]
    return {
        "compress": lambda: zlib.compress(text, 6),
        "multiply": lambda: pow(3, _PRIME // 5, _PRIME),
        "sort": lambda: sorted(floats),
    }


def _numbers(count: int) -> "list[int]":
    """Return the same numbers everywhere, which look random."""
    found, number = [], 1
    for _ in range(count):
        number = number * 69069 % 4294967291
        found.append(number)
    return found


def _rate(task: "Callable[[], Any]") -> float:
    """Return how often a second a task is done."""
    task()
    times, began = 0, time.process_time()
    while True:
        task()
        times += 1
        took = time.process_time() - began
        if took >= TASK_S:
            return times / took
