"""Pieces of files of a node, as a control host reads them."""

import base64
import os
import stat
from typing import Any, Callable, Dict

from d0ctl_wrapper.protocol import message
from d0ctl_wrapper.protocol.paths import NodePaths

Frame = Dict[str, Any]

PIECE = 1024 * 1024
"""The most bytes of a file in one frame."""


def read(paths: NodePaths, frame: Frame) -> Frame:
    """Return the answer with a piece of a file."""
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
        return {**answer, "offset": 0, "size": None, "base64": "", "message": why(error)}


def _to_read(paths: NodePaths, frame: Frame) -> bytes:
    if frame["attempt"] is None:
        return paths.resolve(frame["path"])
    return paths.attempt(frame["attempt"]).resolve(frame["path"])


def _is_end(paths: NodePaths, frame: Frame, path: bytes) -> bool:
    """Return whether a reader asks for the end message, which contains a secret."""
    if frame["attempt"] is None:
        return False
    return path == os.path.realpath(paths.attempt(frame["attempt"]).file(b"end"))


def _piece(
    file: int, offset: int, length: int, hide: "Callable[[bytes], bytes] | None" = None
) -> Frame:
    status = os.fstat(file)
    check_regular(status)
    if offset < 0:
        offset = max(0, status.st_size + offset)
    if hide is None:
        data = os.pread(file, min(length, PIECE), offset)
    else:
        data = hide(os.pread(file, status.st_size, 0))[offset : offset + min(length, PIECE)]
    text = base64.b64encode(data).decode("ascii")
    return {"offset": offset, "size": status.st_size, "base64": text}


def check_regular(status: os.stat_result) -> None:
    """Raise ValueError unless it is a regular file."""
    if not stat.S_ISREG(status.st_mode):
        raise ValueError("it is not a file")


def why(error: Exception) -> str:
    """Return why a file can't be used."""
    return getattr(error, "strerror", None) or str(error)
