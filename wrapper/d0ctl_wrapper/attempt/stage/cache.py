"""The only place for the copies of a node that several attempts share.

`BASE/cache/in/u-KEY/` holds one file by its locator; `.whole` says what it weighs, and `.lock`
is held by those who use it, so that it is brought once and not removed from under them.
"""

import fcntl
import hashlib
import os
from typing import Any, Callable, Dict, NamedTuple

from d0ctl_wrapper.protocol import shape, stamp
from d0ctl_wrapper.protocol.paths import NodePaths, inside, read, remove, to_path, write

PAUSE = 0.2
"""How many seconds lie between two tries to get a lock."""

_MARK = b"u-"

_WHOLE = shape.record({"size": shape.whole, "checksum": shape.string}, stamp.FIELDS)


class Weight(NamedTuple):
    """Size and checksum of a whole copy."""

    size: int
    checksum: str
    is_program: bool = False


class Copy:
    """The copy of one file, and the lock on it, from `hold` to the end of this process."""

    def __init__(self, paths: NodePaths, entry: "Dict[str, Any]") -> None:
        key = shape.encode([_source(entry), entry["size"], entry["checksum"]])
        name = hashlib.sha256(key.encode("ascii")).hexdigest()[:32].encode("ascii")
        self.folder = paths.cache + b"/in/" + _MARK + name
        self.path = inside(self.folder, entry["name"])
        self._lock = -1

    def hold(self, is_shared: bool, rest: "Callable[[float], None]") -> None:
        """Get the lock, for all who only read or for one who brings it."""
        kind = fcntl.LOCK_SH if is_shared else fcntl.LOCK_EX
        while not self._try(kind | fcntl.LOCK_NB):
            rest(PAUSE)

    def _try(self, kind: int) -> bool:
        """Try to get the lock; one whose file was removed meanwhile is worth nothing."""
        try:
            if self._lock < 0:
                os.makedirs(self.folder, 0o700, exist_ok=True)
                self._lock = os.open(self.folder + b"/.lock", os.O_RDWR | os.O_CREAT, 0o600)
            fcntl.flock(self._lock, kind)
        except (BlockingIOError, FileNotFoundError):
            return False
        if os.fstat(self._lock).st_nlink > 0:
            return True
        os.close(self._lock)
        self._lock = -1
        return False

    def weight(self) -> "Weight | None":
        """Tell what the copy weighs; None when there is none, or not all of it."""
        try:
            told = _WHOLE(shape.decode(read(self.folder + b"/.whole")))
            status = os.stat(self.path)
        except (OSError, ValueError):
            return None
        is_whole = told["size"] == status.st_size and stamp.is_same(status, told)
        return Weight(status.st_size, told["checksum"]) if is_whole else None

    def settle(self, aside: bytes, weight: Weight) -> None:
        """Put a checked file in its place; nobody shall write into what others read."""
        os.chmod(aside, 0o500 if weight.is_program else 0o400)
        os.rename(aside, self.path)
        recorded = stamp.of(os.stat(self.path))
        text = shape.encode({"size": weight.size, "checksum": weight.checksum, **recorded})
        write(self.folder + b"/.whole.aside", text.encode("ascii"))
        os.rename(self.folder + b"/.whole.aside", self.folder + b"/.whole")

    def discard(self) -> None:
        """Remove what could not be made, as its maker; who waits for it makes it anew."""
        try:
            remove(self.folder)
        except OSError:
            pass


def _source(entry: "Dict[str, Any]") -> "Any":
    """Give what a copy is known by; of a file of this node also how it looks just now."""
    if entry["original"] is None:
        return entry["locator"]
    try:
        status = os.stat(to_path(entry["original"]))
    except OSError:
        return [entry["original"]]
    is_program = bool(status.st_mode & 0o100)
    return [entry["original"], status.st_size, status.st_ino, status.st_mtime_ns, is_program]


def is_shared(path: bytes) -> bool:
    """Tell whether a path names such a copy."""
    return os.path.basename(os.path.dirname(path)).startswith(_MARK)


def remove_copy(path: bytes) -> None:
    """Remove a shared copy, or raise BlockingIOError while somebody uses it."""
    folder = os.path.dirname(path)
    try:
        lock = os.open(folder + b"/.lock", os.O_RDWR)
    except FileNotFoundError:
        remove(folder)
        return
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        remove(folder)
    finally:
        os.close(lock)
