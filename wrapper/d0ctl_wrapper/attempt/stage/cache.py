"""Copies of inputs that several attempts of a node share.

`BASE/cache/in/u-KEY/` has one file; `.whole` has its size and checksum. Its users hold `.lock`, so
that it is fetched once and not removed while in use.
"""

import errno
import fcntl
import hashlib
import os
import time
from typing import Any, Callable, Dict, NamedTuple

from d0ctl_wrapper.host import packing
from d0ctl_wrapper.protocol import stamp
from d0ctl_wrapper.protocol.checks import json_text, shape
from d0ctl_wrapper.protocol.paths import NodePaths, inside, read, remove, to_path, write

FIRST_POLL_S, LOCK_POLL_S = 0.005, 0.2
"""The seconds between two tries to get a lock: they double, as most copies are made quickly."""

MANY_OPEN = 32
"""The number of a descriptor from which on locks are moved out of the way of other files."""

LAST_USER_S = 2.0
"""The seconds for which a removal waits for the wrapper that used a copy last, and is ending."""

_MARK = b"u-"

_WHOLE = shape.record({"size": shape.whole, "checksum": shape.string}, stamp.FIELDS)


class CopyContent(NamedTuple):
    """Size and checksum of a complete copy."""

    size: int
    checksum: str
    is_program: bool = False


class SharedCopy:
    """The copy of one file, and the lock on it, until `release` or the end of this process."""

    def __init__(self, paths: NodePaths, entry: "Dict[str, Any]") -> None:
        base = os.path.basename(entry["name"].rstrip("/"))
        key = json_text.encode([_source(entry), entry["size"], entry["checksum"], base])
        name = hashlib.sha256(key.encode("ascii")).hexdigest()[:32].encode("ascii")
        self.folder = paths.cache + b"/in/" + _MARK + name
        self.path = inside(self.folder, base)
        self._lock = -1

    def hold(self, rest: "Callable[[float], None]") -> "CopyContent | None":
        """Get the lock: shared if the copy is complete, else exclusive, so that it can be made.

        Returns the content of the copy; None if it must be made. Both locks are tried in turn,
        because another attempt may make the copy meanwhile, and then use it for hours.
        """
        pause = FIRST_POLL_S
        while True:
            if self._try(fcntl.LOCK_SH):
                content = self.content()
                if content is not None:
                    return content
                # over NFS a failed upgrade keeps the shared lock: two attempts would wait forever
                fcntl.flock(self._lock, fcntl.LOCK_UN)
                if self._try(fcntl.LOCK_EX):
                    if self.content() is None:
                        return None
                    continue
            rest(pause)
            pause = min(LOCK_POLL_S, pause * 2)

    def release(self) -> None:
        """Give the lock back."""
        os.close(self._lock)
        self._lock = -1

    def _try(self, kind: int) -> bool:
        """Try to get the lock; it does not count if its file was removed meanwhile."""
        try:
            if self._lock < 0:
                os.makedirs(self.folder, 0o700, exist_ok=True)
                lock = os.open(self.folder + b"/.lock", os.O_RDWR | os.O_CREAT, 0o600)
                self._lock = _out_of_the_way(lock)
            fcntl.flock(self._lock, kind | fcntl.LOCK_NB)
        except (BlockingIOError, FileExistsError, FileNotFoundError):
            return False  # another has the lock, or removed the folder between two steps
        if os.fstat(self._lock).st_nlink > 0:
            return True
        os.close(self._lock)
        self._lock = -1
        return False

    def content(self) -> "CopyContent | None":
        """Return the content of the copy; None if it is missing or incomplete."""
        try:
            recorded = _WHOLE(json_text.decode(read(self.folder + b"/.whole")))
            status = os.stat(self.path)
        except (OSError, ValueError):
            return None
        is_whole = recorded["size"] == status.st_size and stamp.is_same(status, recorded)
        return CopyContent(status.st_size, recorded["checksum"]) if is_whole else None

    def settle(self, aside: bytes, content: CopyContent) -> None:
        """Move a verified file into place, read-only since others read it."""
        os.chmod(aside, 0o500 if content.is_program else 0o400)
        os.rename(aside, self.path)
        recorded = stamp.of(os.stat(self.path))
        text = json_text.encode({"size": content.size, "checksum": content.checksum, **recorded})
        write(self.folder + b"/.whole.aside", text.encode("ascii"))
        os.rename(self.folder + b"/.whole.aside", self.folder + b"/.whole")

    def discard(self) -> None:
        """Remove an incomplete copy; the next user makes it again."""
        try:
            _remove(self.folder)
        except OSError:
            pass


def _out_of_the_way(descriptor: int) -> int:
    """Move a descriptor above the limit of open files, which programs inherit, if many are open.

    Only the hard limit restricts the number of copies then.
    """
    if descriptor < MANY_OPEN:
        return descriptor
    import resource  # late: few attempts have so many inputs

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        moved = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, soft)
    except (OSError, ValueError, OverflowError):
        return descriptor
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    os.close(descriptor)
    return moved


def _source(entry: "Dict[str, Any]") -> "Any":
    """Return the key of a copy; for a file of this node with its present stamp."""
    if entry["original"] is None:
        return entry["locator"]
    try:
        status = os.stat(to_path(entry["original"]))
        if packing.is_folder(entry["name"]):
            return [entry["original"], packing.stamp(to_path(entry["original"]))]
    except OSError:
        return [entry["original"]]
    is_program = bool(status.st_mode & 0o100)
    return [entry["original"], status.st_size, status.st_ino, status.st_mtime_ns, is_program]


def is_shared(path: bytes) -> bool:
    """Return whether a path names a shared copy."""
    return os.path.basename(os.path.dirname(path)).startswith(_MARK)


def remove_copy(path: bytes) -> None:
    """Remove a shared copy; raise OSError if it stays in use."""
    folder = os.path.dirname(path)
    try:
        lock = os.open(folder + b"/.lock", os.O_RDWR | os.O_CREAT, 0o600)
    except FileNotFoundError:
        return
    try:
        _await_last_user(lock)
        if os.fstat(lock).st_nlink > 0:
            _remove(folder)
    finally:
        os.close(lock)


def _remove(folder: bytes) -> None:
    """Remove a folder, its lock last: from then on, the next user may fill the folder again."""
    for name in sorted(os.listdir(folder), key=lambda name: name == b".lock"):
        remove(folder + b"/" + name)
    try:
        os.rmdir(folder)
    except OSError as error:
        if error.errno not in (errno.ENOENT, errno.ENOTEMPTY):
            raise


def _await_last_user(lock: int) -> None:
    deadline = time.monotonic() + LAST_USER_S
    while True:
        try:
            return fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise OSError(errno.EBUSY, "it is in use")
        time.sleep(LOCK_POLL_S)
