"""The only place that makes the working directory of an attempt, and brings its inputs there."""

import os
import stat
from typing import Any, Callable, Dict, List

from d0ctl_wrapper.attempt import acquire
from d0ctl_wrapper.attempt.carrier import Carrier
from d0ctl_wrapper.attempt.verdict import Failed
from d0ctl_wrapper.disk import FULL
from d0ctl_wrapper.launch import Launch
from d0ctl_wrapper.paths import Places, inside, to_path
from d0ctl_wrapper.words import one_line


def prepare(
    places: Places, launch: Launch, carrier: "Callable[[], Carrier]"
) -> "List[Dict[str, Any]]":
    """Go to a new working directory that has all inputs; raise Failed if one is not there.

    What the wrapper has to bring by itself `carrier` carries; the copies are described.
    """
    staged = acquire.bring(places, launch, carrier()) if acquire.is_needed(launch) else []
    _link(places, launch)
    return staged


def _link(places: Places, launch: Launch) -> None:
    work = places.attempt(launch["attempt"], b"work")
    check(launch["inputs"])
    try:
        os.mkdir(work, 0o700)
        for entry in launch["inputs"]:
            link(work, entry)
        os.chdir(work)
    except OSError as error:
        reason = "disk-full" if error.errno in FULL else "launch-failed"
        raise Failed(reason, "the working directory cannot be made: %s" % error.strerror)


def check(entries: "List[Dict[str, Any]]") -> None:
    """Raise Failed unless all these inputs are there."""
    faults = [(entry["path"], fault) for entry in entries for fault in _faults(entry)]
    if faults:
        missing = tuple(path for path, _ in faults)
        rest = " (and %d more)" % (len(faults) - 1) if len(faults) > 1 else ""
        raise Failed("missing-input", faults[0][1] + rest, missing)


def link(work: bytes, entry: "Dict[str, Any]") -> None:
    """Let an input lie in a working directory under its name."""
    os.symlink(to_path(entry["path"]), inside(work, entry["name"]))


def _faults(entry: "Dict[str, Any]") -> "list[str]":
    """Say why an input is not as it was promised, in a list of at most one."""
    shown = "input `%s`" % one_line(entry["path"])
    try:
        status = os.stat(to_path(entry["path"]))
    except OSError as error:
        return ["%s is not there: %s" % (shown, error.strerror)]
    size = entry["size"]
    if size is not None and stat.S_ISREG(status.st_mode) and status.st_size != size:
        return ["%s has %d bytes, not %d" % (shown, status.st_size, size)]
    return []
