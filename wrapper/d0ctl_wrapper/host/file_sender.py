"""The sending end of a stream of files: those that the order names, one after another."""

import os
import stat
import sys
from typing import Any, Dict

from d0ctl_wrapper.disk import CHUNK, write_all
from d0ctl_wrapper.protocol import file_stream
from d0ctl_wrapper.protocol.checks import json_text
from d0ctl_wrapper.protocol.paths import NodePaths, to_path

Order = Dict[str, Any]


class FileShortened(Exception):
    """A file that became shorter while it was sent: the stream can't continue."""


def main() -> int:
    """Send the files of the order on stdin, and return the exit code."""
    text = file_stream.line(sys.stdin.buffer, file_stream.LONGEST_ORDER)
    try:
        order = file_stream.SEND(json_text.decode(text))
    except ValueError as error:
        sys.stderr.write("d0ctl send: the order %s\n" % error)
        return 2
    paths = NodePaths(to_path(order["base"]))
    _write(1, file_stream.greet(order["nonce"]))
    try:
        if order["direct"] is None:
            for file in order["files"]:
                _send(paths, file, 1)
            _write(1, file_stream.END)
        else:
            _send_directly(paths, order)
    except (OSError, ValueError, FileShortened) as error:
        sys.stderr.write("d0ctl send: %s\n" % error)
        return 1
    return 0


def _send_directly(paths: NodePaths, order: Order) -> None:
    from d0ctl_wrapper.host.direct import node_connection  # other streams do not need it

    way = node_connection.connect(paths, order["direct"], sys.stdin.buffer)
    for file in order["files"]:
        _send(paths, file, way.send)
    way.finish()


def _send(paths: NodePaths, file: Order, target: int) -> None:
    entry: Order = {"size": 0, "executable": False, "fault": "", "message": ""}
    try:
        opened = os.open(paths.resolve(file["path"]), os.O_RDONLY | os.O_NONBLOCK)
    except FileNotFoundError:
        fault = {"fault": file_stream.GONE, "message": "it does not exist"}
        return _write(target, file_stream.encode({**entry, **fault}))
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        return _write(
            target, file_stream.encode({**entry, "fault": file_stream.OTHER, "message": why})
        )
    try:
        status = os.fstat(opened)
        if not stat.S_ISREG(status.st_mode) or status.st_size != file["size"]:
            message = "it has %d bytes instead of %d" % (status.st_size, file["size"])
            fault = {"fault": file_stream.SPOILT, "message": message}
            return _write(target, file_stream.encode({**entry, **fault}))
        left = max(0, file["size"] - file["offset"])
        is_program = bool(status.st_mode & 0o100)
        _write(target, file_stream.encode({**entry, "size": left, "executable": is_program}))
        _copy(opened, target, file["offset"], left)
    finally:
        os.close(opened)


def _copy(source: int, target: int, offset: int, left: int) -> None:
    while left:
        file_stream.alive()
        sent = os.sendfile(target, source, offset, min(left, CHUNK))
        if not sent:
            raise FileShortened("a file became shorter while it was sent")
        offset, left = offset + sent, left - sent


def _write(target: int, data: bytes) -> None:
    file_stream.alive()
    write_all(target, data)
