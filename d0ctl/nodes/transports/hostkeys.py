"""The home's `known_hosts`: the host keys that d0ctl trusts, on targets and jump hosts."""

import base64
import fcntl
import hashlib
import hmac
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct

from d0ctl.errors import NodeUnreachable


class HostKey(Struct, frozen=True):
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


class Entry(Struct, frozen=True):
    """A key of one host in the file."""

    key: HostKey
    revoked: bool = False


class UntrustedKey(NodeUnreachable):
    """A host shows a key that is not trusted.

    `name` is the host's in known_hosts, `key` the key that it shows: what `accept` takes.
    """

    def __init__(self, message: str, *, hint: str | None = None, name: str, key: HostKey) -> None:
        super().__init__(message, hint=hint)
        self.name, self.key = name, key


class UnknownKey(UntrustedKey):
    """The host is new: a person has to accept its key."""


class ChangedKey(UntrustedKey):
    """The host shows another key than the accepted one."""


class RevokedKey(UntrustedKey):
    """The host shows a key that a line of the file revokes: it can't be accepted."""


def entries(path: Path, name: str) -> list[Entry]:
    """Return the entries of the host known as `name`; none if there is no file."""
    try:
        lines = path.read_text(errors="replace").splitlines()
    except FileNotFoundError:
        return []
    return [entry for line in lines for entry in read_line(line, name)]


def lines(path: Path, name: str, alias: str) -> str:
    """Return the trusted keys of the host `name` as lines of a known_hosts file about `alias`."""
    known = entries(path, name)
    revoked = {entry.key.text for entry in known if entry.revoked}
    keys = [entry.key for entry in known if entry.key.text not in revoked]
    return "".join(f"{alias} {key.algorithm} {key.text}\n" for key in keys)


def read_line(line: str, name: str) -> Iterator[Entry]:
    """Yield the key of a line if the line is about `name`."""
    fields = line.split()
    revoked = fields[:1] == ["@revoked"]
    if revoked:
        fields = fields[1:]
    if len(fields) < 3 or fields[0].startswith(("#", "@")):
        return
    names, algorithm, text = fields[:3]
    if any(is_name(pattern, name) for pattern in names.split(",")) and is_base64(text):
        yield Entry(HostKey(algorithm, text), revoked)


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
    """Raise ChangedKey or UnknownKey unless `key` is the host's key in the file."""
    known = entries(path, name)
    if any(entry.revoked and entry.key == key for entry in known):
        raise RevokedKey(
            f"the host key of `{name}` is revoked: {key.fingerprint}",
            hint="give the host a new key, then accept that one",
            name=name,
            key=key,
        )
    trusted = [entry.key for entry in known if not entry.revoked]
    if key in trusted:
        return
    if trusted:
        raise ChangedKey(
            f"the host key of `{name}` has changed: it is {key.fingerprint}, "
            f"not {trusted[0].fingerprint}",
            name=name,
            key=key,
        )
    raise UnknownKey(
        f"the host key of `{name}` is not accepted yet: {key.algorithm} {key.fingerprint}",
        name=name,
        key=key,
    )


def accept(path: Path, name: str, key: HostKey) -> None:
    """Trust this key of the host and no other; it is on disk when this returns.

    Nothing changes if it is trusted already. Raises RevokedKey.
    """
    with locked(path) as descriptor:
        try:
            check(path, name, key)
        except UnknownKey:
            append(descriptor, f"{name} {key.algorithm} {key.text}\n")
            sync_folder(path.parent)
        except ChangedKey:
            lines = path.read_text(errors="surrogateescape").splitlines()
            others = [line for old in lines for line in without_host(old, name)]
            replace(path, [*others, f"{name} {key.algorithm} {key.text}"])


@contextmanager
def locked(path: Path) -> Iterator[int]:
    """Open the file, or make it, and lock it against other writers."""
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            # another process may have replaced the file while this one waited for the lock
            if is_same_file(descriptor, path):
                yield descriptor
                return
        finally:
            os.close(descriptor)


def is_same_file(descriptor: int, path: Path) -> bool:
    """True while `path` names the open file."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False


def without_host(line: str, name: str) -> Iterator[str]:
    """Yield the line without the host `name`: unchanged, with fewer names, or not at all."""
    if all(entry.revoked for entry in read_line(line, name)):
        yield line
        return
    names, rest = line.split(maxsplit=1)
    others = [other for other in names.split(",") if not is_name(other, name)]
    if others:
        yield f"{','.join(others)} {rest}"


def replace(path: Path, lines: list[str]) -> None:
    """Replace the file by one with these lines, whole or not at all."""
    new = path.with_name(f".{path.name}.new")
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    try:
        text = "".join(f"{line}\n" for line in lines)
        os.write(descriptor, text.encode(errors="surrogateescape"))
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    new.replace(path)
    sync_folder(path.parent)


def append(descriptor: int, line: str) -> None:
    """Append a line and sync it to disk."""
    os.fchmod(descriptor, 0o600)
    size = os.fstat(descriptor).st_size
    unfinished = size > 0 and os.pread(descriptor, 1, size - 1) != b"\n"
    os.write(descriptor, (("\n" if unfinished else "") + line).encode())
    os.fsync(descriptor)


def sync_folder(folder: Path) -> None:
    """Sync the name of a new file to disk, too."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
