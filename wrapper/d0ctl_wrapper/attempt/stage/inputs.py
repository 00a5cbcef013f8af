"""The working directory of an attempt, and its inputs there."""

import os
import stat
from typing import Any, Callable, Dict, Iterable, Iterator, List, Set

from d0ctl_wrapper.attempt.slot import Slot
from d0ctl_wrapper.attempt.stage import acquire
from d0ctl_wrapper.attempt.stage.transfer_runner import TransferRunner
from d0ctl_wrapper.attempt.verdict import Failed
from d0ctl_wrapper.disk import FULL, copy_pieces
from d0ctl_wrapper.host import packing, software_archive
from d0ctl_wrapper.protocol import stamp
from d0ctl_wrapper.protocol.checksum import is_rewritten
from d0ctl_wrapper.protocol.launch import Launch
from d0ctl_wrapper.protocol.paths import AttemptFolder, inside, is_below, to_path, to_text
from d0ctl_wrapper.protocol.text import one_line

MOST_LINKED = 1000 * 1000
"""The most bytes of an input that a working directory has as a hard link.

A hard link holds the space of a copy that is purged, and over NFS it makes other hosts read the
file again. A short attempt, for which the time of a symbolic link matters, has small inputs.
"""

OBEY_EVERY = 100
"""After how many inputs orders are obeyed; on a slow disk, linking so many takes 0.1 s."""


def prepare(
    folder: AttemptFolder,
    launch: Launch,
    slot: Slot,
    runner: "Callable[[], TransferRunner]",
    pause_point: "Callable[[], None]",
) -> "acquire.Acquired | None":
    """Create the working directory with all inputs and enter it; raise Failed if one is missing.

    `runner` fetches the inputs with a locator; returns their copies, None if there is no such
    input.
    """
    acquired = acquire.fetch(folder, launch, runner()) if acquire.is_needed(launch) else None
    _link_all(folder, launch, slot, pause_point)
    return acquired


def _link_all(
    folder: AttemptFolder, launch: Launch, slot: Slot, pause_point: "Callable[[], None]"
) -> None:
    check(launch["inputs"], pause_point)
    try:
        slot.make_folder(folder.work)
        for entry in _obeying(launch["inputs"], pause_point):
            link(folder, entry, pause_point)
        os.chdir(folder.work)
    except OSError as error:
        reason = "disk-full" if error.errno in FULL else "launch-failed"
        raise Failed(reason, "can't create the working directory: %s" % error.strerror)


def _obeying(
    entries: "List[Dict[str, Any]]", pause_point: "Callable[[], None]"
) -> "Iterator[Dict[str, Any]]":
    """Yield inputs; `pause_point`, which may raise to give up, is called from time to time."""
    for number, entry in enumerate(entries, 1):
        yield entry
        if number % OBEY_EVERY == 0:
            pause_point()


def check(entries: "List[Dict[str, Any]]", pause_point: "Callable[[], None]") -> None:
    """Raise Failed unless all these inputs exist and are what they were when recorded."""
    faults = [
        (entry["path"], fault)
        for entry in _obeying(entries, pause_point)
        for fault in _faults(entry, pause_point)
    ]
    if faults:
        missing = tuple(path for path, _ in faults)
        rest = " (and %d more)" % (len(faults) - 1) if len(faults) > 1 else ""
        raise Failed("missing-input", faults[0][1] + rest, missing)


def link(folder: AttemptFolder, entry: "Dict[str, Any]", pause_point: "Callable[[], None]") -> None:
    """Link, copy or unpack an input into the working directory under its name.

    A program that may write to an input gets a copy of its own; a packed directory is always a
    copy. `pause_point` is called before each piece of the copy, and may raise to give up.
    """
    source, target = to_path(entry["path"]), inside(folder.work, entry["name"])
    if "/" in entry["name"]:
        os.makedirs(os.path.dirname(target), 0o700, exist_ok=True)
    if _is_packed(entry):
        unpack(source, target, pause_point)
        entry["tree"] = packing.stamp(target)
        return
    if not entry["writable"] or os.path.isdir(source):
        _link(folder, source, target, entry)
        return
    mode = 0o700 if os.stat(source).st_mode & 0o100 else 0o600
    with open(source, "rb", buffering=0) as file:
        copy = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        try:
            copy_pieces(file, copy, pause_point)
        finally:
            os.close(copy)
    entry["own"] = _size_and_stamp(target)


def _link(folder: AttemptFolder, source: bytes, target: bytes, entry: "Dict[str, Any]") -> None:
    """Link an input: by a hard link if it is small and d0ctl's own, else by a symbolic one.

    A hard link needs no inode. On ext4 it costs a hundredth of the time.
    """
    status = os.lstat(source)
    if _is_linkable(folder, source, status, entry):
        try:
            os.link(source, target)
            entry["linked"] = status.st_ino
            entry["seen"] = {"size": status.st_size, **stamp.of(status)}
            return
        except OSError:
            pass  # on another file system, or with too many links
    os.symlink(source, target)
    entry["seen"] = _size_and_stamp(source)


