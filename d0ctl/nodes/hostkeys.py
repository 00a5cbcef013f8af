"""The home's `known_hosts`: the only place that says which host keys we trust."""

import base64
import fcntl
import hashlib
import hmac
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from d0ctl.errors import NodeUnreachable


@dataclass(frozen=True, slots=True)
class HostKey:
    """A public host key: its algorithm, and its bytes in base64."""

    algorithm: str
    text: str

    @property
    def blob(self) -> bytes:
        """Its bytes as they pass over the wire."""
        return base64.b64decode(self.text)

    @property
    def fingerprint(self) -> str:
        """The `SHA256:...` that OpenSSH prints."""
        digest = hashlib.sha256(self.blob).digest()
        return "SHA256:" + base64.b64encode(digest).decode().rstrip("=")


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of the file that is about one host."""

    line: int
    key: HostKey
    revoked: bool = False


class UntrustedKey(NodeUnreachable):
    """A host key that we do not know, or not as this.

    `name` is the host's in known_hosts, `key` what it shows: what `accept` wants to hear.
    """

    def __init__(self, message: str, *, hint: str, name: str, key: HostKey) -> None:
        super().__init__(message, hint=hint)
        self.name, self.key = name, key


class UnknownKey(UntrustedKey):
    """The host is new to us: somebody has to accept its key."""


class ChangedKey(UntrustedKey):
    """The host shows another key than the one that was accepted."""


def entries(path: Path, name: str) -> list[Entry]:
    """What the file says about the host known as `name`; nothing where there is no file."""
    try:
        lines = path.read_text(errors="replace").splitlines()
    except FileNotFoundError:
        return []
    return [
        entry for number, line in enumerate(lines, 1) for entry in read_line(number, line, name)
    ]


def read_line(number: int, line: str, name: str) -> Iterator[Entry]:
    """Give the line's key if the line is about `name`, and nothing for what is not a key."""
    words = line.split()
    revoked = words[:1] == ["@revoked"]
    if revoked:
        words = words[1:]
    if len(words) < 3 or words[0].startswith(("#", "@")):
        return
    names, algorithm, text = words[:3]
    if any(is_name(pattern, name) for pattern in names.split(",")) and is_base64(text):
        yield Entry(number, HostKey(algorithm, text), revoked)


def is_name(pattern: str, name: str) -> bool:
    """True when a name in the file, plain or hashed, is `name`."""
    if not pattern.startswith("|1|"):
        return pattern.lower() == name
    salt, _, wanted = pattern.removeprefix("|1|").partition("|")
    if not is_base64(salt):
        return False
    digest = hmac.digest(base64.b64decode(salt), name.encode(), "sha1")
    return base64.b64encode(digest).decode() == wanted


def is_base64(text: str) -> bool:
    """True when `text` can be the bytes of a key."""
    try:
        return bool(base64.b64decode(text, validate=True))
    except ValueError:
        return False


def check(path: Path, name: str, key: HostKey) -> None:
    """Raise ChangedKey or UnknownKey unless `key` is what the file has for the host `name`."""
    known = entries(path, name)
    revoked = [entry for entry in known if entry.revoked and entry.key == key]
    trusted = [entry for entry in known if not entry.revoked]
    if revoked:
        raise changed(path, name, revoked[0], key)
    if any(entry.key == key for entry in trusted):
        return
    if trusted:
        raise changed(path, name, trusted[0], key)
    raise UnknownKey(
        f"the host key of `{name}` is not accepted yet: {key.algorithm} {key.fingerprint}",
        hint="type `d0ctl node add` for its node, which shows the key and asks",
        name=name,
        key=key,
    )


def changed(path: Path, name: str, entry: Entry, key: HostKey) -> ChangedKey:
    """The failure for a host that shows another key, with the line that has to go."""
    was = "a revoked key" if entry.revoked else f"not {entry.key.fingerprint}"
    return ChangedKey(
        f"the host key of `{name}` has changed: it is {key.fingerprint}, {was}",
        hint=f"if that is right, remove line {entry.line} of `{path}` "
        "and type `d0ctl node add` again",
        name=name,
        key=key,
    )


def accept(path: Path, name: str, key: HostKey) -> None:
    """Add the host's key, safe on disk on return; one that is there already changes nothing.

    Raises ChangedKey when the file has another key for the host: the old line must go first.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        try:
            check(path, name, key)
        except UnknownKey:
            append(descriptor, f"{name} {key.algorithm} {key.text}\n")
            sync_folder(path.parent)
    finally:
        os.close(descriptor)


def append(descriptor: int, line: str) -> None:
    """Write a whole line at the end of the file, and have it on disk."""
    os.fchmod(descriptor, 0o600)
    size = os.fstat(descriptor).st_size
    unfinished = size > 0 and os.pread(descriptor, 1, size - 1) != b"\n"
    os.write(descriptor, (("\n" if unfinished else "") + line).encode())
    os.fsync(descriptor)


def sync_folder(folder: Path) -> None:
    """Have a new file's name on disk, too."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
