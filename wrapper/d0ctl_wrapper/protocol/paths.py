"""The only place that knows where things lie on a node, and that removes them.

Paths are bytes here, because a node's python may run under a locale that cannot write every
file name; in frames and messages they are text.
"""

import errno
import os
import stat


def to_path(text: str) -> bytes:
    """Give the path that `text` names, whatever the locale."""
    return text.encode("utf-8", "surrogateescape")


def to_text(path: bytes) -> str:
    """Give the text that stands for `path` in a frame or a message."""
    return path.decode("utf-8", "replace")


class Places:
    """Where everything lies under one BASE."""

    def __init__(self, base: bytes, spool: "bytes | None" = None) -> None:
        self.base = base
        self.spool = spool or base + b"/spool"
        self.attempts = base + b"/attempts"
        self.cache = base + b"/cache"
        self.software = base + b"/software"
        self.poke = base + b"/wake"
        self.lock = base + b"/lock"

    def attempt(self, attempt: int, name: bytes = b"") -> bytes:
        """Give the folder of one attempt, or the path of `name` in it."""
        folder = b"%s/%d" % (self.attempts, attempt)
        return folder + b"/" + name if name else folder

    def kept(self, attempt: int) -> bytes:
        """Give the folder of the outputs that one attempt left."""
        return b"%s/%d" % (self.cache, attempt)

    def make(self) -> None:
        """Make the folders and the fifo that are not there yet."""
        for folder in (
            self.base,
            self.attempts,
            self.cache + b"/in",
            self.cache + b"/aside",
            self.spool + b"/tmp",
            self.spool + b"/new",
        ):
            os.makedirs(folder, 0o700, exist_ok=True)
        if os.stat(self.base).st_uid != os.geteuid():
            raise PermissionError(1, "belongs to another user", self.base)
        if not os.path.exists(self.poke):
            os.mkfifo(self.poke, 0o600)

    def inside(self, text: str) -> bytes:
        """Give the path that `text` names, or raise ValueError when it leads out of BASE.

        The folders directly under BASE count as outside, so that nothing removes or replaces
        them.
        """
        folder, name = os.path.split(inside(self.base, text))
        true = os.path.realpath(folder)
        if true == os.path.realpath(self.base):
            raise ValueError("`%s` is not inside a folder of `%s`" % (text, to_text(self.base)))
        return os.path.join(true, name)

    def of_attempt(self, attempt: int, text: str) -> bytes:
        """Give the true path of what `text` names in an attempt's folder, or raise ValueError.

        A link may lead into the cache, where inputs are, and nowhere else.
        """
        folder = self.attempt(attempt)
        if not text:
            return os.path.realpath(folder)
        try:
            path = os.path.realpath(inside(folder, text))
        except ValueError:
            path = b""
        is_own = is_below(path, os.path.realpath(folder))
        if text.startswith("/") or not (is_own or is_below(path, os.path.realpath(self.cache))):
            raise ValueError("it leads out of the folder of the attempt")
        return path

    def resolve(self, text: str) -> bytes:
        """Give the true path of what `text` names, or raise ValueError if it is not in BASE."""
        path = os.path.realpath(inside(self.base, text))
        if not is_below(path, os.path.realpath(self.base)):
            raise ValueError("`%s` is not inside `%s`" % (text, to_text(self.base)))
        return path


def inside(folder: bytes, text: str) -> bytes:
    """Join a name that came from outside to a folder of d0ctl's.

    Raises ValueError for a name that leads out of the folder: by `..`, as an absolute path to
    another place, or by a link on the way. The last part may be a link; it is not followed.
    """
    path = os.path.join(folder, to_path(text))
    parent, name = os.path.split(path)
    if not ("\0" in text or ".." in text.split("/") or name in (b"", b".")):
        top, true = os.path.realpath(folder), os.path.realpath(parent)
        if true == top or is_below(true, top):
            return path
    raise ValueError("`%s` is not inside `%s`" % (text, to_text(folder)))


def read(path: bytes) -> bytes:
    """Read a small file at once, with as little as python can do."""
    file = os.open(path, os.O_RDONLY)
    try:
        return os.read(file, 65536)
    finally:
        os.close(file)


def write(path: bytes, data: bytes) -> None:
    """Write a small file for nobody but us, or raise OSError if there is no space for all of it."""
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        if os.write(file, data) != len(data):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    finally:
        os.close(file)


def is_below(path: bytes, folder: bytes) -> bool:
    """Tell whether a resolved path lies somewhere under a resolved folder."""
    return path.startswith(folder.rstrip(b"/") + b"/")


def remove(path: bytes) -> None:
    """Remove a file or a whole tree, never following a link; what is not there is fine."""
    try:
        if not stat.S_ISDIR(os.lstat(path).st_mode):
            os.unlink(path)
            return
    except FileNotFoundError:
        return
    folders = [path]
    while folders:
        inner = _empty(folders[-1])
        if inner:
            folders.extend(inner)
        else:
            os.rmdir(folders.pop())


def _empty(folder: bytes) -> "list[bytes]":
    """Remove the files of a folder and give its folders, opening it if it is read-only."""
    try:
        return _unlink_files(folder)
    except PermissionError:
        os.chmod(folder, 0o700)
        return _unlink_files(folder)


def _unlink_files(folder: bytes) -> "list[bytes]":
    inner = []
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                inner.append(entry.path)
            else:
                os.unlink(entry.path)
    return inner
