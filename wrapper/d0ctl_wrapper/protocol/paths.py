"""Paths of d0ctl's files on a node, and their removal.

Paths are bytes here, because a node's python may run under a locale that cannot encode every
file name. In frames and messages they are text.
"""

import errno
import os
import stat
from typing import Iterator, List


def to_path(text: str) -> bytes:
    """Return the path that `text` names, independent of the locale."""
    return text.encode("utf-8", "surrogateescape")


def to_text(path: bytes) -> str:
    """Return the text that stands for `path` in a frame or a message."""
    return path.decode("utf-8", "replace")


class NodePaths:
    """The paths of all files and folders under one BASE."""

    def __init__(self, base: bytes, spool: "bytes | None" = None) -> None:
        self.base = base
        self.spool = spool or base + b"/spool"
        self.has_own_spool = self.spool == base + b"/spool"
        """Whether the relay sends the messages; a spool elsewhere belongs to the control host."""
        self.attempts = base + b"/attempts"
        self.cache = base + b"/cache"
        self.software = base + b"/software"
        self.wake = base + b"/wake"
        self.lock = base + b"/lock"
        self.full = base + b"/full"

    def attempt(self, attempt: int) -> "AttemptFolder":
        """Return the folder of one attempt."""
        return AttemptFolder(self, attempt)

    def make(self) -> None:
        """Create missing folders and the fifo."""
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
        if not os.path.exists(self.wake):
            os.mkfifo(self.wake, 0o600)

    def inside(self, text: str) -> bytes:
        """Return the path that `text` names, or raise ValueError if it is outside of BASE.

        The folders directly under BASE count as outside, so that nothing removes or replaces
        them.
        """
        top, real, name = _split(self.base, _without_slash(text))
        if real == top:
            raise ValueError("`%s` is not inside a folder of `%s`" % (text, to_text(self.base)))
        return os.path.join(real, name)

    def resolve(self, text: str) -> bytes:
        """Return the resolved path of `text`, or raise ValueError if it is outside of BASE."""
        path = os.path.realpath(inside(self.base, text))
        if not is_below(path, os.path.realpath(self.base)):
            raise ValueError("`%s` is not inside `%s`" % (text, to_text(self.base)))
        return path


class AttemptFolder:
    """The folder of one attempt, and the paths of the files in it."""

    def __init__(self, node: NodePaths, attempt: int) -> None:
        self.node = node
        self.attempt = attempt
        self.path = b"%s/%d" % (node.attempts, attempt)
        self.work = self.file(b"work")
        self.cache = b"%s/%d" % (node.cache, attempt)
        """The folder of the outputs that the attempt leaves."""

    def file(self, name: bytes) -> bytes:
        """Return the path of a file in the folder."""
        return self.path + b"/" + name

    def logs(self, name: bytes) -> "List[bytes]":
        """Return the paths of the logs of a binary or script: stdout and stderr."""
        return [self.file(name + b".out"), self.file(name + b".err")]

    def resolve(self, text: str) -> bytes:
        """Return the resolved path of `text` in the folder, or raise ValueError.

        A link may lead into the cache, where inputs are, but not elsewhere.
        """
        if not text:
            return os.path.realpath(self.path)
        try:
            path = os.path.realpath(inside(self.path, text))
        except ValueError:
            path = b""
        is_own = is_below(path, os.path.realpath(self.path))
        is_cached = is_below(path, os.path.realpath(self.node.cache))
        if text.startswith("/") or not (is_own or is_cached):
            raise ValueError("the path is outside of the attempt's folder")
        return path


def inside(folder: bytes, text: str) -> bytes:
    """Join an untrusted name to one of d0ctl's folders.

    Raises ValueError for a name outside of the folder: by `..`, as an absolute path to
    another folder, or by a link on the way. The last part may be a link; it is not followed.
    The name of a directory may end with `/`.
    """
    text = _without_slash(text)
    path = os.path.join(folder, to_path(text))
    if not ("/" in text or "\0" in text or text in ("", ".", "..")):
        return path  # nothing is on the way to it that could be a link
    _split(folder, text)
    return path


def _without_slash(text: str) -> str:
    return text[:-1] if text.endswith("/") else text


def _split(folder: bytes, text: str) -> "tuple[bytes, bytes, bytes]":
    """Return the real paths of a folder and of the parent of a name in it, and the last part."""
    parent, name = os.path.split(os.path.join(folder, to_path(text)))
    if not ("\0" in text or ".." in text.split("/") or name in (b"", b".")):
        top, real = os.path.realpath(folder), os.path.realpath(parent)
        if real == top or is_below(real, top):
            return top, real, name
    raise ValueError("`%s` is not inside `%s`" % (text, to_text(folder)))


def read(path: bytes) -> bytes:
    """Read a small file in one call."""
    file = os.open(path, os.O_RDONLY)
    try:
        return os.read(file, 65536)
    finally:
        os.close(file)


def write(path: bytes, data: bytes) -> None:
    """Write a small file that only its owner may read. Raises OSError if the disk is full."""
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        if os.write(file, data) != len(data):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    finally:
        os.close(file)


def is_below(path: bytes, folder: bytes) -> bool:
    """Return whether a resolved path is below a resolved folder."""
    return path.startswith(folder.rstrip(b"/") + b"/")


def remove(path: bytes) -> None:
    """Remove a file or a whole tree, without following links; ignore a missing one."""
    for _ in removal(path):
        pass


def removal(path: bytes) -> "Iterator[None]":
    """Remove a file or tree as `remove` does, and yield after each file, so that callers can pause.

    Another process may remove the same tree.
    """
    try:
        if not stat.S_ISDIR(os.lstat(path).st_mode):
            os.unlink(path)
            return
    except FileNotFoundError:
        return
    folders = [path]
    while folders:
        inner: "List[bytes]" = []
        try:
            yield from _empty(folders[-1], inner)
            if not inner:
                os.rmdir(folders[-1])
        except FileNotFoundError:
            pass
        if inner:
            folders.extend(inner)
        else:
            folders.pop()


def _empty(folder: bytes, inner: "List[bytes]") -> "Iterator[None]":
    """Remove the files of a folder and list its subfolders; a read-only one is made writable."""
    try:
        yield from _unlink_files(folder, inner)
    except PermissionError:
        os.chmod(folder, 0o700)
        inner.clear()
        yield from _unlink_files(folder, inner)


def _unlink_files(folder: bytes, inner: "List[bytes]") -> "Iterator[None]":
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                inner.append(entry.path)
                continue
            try:
                os.unlink(entry.path)
            except FileNotFoundError:
                pass
            yield
