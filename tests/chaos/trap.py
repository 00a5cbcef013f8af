"""End a process from within by SIGKILL, at the nth time it does something.

The world changes only when a function is called, so a process that is killed before or after
any of its calls has been killed at any instruction that anybody can tell from another.
Orders lie in a folder, a file each; who takes one renames it, so that it is obeyed once.
It runs on nodes too, and needs nothing but the standard library.
"""

import json
import os
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

ANY = ""
"""The point that stands for every call."""

OURS = (f"{Path(__file__).resolve().parents[2]}/d0ctl/", "d0ctl_wrapper/")
"""Only calls made by code whose path has one of these in it count; that of a shipped wrapper is
relative."""

FIRED = "fired"
"""The file that says which orders were obeyed."""

BEFORE, AFTER = ("call", "c_call"), ("return", "c_return")


def take(folder: str, role: str) -> "dict[str, Any] | None":
    """Take the oldest order for a role; None when there is none."""
    for path in sorted(Path(folder).glob(role + "-*.json")):
        taken = path.with_suffix(".taken")
        with suppress(FileNotFoundError):
            path.rename(taken)
            order: dict[str, Any] = json.loads(taken.read_text())
            return order
    return None


def lay(folder: str, role: str) -> None:
    """Obey the order for this role, if there is one, in all threads to come and in this one."""
    order = take(folder, role)
    if order is not None:
        spring = _spring(folder, role, order["point"], order["count"], order["after"])
        threading.setprofile(spring)
        sys.setprofile(spring)


def lift() -> None:
    """Obey none any more, as in a child of a process that had one."""
    threading.setprofile(None)
    sys.setprofile(None)


def _spring(
    folder: str, role: str, point: str, count: int, after: bool
) -> "Callable[[Any, str, Any], None]":
    events = AFTER if after else BEFORE
    left = count

    def look(frame: Any, event: str, function: Any) -> None:
        nonlocal left
        file = frame.f_code.co_filename
        if event not in events or not any(part in file for part in OURS):
            return
        if point != ANY:
            is_ours = event in ("call", "return")
            name = frame.f_code.co_name if is_ours else function.__name__
            if name != point:
                return
        left -= 1
        if left <= 0:
            _die(folder, f"{role} {point or 'any'} {count} {after:d}\n")

    return look


def _die(folder: str, words: str) -> None:
    note(folder, words)
    os.kill(os.getpid(), signal.SIGKILL)


def note(folder: str, words: str) -> None:
    """Say that an order was obeyed."""
    with Path(folder, FIRED).open("a") as file:
        file.write(words)
