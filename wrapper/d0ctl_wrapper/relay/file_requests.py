"""Files that a relay accepts, hashes and removes for the control host, inside BASE."""

import errno
import os
from typing import Any, Dict, List

from d0ctl_wrapper.attempt.deliver import stageout
from d0ctl_wrapper.attempt.stage import cache
from d0ctl_wrapper.disk import digest, sync
from d0ctl_wrapper.protocol import stamp
from d0ctl_wrapper.protocol.checks import shape
from d0ctl_wrapper.protocol.paths import NodePaths, is_below, remove, to_path
from d0ctl_wrapper.relay.pieces import check_regular, why

Frame = Dict[str, Any]


def take(paths: NodePaths, frame: Frame, umask: int) -> Frame:
    """Check an uploaded file, and move it to its path."""
    found: "Dict[str, int]" = {}
    try:
        aside = paths.inside(frame["aside"])
        fault = _fault(aside, frame["size"], frame["checksum"])
        if fault:
            return not_taken(frame, fault)
        if frame["outside"]:
            _hand_over(aside, to_path(shape.absolute(frame["path"])), umask)
        else:
            found = _put(paths, aside, paths.inside(frame["path"]), frame["executable"])
    except (OSError, ValueError) as error:
        return not_taken(frame, why(error))
    return {"kind": "taken", "id": frame["id"], "ok": True, "message": "", **found}


def _put(paths: NodePaths, aside: bytes, path: bytes, is_program: bool) -> "Dict[str, int]":
    """Move a file to its path, read-only if that is in the cache; return its stamp."""
    os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)
    if is_below(path, os.path.realpath(paths.cache)):
        os.chmod(aside, 0o500 if is_program else 0o400)
    os.rename(aside, path)
    sync(os.path.dirname(path))
    return stamp.of(os.stat(path))


def _hand_over(aside: bytes, path: bytes, umask: int) -> None:
    """Copy a file atomically to a path of the user, perhaps on another disk."""
    folder, name = os.path.split(path)
    near = b"%s/.%s.%s" % (folder, name[:150], os.path.basename(aside)[:50])
    try:
        stageout.copy_for_user(aside, near, umask)
        os.rename(near, path)
    finally:
        remove(near)
    remove(aside)
    sync(folder)


def not_taken(frame: Frame, why: str) -> Frame:
    """Return the answer that a file was not taken."""
    return {"kind": "taken", "id": frame["id"], "ok": False, "message": why}


def hashed(paths: NodePaths, frame: Frame) -> Frame:
    """Return the answer with size and checksum of a file."""
    try:
        path = paths.resolve(frame["path"])
        check_regular(os.stat(path))
        size, checksum = digest(path)
    except (OSError, ValueError) as error:
        return not_hashed(frame, why(error))
    answer = {"kind": "hashed", "id": frame["id"], "ok": True}
    return {**answer, "size": size, "checksum": checksum, "message": ""}


def not_hashed(frame: Frame, why: str) -> Frame:
    """Return the answer that a file can't be read."""
    answer = {"kind": "hashed", "id": frame["id"], "ok": False}
    return {**answer, "size": None, "checksum": None, "message": why}


def forget(paths: NodePaths, frame: Frame) -> "List[Frame]":
    """Remove the folders and caches of attempts, and single files."""
    answer: Frame = {"kind": "forgotten", "attempts": [], "paths": []}
    faults = []
    for attempt in frame["attempts"]:
        try:
            folder = paths.attempt(attempt)
            remove(folder.path)
            remove(folder.cache)
            answer["attempts"].append(attempt)
        except OSError as error:
            faults.append("can't remove attempt %d: %s" % (attempt, why(error)))
    top = os.path.realpath(paths.cache)
    for path in frame["paths"]:
        try:
            _forget_path(top, paths.inside(path))
            answer["paths"].append(path)
        except (OSError, ValueError) as error:
            faults.append("can't remove `%s`: %s" % (path, why(error)))
    return [answer, *({"kind": "fault", "message": fault} for fault in faults)]


def _forget_path(top: bytes, path: bytes) -> None:
    """Remove a file, and the folders of the cache at `top` that become empty."""
    if cache.is_shared(path):
        cache.remove_copy(path)
    else:
        remove(path)
    folder = os.path.dirname(path)
    while is_below(folder, top) and folder not in (top + b"/in", top + b"/aside"):
        try:
            os.rmdir(folder)
        except OSError as error:
            if error.errno not in (errno.ENOENT, errno.ENOTEMPTY):
                raise
            if error.errno == errno.ENOTEMPTY:
                return
        folder = os.path.dirname(folder)


def _fault(aside: bytes, size: "int | None", checksum: "str | None") -> str:
    """Return what is wrong with an uploaded file; empty if nothing is."""
    status = os.lstat(aside)
    check_regular(status)
    if size is not None and status.st_size != size:
        return "it has %d bytes, not %d" % (status.st_size, size)
    if checksum is not None and digest(aside)[1] != checksum:
        return "its checksum differs"
    return ""
