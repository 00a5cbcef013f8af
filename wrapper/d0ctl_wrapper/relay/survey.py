"""The only place where a relay tells all that lies on its node, for who holds it against a list."""

import os
import time
from typing import Any, Callable, Dict, Iterator

from d0ctl_wrapper import attempts, process
from d0ctl_wrapper.paths import Places, to_text

Frame = Dict[str, Any]

PART = 1000
"""So many entries go into one frame."""


def survey(places: Places, frame: Frame, send: "Callable[[Frame], None]") -> None:
    """Tell of each attempt how it stands, and of each file where it lies; several frames."""
    part = []
    for entry in _entries(places):
        part.append(entry)
        if len(part) == PART:
            send(_answer(frame, part, True))
            part = []
    send(_answer(frame, part, False))


def _answer(frame: Frame, part: "list[Frame]", more: bool) -> Frame:
    return {"kind": "surveyed", "id": frame["id"], "entries": part, "more": more}


def _entries(places: Places) -> "Iterator[Frame]":
    boot_id = process.boot_id()
    for attempt in _recorded(places):
        state = attempts.state(places, attempt, boot_id)
        yield {"attempt": attempt, "path": "attempts/%d" % attempt, "state": state, "age": 0}
        work = places.attempt(attempt, b"work")
        if os.path.isdir(work):
            yield {"attempt": attempt, "path": "attempts/%d/work" % attempt, "state": state,
                   "age": _age(work)}  # fmt: skip
    for folder in (places.cache, places.base + b"/spool"):
        for path in _files(folder):
            name = to_text(path[len(places.base) + 1 :])
            yield {"attempt": None, "path": name, "state": "", "age": _age(path)}


def _recorded(places: Places) -> "list[int]":
    try:
        return attempts.recorded(places)
    except FileNotFoundError:
        return []


def _files(folder: bytes) -> "Iterator[bytes]":
    """Find all files below a folder; what goes meanwhile is not there."""
    try:
        with os.scandir(folder) as entries:
            found = sorted((entry.path, entry.is_dir(follow_symlinks=False)) for entry in entries)
    except OSError:
        return
    for path, is_folder in found:
        if is_folder:
            yield from _files(path)
        else:
            yield path


def _age(path: bytes) -> float:
    try:
        return max(0.0, time.time() - os.lstat(path).st_mtime)
    except OSError:
        return 0.0
