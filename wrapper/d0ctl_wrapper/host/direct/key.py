"""One-time keys in the `authorized_keys` of the account: added, and removed again.

A line is valid for one command, for one login and for a short time. Lines of others stay as they
are, byte by byte.
"""

import contextlib
import fcntl
import os
import re
import time
from typing import Callable, Iterator

VALID_S = 120.0
"""How long a key may be used to log in."""

_PLAIN = re.compile(r"[A-Za-z0-9._/ -]+\Z")
_PUBLIC = re.compile(r"ssh-ed25519 [A-Za-z0-9+/]{40,100}={0,2}\Z")
_LINE = re.compile(
    rb'restrict,command="[A-Za-z0-9._/ -]+",expiry-time="([0-9]{14})" '
    rb"ssh-ed25519 [A-Za-z0-9+/=]+ d0ctl-direct-([0-9a-f]{32})\n?\Z"
)


def add(public: str, name: str, command: str) -> None:
    """Let the owner of a key run one command for a while. Raises ValueError for words that need
    quotes.
    """
    if not _PLAIN.match(command):
        raise ValueError("the path of d0ctl's folder has characters that are special in shells")
    if not _PUBLIC.match(public):
        raise ValueError("the key has another form")
    until = _stamp(time.time() + VALID_S)
    options = 'restrict,command="%s",expiry-time="%s"' % (command, until)
    line = "%s %s d0ctl-direct-%s\n" % (options, public, name)
    path = _path()
    os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)
    with _locked(path) as file:
        size = os.fstat(file).st_size
        is_cut = size > 0 and os.pread(file, 1, size - 1) != b"\n"
        os.write(file, (b"\n" if is_cut else b"") + line.encode("ascii"))


def remove(name: str) -> None:
    """Remove a key, and those that have expired."""
    wanted = name.encode("ascii")
    _remove(lambda found: found == wanted)


def expire() -> None:
    """Remove the keys that have expired: those of processes that were killed."""
    _remove(lambda found: False)


def _remove(is_wanted: "Callable[[bytes], bool]") -> None:
    path = _path()
    if not os.path.exists(path):
        return
    with open(path, "rb") as file:
        if b" d0ctl-direct-" not in file.read():
            return
    now = _stamp(time.time()).encode("ascii")
    with _locked(path) as file:
        before = os.fstat(file)
        with open(path, "rb") as old:
            lines = old.read().splitlines(True)
        remaining = [line for line in lines if not _is_over(line, is_wanted, now)]
        if len(remaining) < len(lines):
            _replace(path, before, b"".join(remaining))


def _is_over(line: bytes, is_wanted: "Callable[[bytes], bool]", now: bytes) -> bool:
    found = _LINE.match(line)
    return found is not None and (is_wanted(found.group(2)) or found.group(1) < now)


def _replace(path: str, before: os.stat_result, text: bytes) -> None:
    """Replace the file, whole or not at all; OSError if it has just been changed."""
    new = "%s.d0ctl-%d" % (path, os.getpid())
    file = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    try:
        try:
            os.fchmod(file, before.st_mode & 0o7777)
            os.write(file, text)
            os.fsync(file)
        finally:
            os.close(file)
        now = os.stat(path)
        if (now.st_ino, now.st_size, now.st_mtime_ns) != (
            before.st_ino, before.st_size, before.st_mtime_ns,
        ):  # fmt: skip
            raise OSError("`%s` was changed meanwhile" % path)
        os.rename(new, path)
    except OSError:
        os.unlink(new)
        raise


@contextlib.contextmanager
def _locked(path: str) -> "Iterator[int]":
    """Open the file, or make it, and lock it against d0ctl's other processes."""
    while True:
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(file, fcntl.LOCK_EX)
            # Another process may have replaced the file while this one waited for the lock.
            if os.path.exists(path) and os.path.samestat(os.fstat(file), os.stat(path)):
                yield file
                return
        finally:
            os.close(file)


def _path() -> str:
    """Return the path of the file; where it is a link, that of the file that it leads to."""
    return os.path.realpath(os.path.expanduser("~/.ssh/authorized_keys"))


def _stamp(when: float) -> str:
    """Return a time as sshd reads it: of the machine's time zone, whatever TZ the account has."""
    zone = os.environ.pop("TZ", None)
    time.tzset()
    try:
        return time.strftime("%Y%m%d%H%M%S", time.localtime(when))
    finally:
        if zone is not None:
            os.environ["TZ"] = zone
            time.tzset()