def _is_linkable(
    folder: AttemptFolder, source: bytes, status: os.stat_result, entry: "Dict[str, Any]"
) -> bool:
    """Return whether an input is a small read-only copy of d0ctl's, in a cache of this site."""
    return (
        entry["mtime"] is not None
        and status.st_size <= MOST_LINKED
        and stat.S_ISREG(status.st_mode)
        and status.st_mode & 0o777 == stamp.read_only(status)
        and status.st_uid == os.geteuid()
        and is_below(source, os.path.dirname(folder.node.base))
    )


def linked(entries: "Iterable[Dict[str, Any]]") -> "Set[int]":
    """Return the inodes of the inputs that are hard links."""
    return {entry["linked"] for entry in entries if "linked" in entry}


def protect(entries: "Iterable[Dict[str, Any]]") -> None:
    """Make the copies of hard links read-only again, after a `chmod -R` of the package."""
    for entry in entries:
        if "linked" not in entry:
            continue
        try:
            path = to_path(entry["path"])
            status = os.lstat(path)
            if status.st_ino == entry["linked"] and status.st_mode & 0o222:
                os.chmod(path, stamp.read_only(status))
        except OSError:
            pass


def _is_packed(entry: "Dict[str, Any]") -> bool:
    """Return whether an input is a directory that has come as one file."""
    return packing.is_folder(entry["name"]) and not os.path.isdir(to_path(entry["path"]))


def unpack(path: bytes, target: bytes, pause_point: "Callable[[], None]") -> None:
    """Unpack a directory that has come as one file; raise Failed if that is none."""
    try:
        with open(path, "rb") as file:
            software_archive.unpack(file, target, pause_point)
    except software_archive.BadArchive as error:
        shown = one_line(to_text(path))
        raise Failed("stage-in", "`%s` is not a packed directory: %s" % (shown, error))


def unlink(work: bytes, entries: "List[Dict[str, Any]]") -> None:
    """Remove the links to inputs, or the files in their place, from a working directory."""
    for entry in entries:
        try:
            os.unlink(inside(work, entry["name"]))
        except OSError:
            pass


def changed_copy(work: bytes, entries: "List[Dict[str, Any]]") -> str:
    """Return the name of an input whose own copy was changed; empty if there is none."""
    for entry in entries:
        path = inside(work, entry["name"])
        if entry["writable"] and _size_and_stamp(path) != entry.get("own"):
            return str(entry["name"])
        if "tree" in entry and packing.stamp(path) != entry["tree"]:
            return str(entry["name"])
    return ""


def check_unchanged(work: bytes, entries: "List[Dict[str, Any]]") -> "List[str]":
    """Check that the package has not changed its inputs.

    Raises Failed for a changed copy of d0ctl's; returns a remark for each other changed file.
    """
    remarks = []
    for entry in entries:
        if entry.get("seen") is None or _present(work, entry) == entry["seen"]:
            continue
        remark = "input `%s` was changed while the package ran" % one_line(entry["name"])
        if entry["mtime"] is not None:
            raise Failed("verification", remark + ": `writable: yes` gives a program its own copy")
        remarks.append(remark)
    return remarks


def _present(work: bytes, entry: "Dict[str, Any]") -> "Dict[str, int] | None":
    """Return size and stamp of an input as it is now.

    If d0ctl has meanwhile replaced or removed the copy, a hard link still is what it was; a program
    that has removed the link can't have changed it.
    """
    now = _size_and_stamp(to_path(entry["path"]))
    if "linked" not in entry or (now is not None and now["inode"] == entry["seen"]["inode"]):
        return now
    own = _size_and_stamp(inside(work, entry["name"]))
    is_link = own is not None and own["inode"] == entry["seen"]["inode"]
    return own if is_link else entry["seen"]


def _size_and_stamp(path: bytes) -> "Dict[str, int] | None":
    """Return size and stamp of a file; None for a folder or a missing file."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return {"size": status.st_size, **stamp.of(status)} if stat.S_ISREG(status.st_mode) else None


def _faults(entry: "Dict[str, Any]", pause_point: "Callable[[], None]") -> "list[str]":
    """Return what is wrong with an input, in a list of at most one sentence."""
    shown = "input `%s`" % one_line(entry["path"])
    try:
        status = os.stat(to_path(entry["path"]))
    except OSError as error:
        return ["%s does not exist: %s" % (shown, error.strerror)]
    size = entry["size"]
    if size is not None and stat.S_ISREG(status.st_mode) and status.st_size != size:
        return ["%s has %d bytes, not %d" % (shown, status.st_size, size)]
    if not stamp.is_same(status, entry):
        return ["%s has changed since it was recorded" % shown]
    if stat.S_ISREG(status.st_mode) and _is_rewritten(entry, pause_point):
        return ["%s has other contents than were delivered" % shown]
    return []


def _is_rewritten(entry: "Dict[str, Any]", pause_point: "Callable[[], None]") -> bool:
    """Return whether a result on the control host was changed by hand, with the same size."""
    known = entry.get("delivered")
    if known is None:
        return False
    try:
        return is_rewritten(to_path(entry["path"]), known["at"], known["checksum"], pause_point)
    except OSError:
        return False  # the copy of it will say why
