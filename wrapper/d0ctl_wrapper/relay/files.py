"""The only place where a relay handles files for the control host: never outside BASE."""

import base64
import errno
import os
import stat
from typing import Any, Callable, Dict, List

from d0ctl_wrapper.attempt.deliver import stageout
from d0ctl_wrapper.attempt.stage import cache as copies
from d0ctl_wrapper.disk import digest, sync
from d0ctl_wrapper.protocol import message, shape, stamp
from d0ctl_wrapper.protocol.paths import NodePaths, is_below, remove, to_path

Frame = Dict[str, Any]

PIECE = 1024 * 1024
"""At most this many bytes of a file go into one frame."""


def take(paths: NodePaths, frame: Frame, umask: int) -> Frame:
    """Check a file that was put aside, and move it to where it belongs."""
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
        return not_taken(frame, _why(error))
    return {"kind": "taken", "id": frame["id"], "ok": True, "message": "", **found}


def _put(paths: NodePaths, aside: bytes, path: bytes, is_program: bool) -> "Dict[str, int]":
    """Put a file in its place, read-only if that is in the cache; give how it looks there."""
    os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)
    if is_below(path, os.path.realpath(paths.cache)):
        os.chmod(aside, 0o500 if is_program else 0o400)
    os.rename(aside, path)
    sync(os.path.dirname(path))
    return stamp.of(os.stat(path))


def _hand_over(aside: bytes, path: bytes, umask: int) -> None:
    """Copy a file to where the user wants it, perhaps on another disk: whole or not at all."""
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
    """Say that a file was not taken."""
    return {"kind": "taken", "id": frame["id"], "ok": False, "message": why}


def hashed(paths: NodePaths, frame: Frame) -> Frame:
    """Give size and checksum of a file."""
    try:
        path = paths.resolve(frame["path"])
        _check_regular(os.stat(path))
        size, checksum = digest(path)
    except (OSError, ValueError) as error:
        return not_hashed(frame, _why(error))
    answer = {"kind": "hashed", "id": frame["id"], "ok": True}
    return {**answer, "size": size, "checksum": checksum, "message": ""}


def not_hashed(frame: Frame, why: str) -> Frame:
    """Say that a file cannot be read."""
    answer = {"kind": "hashed", "id": frame["id"], "ok": False}
    return {**answer, "size": None, "checksum": None, "message": why}


def read(paths: NodePaths, frame: Frame) -> Frame:
    """Give a piece of a file."""
    answer = {"kind": "data", "id": frame["id"], "message": ""}
    try:
        path = _to_read(paths, frame)
        file = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        try:
            hide = message.without_token if _is_end(paths, frame, path) else None
            return {**answer, **_piece(file, frame["offset"], frame["length"], hide)}
        finally:
            os.close(file)
    except (OSError, ValueError) as error:
        return {**answer, "offset": 0, "size": None, "base64": "", "message": _why(error)}


def _to_read(paths: NodePaths, frame: Frame) -> bytes:
    if frame["attempt"] is None:
        return paths.resolve(frame["path"])
    return paths.attempt(frame["attempt"]).resolve(frame["path"])


def _is_end(paths: NodePaths, frame: Frame, path: bytes) -> bool:
    """Tell whether somebody who only looks asks for the end message, which has a secret in it."""
    if frame["attempt"] is None:
        return False
    return path == os.path.realpath(paths.attempt(frame["attempt"]).file(b"end"))


def forget(paths: NodePaths, frame: Frame) -> "List[Frame]":
    """Remove all that attempts left, and single files."""
    answer: Frame = {"kind": "forgotten", "attempts": [], "paths": []}
    faults = []
    for attempt in frame["attempts"]:
        try:
            folder = paths.attempt(attempt)
            remove(folder.path)
            remove(folder.cache)
            answer["attempts"].append(attempt)
        except OSError as error:
            faults.append("attempt %d cannot be removed: %s" % (attempt, _why(error)))
    for path in frame["paths"]:
        try:
            _forget_path(paths, paths.inside(path))
            answer["paths"].append(path)
        except (OSError, ValueError) as error:
            faults.append("`%s` cannot be removed: %s" % (path, _why(error)))
    return [answer, *({"kind": "fault", "message": fault} for fault in faults)]


def _forget_path(paths: NodePaths, path: bytes) -> None:
    """Remove a file, and the folders of the cache that are empty without it."""
    if copies.is_shared(path):
        copies.remove_copy(path)
    else:
        remove(path)
    cache = os.path.realpath(paths.cache)
    folder = os.path.dirname(path)
    while is_below(folder, cache) and folder not in (cache + b"/in", cache + b"/aside"):
        try:
            os.rmdir(folder)
        except OSError as error:
            if error.errno not in (errno.ENOENT, errno.ENOTEMPTY):
                raise
            if error.errno == errno.ENOTEMPTY:
                return
        folder = os.path.dirname(folder)


def _fault(aside: bytes, size: "int | None", checksum: "str | None") -> str:
    """Say what is wrong with a file that was put aside; nothing if it is whole."""
    status = os.lstat(aside)
    _check_regular(status)
    if size is not None and status.st_size != size:
        return "it has %d bytes, not %d" % (status.st_size, size)
    if checksum is not None and digest(aside)[1] != checksum:
        return "its checksum is another"
    return ""


def _piece(
    file: int, offset: int, length: int, hide: "Callable[[bytes], bytes] | None" = None
) -> Frame:
    status = os.fstat(file)
    _check_regular(status)
    if offset < 0:
        offset = max(0, status.st_size + offset)
    if hide is None:
        data = os.pread(file, min(length, PIECE), offset)
    else:
        data = hide(os.pread(file, status.st_size, 0))[offset : offset + min(length, PIECE)]
    text = base64.b64encode(data).decode("ascii")
    return {"offset": offset, "size": status.st_size, "base64": text}


def _check_regular(status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise ValueError("it is not a file")


def _why(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)
