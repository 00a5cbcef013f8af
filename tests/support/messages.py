"""Messages as the wrappers of a world send them."""

from collections.abc import Iterable
from typing import Any

from tests.support.jobs import NOW

Message = Any
"""A message of any kind: tests make them as wrappers of any version might."""


def output(folder: str, name: str) -> dict[str, Any]:
    """An output as an end message has it."""
    return {"name": name, "path": f"{folder}/{name}", "size": 7, "checksum": "sha256:" + "7" * 64}


def start_message(attempt: int) -> Message:
    """The start message of an attempt."""
    answer = {"attempt": attempt, "kind": "start", "seq": 1, "phase": "running"}
    return {**answer, "time": NOW, "utc_offset": 0}


def state_message(attempt: int, seq: int, phase: str, why: str) -> Message:
    """A wrapper says in which state its attempt is from now on, and why."""
    answer = {"attempt": attempt, "kind": "state", "seq": seq, "phase": phase, "why": why}
    return {**answer, "time": NOW, "suspended": 0.0}


def end_message(
    attempt: int,
    outcome: str = "successful",
    reason: str | None = None,
    outputs: Iterable[dict[str, Any]] = (),
    missing: Iterable[str] = (),
) -> Message:
    """The end message of an attempt of one binary."""
    binary = {
        "binary": 1,
        "started": NOW,
        "ended": NOW + 1,
        "exit_code": 0 if outcome == "successful" else 1,
        "signal": None,
        "cpu": 0.5,
        "rss": 1000,
    }
    return {
        "attempt": attempt,
        "kind": "end",
        "seq": 2,
        "outcome": outcome,
        "started": NOW,
        "ended": NOW + 1,
        "utc_offset": 0,
        "binary": 1,
        "reason": reason,
        "detail": "",
        "exit_code": binary["exit_code"],
        "signal": None,
        "cpu": 0.5,
        "rss": 1000,
        "stderr": "",
        "binaries": [binary],
        "outputs": list(outputs),
        "missing": list(missing),
    }
