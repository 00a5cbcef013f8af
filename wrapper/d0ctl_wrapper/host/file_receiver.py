"""The receiving end of a stream of files: each is checked while it arrives, then moved to its path.

Names are those of the order, from the control host; the stream has none. A large file that was cut
off stays aside, and is continued from there the next time.
"""

import fcntl
import hashlib
import os
import sys
from typing import Any, Dict, List, Tuple

from d0ctl_wrapper.disk import CHUNK, sync_all, write_all
from d0ctl_wrapper.protocol import file_stream, stamp
from d0ctl_wrapper.protocol.checks import json_text
from d0ctl_wrapper.protocol.checksum import normal
from d0ctl_wrapper.protocol.paths import NodePaths, is_below, to_path

Order = Dict[str, Any]

FLUSHED = 32 * 1024 * 1024
"""After how many bytes the disk begins to write, so that the sync at the end is short."""


class Arriving:
    """A file of the order, and the bytes that have arrived of it."""

    def __init__(self, paths: NodePaths, order: Order, number: int) -> None:
        self.order = order
        self.path = paths.inside(order["path"])
        if not is_below(self.path, os.path.realpath(paths.cache)):
            raise ValueError("`%s` is not in the cache" % order["path"])
        if not normal(order["checksum"]).startswith("sha256:"):
            raise ValueError("`%s` has no sha256" % order["path"])
        folder = os.path.realpath(paths.cache) + b"/aside/"
        self.is_continued = order["size"] >= file_stream.RESUMED
        key = hashlib.sha256(json_text.encode([order["path"], order["checksum"]]).encode("ascii"))
        name = file_stream.PART + key.hexdigest()[:32].encode("ascii")
        self.aside = folder + (name if self.is_continued else b"%d.%d" % (os.getpid(), number))
        self.digest = hashlib.sha256()
        self.offset = 0
        self.is_program = False
        self.fault, self.message = "", ""
        self._file = -1
        self._flushed = 0

    def open(self) -> None:
        """Open the file aside, behind what an earlier stream has left of it."""
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        self._file = os.open(self.aside, flags, 0o600)
        if not self.is_continued:
            return
        fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.fstat(self._file).st_size > self.order["size"]:
            os.ftruncate(self._file, 0)
        while True:
            file_stream.alive()
            chunk = os.read(self._file, CHUNK)
            if not chunk:
                return
            self.digest.update(chunk)
            self.offset += len(chunk)

    def add(self, data: bytes) -> None:
        """Write the next bytes."""
        if self.fault:
            return
        self.digest.update(data)
        try:
            if self._file < 0:
                self.open()
            write_all(self._file, data)
        except OSError as error:
            self.fail(file_stream.OTHER, error.strerror or str(error))
            return
        self.offset += len(data)
        if self.offset - self._flushed >= FLUSHED:
            self.flush()

    def flush(self) -> None:
        """Have the disk begin to write the bytes that are not on it yet."""
        if self._file >= 0:
            length = self.offset - self._flushed
            os.posix_fadvise(self._file, self._flushed, length, os.POSIX_FADV_DONTNEED)
            self._flushed = self.offset

    def fail(self, fault: str, message: str) -> None:
        """Record a fault; the file aside is useless."""
        self.fault, self.message = fault, message
        self.close()
        try:
            os.unlink(self.aside)
        except OSError:
            pass

    def close(self) -> None:
        """Close the file."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def check(self) -> None:
        """Compare the whole file with the order, and have it written to the disk."""
        if self.fault:
            return
        if self._file < 0:
            self.open()
        found = "sha256:" + self.digest.hexdigest()
        if self.offset != self.order["size"]:
            message = "it has %d bytes instead of %d" % (self.offset, self.order["size"])
            self.fail(file_stream.SPOILT, message)
        elif found != normal(self.order["checksum"]):
            self.fail(file_stream.SPOILT, "its checksum differs")
        else:
            self.flush()
            self.close()  # an order may list more files than a process can have open

    def put(self) -> None:
        """Move the file to its path, read-only, before it and its name are synced."""
        folder = os.path.dirname(self.path)
        os.makedirs(folder, 0o700, exist_ok=True)
        os.chmod(self.aside, 0o500 if self.is_program else 0o400)
        os.rename(self.aside, self.path)

    def answer(self) -> "Dict[str, Any]":
        """Return the result for it."""
        found = {"fault": self.fault, "message": self.message}
        if not self.fault:
            return {**found, **stamp.of(os.stat(self.path))}
        return found


def main() -> int:
    """Receive what the order on stdin lists, and return the exit code."""
    os.umask(0o077)
    source = sys.stdin.buffer
    text = file_stream.line(source, file_stream.LONGEST_ORDER)
    try:
        order = file_stream.RECEIVE(json_text.decode(text))
        paths = NodePaths(to_path(order["base"]))
        files = [Arriving(paths, file, number) for number, file in enumerate(order["files"])]
    except ValueError as error:
        sys.stderr.write("d0ctl receive: the order %s\n" % error)
        return 2
    try:
        offsets = _begin(files)
    except OSError as error:
        sys.stderr.write("d0ctl receive: %s\n" % error.strerror)
        return 1
    _say(file_stream.greet(order["nonce"]) + file_stream.encode({"offsets": offsets}))
    try:
        if order["direct"] is None:
            file_stream.skip_greeting(source, order["nonce"])
            for file in files:
                _receive(file, source)
        else:
            _receive_directly(paths, order["direct"], files)
    except (OSError, ValueError) as error:
        _drop(files)
        sys.stderr.write("d0ctl receive: %s\n" % error)
        return 1
    _settle(files)
    for file in files:
        _say(file_stream.encode(file.answer()))
    return 0


def _begin(files: "List[Arriving]") -> "List[Tuple[int, int]]":
    """Open the files that may have begun to arrive; return where each of them continues."""
    offsets = []
    for number, file in enumerate(files):
        if file.is_continued:
            file.open()
            offsets.append((number, file.offset))
    return offsets


def _receive_directly(paths: NodePaths, direct: Order, files: "List[Arriving]") -> None:
    from d0ctl_wrapper.host.direct import node_connection  # other streams do not need it

    way = node_connection.connect(paths, direct, sys.stdin.buffer)
    with open(way.receive, "rb", CHUNK, closefd=False) as stream:
        for file in files:
            _receive(file, stream)
    way.finish()


def _receive(file: Arriving, source: Any) -> None:
    """Receive one file; raise ValueError if the stream ends or is invalid."""
    entry = file_stream.ENTRY(json_text.decode(file_stream.line(source)))
    if entry["fault"]:
        file.fail(entry["fault"], entry["message"])
    file.is_program = entry["executable"]
    left = entry["size"]
    if left + file.offset > file.order["size"]:
        raise ValueError("a file is longer than it should be")
    while left:
        file_stream.alive()
        data = source.read1(min(left, CHUNK))
        if not data:
            raise ValueError("the stream has ended too soon")
        file.add(data)
        left -= len(data)
    file.check()


def _settle(files: "List[Arriving]") -> None:
    """Move all files to their paths, and then sync them: a journal commits all of it at once."""
    for file in files:
        file_stream.alive()
        try:
            if not file.fault:
                file.put()
        except OSError as error:
            file.fail(file_stream.OTHER, error.strerror or str(error))
    whole = [file for file in files if not file.fault]
    paths = [(file.path, os.path.dirname(file.path)) for file in whole]
    faults = sync_all(path for pair in paths for path in pair)
    for file, pair in zip(whole, paths):
        for fault in (faults[path] for path in pair if path in faults):
            file.fail(file_stream.OTHER, fault.strerror or str(fault))


def _drop(files: "List[Arriving]") -> None:
    """Remove the files of a broken stream, except those that are continued."""
    for file in files:
        if not file.is_continued and not file.fault:
            file.fail(file_stream.OTHER, "")


def _say(data: bytes) -> None:
    file_stream.alive()
    write_all(1, data)
