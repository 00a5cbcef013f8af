"""The only place that makes the working directory of an attempt, and brings its inputs there."""

import os
import stat
from typing import Any, Callable, Dict, List

from d0ctl_wrapper.attempt.stage import acquire
from d0ctl_wrapper.attempt.stage.carrier import Carrier
from d0ctl_wrapper.attempt.verdict import Failed
from d0ctl_wrapper.disk import FULL, copy_pieces
from d0ctl_wrapper.protocol import stamp
from d0ctl_wrapper.protocol.launch import Launch
from d0ctl_wrapper.protocol.paths import AttemptFolder, inside, to_path
from d0ctl_wrapper.protocol.text import one_line


def prepare(
    folder: AttemptFolder,
    launch: Launch,
    carrier: "Callable[[], Carrier]",
    heed: "Callable[[], None]",
) -> "List[Dict[str, Any]]":
    """Go to a new working directory that has all inputs; raise Failed if one is not there.

    What the wrapper has to bring by itself `carrier` carries; the copies are described.
    """
    staged = acquire.bring(folder, launch, carrier()) if acquire.is_needed(launch) else []
    _place_all(folder, launch, heed)
    return staged


def _place_all(folder: AttemptFolder, launch: Launch, heed: "Callable[[], None]") -> None:
    check(launch["inputs"])
    try:
        os.mkdir(folder.work, 0o700)
        for entry in launch["inputs"]:
            place(folder.work, entry, heed)
        os.chdir(folder.work)
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


def place(work: bytes, entry: "Dict[str, Any]", heed: "Callable[[], None]") -> None:
    """Put an input into a working directory under its name.

    It is a link to the copy that all share, or a copy of its own if the program may write to
    it; `heed` is called before each piece of such a copy, and may raise to give up.
    """
    source, target = to_path(entry["path"]), inside(work, entry["name"])
    if not entry["writable"]:
        os.symlink(source, target)
        entry["seen"] = _look(source)
        return
    mode = 0o700 if os.stat(source).st_mode & 0o100 else 0o600
    with open(source, "rb", buffering=0) as file:
        copy = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        try:
            copy_pieces(file, copy, heed)
        finally:
            os.close(copy)
    entry["own"] = _look(target)


def changed_copy(work: bytes, entries: "List[Dict[str, Any]]") -> str:
    """Name an input of which a program has changed its own copy; empty where there is none."""
    for entry in entries:
        if entry["writable"] and _look(inside(work, entry["name"])) != entry.get("own"):
            return str(entry["name"])
    return ""


def judge(entries: "List[Dict[str, Any]]") -> "List[str]":
    """See that a package has changed none of its inputs.

    Raises Failed for a copy of d0ctl's; gives a remark for each file that was just there.
    """
    remarks = []
    for entry in entries:
        if entry.get("seen") is None or _look(to_path(entry["path"])) == entry["seen"]:
            continue
        told = "input `%s` was changed while the package ran" % one_line(entry["name"])
        if entry["mtime"] is not None:
            raise Failed("verification", told + ": `writable: yes` gives a program its own copy")
        remarks.append(told)
    return remarks


def _look(path: bytes) -> "Dict[str, int] | None":
    """Give how a file looks from outside; None for a folder and for what is not there."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return {"size": status.st_size, **stamp.of(status)} if stat.S_ISREG(status.st_mode) else None


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
    if not stamp.is_same(status, entry):
        return ["%s was changed since it was put there" % shown]
    return []
