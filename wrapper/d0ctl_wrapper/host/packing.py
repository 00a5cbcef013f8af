"""Directories that travel as one file.

The file is a tar archive of the sorted entries without times and owners, so that its checksum
depends on nothing but names, contents, links, and which files are programs. GNU tar makes the same
one (docs/jobfile.md).
"""

import hashlib
import os
import stat
from typing import IO, Callable, Iterator, NamedTuple, Tuple, Union

from d0ctl_wrapper.disk import CHUNK

BLOCK = 512

_FIELD = 100
"""The bytes of a name in a header; a longer one has a block of its own."""


_Target = Union[IO[bytes], "_Sink"]


class NotPackable(ValueError):
    """A directory with something that can't be packed."""


class Entry(NamedTuple):
    """Something below a directory, by its name relative to it."""

    name: bytes
    path: bytes
    status: os.stat_result


def is_folder(name: str) -> bool:
    """Return whether an input or output is a directory, by its name."""
    return name.endswith("/")


def size(folder: bytes) -> int:
    """Return the bytes of all files in a directory."""
    return sum(entry.status.st_size for entry in _walk(folder) if _is_file(entry))


def changed(folder: bytes) -> float:
    """Return when something in a directory was changed last."""
    times = [os.stat(folder).st_ctime] + [entry.status.st_ctime for entry in _walk(folder)]
    return max(times)


def stamp(folder: bytes) -> str:
    """Return a text that changes with the contents of a directory, without reading its files."""
    sha256 = hashlib.sha256()
    for name, _, status in _walk(folder):
        times = "" if stat.S_ISDIR(status.st_mode) else "%d %d %d" % (
            status.st_size, status.st_ino, status.st_mtime_ns)  # fmt: skip
        line = "%d %d %s" % (len(name), status.st_mode, times)
        sha256.update(name + line.encode("ascii") + b"\n")
    return sha256.hexdigest()


def pack(folder: bytes, target: bytes, pause_point: "Callable[[], None]") -> None:
    """Pack a directory into a new file; raise NotPackable or OSError."""
    with open(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        _write(folder, file, pause_point)
        file.flush()
        os.fsync(file.fileno())


def digest(folder: bytes) -> "Tuple[int, str]":
    """Return the size and the checksum of the file into which a directory is packed."""
    sink = _Sink()
    _write(folder, sink, lambda: None)
    return sink.size, "sha256:" + sink.sha256.hexdigest()


def check(path: bytes) -> None:
    """Raise NotPackable unless a file holds a directory that is no larger than the file.

    An archive that is compressed, or has holes, may become any size when it is unpacked.
    """
    import tarfile

    try:
        with tarfile.open(os.fsdecode(path), "r:") as tar:
            unpacked = sum(member.size for member in tar)
    except (tarfile.TarError, EOFError, ValueError) as error:
        raise NotPackable("it is not a tar file: %s" % error)
    if unpacked > os.stat(path).st_size:
        raise NotPackable("its contents are larger than it is")


def _walk(folder: bytes, prefix: bytes = b"") -> "Iterator[Entry]":
    """Yield all below a directory, sorted; links are not followed."""
    with os.scandir(folder) as found:
        entries = sorted(found, key=lambda entry: entry.name)
    for entry in entries:
        status = entry.stat(follow_symlinks=False)
        yield Entry(prefix + entry.name, entry.path, status)
        if stat.S_ISDIR(status.st_mode):
            yield from _walk(entry.path, prefix + entry.name + b"/")


def _is_file(entry: Entry) -> bool:
    return stat.S_ISREG(entry.status.st_mode)


def is_other(folder: bytes, recorded: str) -> bool:
    """Return whether a directory is packed into another file than the one with this checksum.

    Other checksums than sha256 are not compared.
    """
    return recorded.startswith("sha256:") and digest(folder)[1] != recorded


class _Sink:
    """Something to write to that keeps the size and the checksum only."""

    def __init__(self) -> None:
        self.size, self.sha256 = 0, hashlib.sha256()

    def write(self, data: bytes) -> None:
        self.size += len(data)
        self.sha256.update(data)


def _write(folder: bytes, file: "_Target", pause_point: "Callable[[], None]") -> None:
    file.write(_header(b"./", b"5", 0o755, 0))
    for entry in _walk(folder):
        _add(file, folder, entry, pause_point)
    file.write(bytes(2 * BLOCK))


def _add(file: "_Target", folder: bytes, entry: Entry, pause_point: "Callable[[], None]") -> None:
    name, mode = b"./" + entry.name, entry.status.st_mode
    if stat.S_ISDIR(mode):
        file.write(_header(name + b"/", b"5", 0o755, 0))
    elif stat.S_ISLNK(mode):
        file.write(_header(name, b"2", 0o755, 0, _target(entry)))
    elif stat.S_ISREG(mode):
        permissions = 0o755 if mode & 0o111 else 0o644
        file.write(_header(name, b"0", permissions, entry.status.st_size))
        _copy(entry, file, pause_point)
    else:
        raise NotPackable("`%s` in it is neither file, directory nor link" % _shown(entry.name))


def _target(entry: Entry) -> bytes:
    """Return where a link leads, which must be below the directory."""
    target = os.readlink(entry.path)
    led = os.path.normpath(os.path.join(os.path.dirname(entry.name), target))
    if target.startswith(b"/") or led.split(b"/")[0] == b"..":
        shown = _shown(entry.name), _shown(target)
        raise NotPackable("link `%s` in it points outside, to `%s`" % shown)
    return target


def _copy(entry: Entry, file: "_Target", pause_point: "Callable[[], None]") -> None:
    """Copy a file of the size that its header has."""
    left = entry.status.st_size
    with open(os.open(entry.path, os.O_RDONLY | os.O_NOFOLLOW), "rb", buffering=0) as source:
        while left:
            pause_point()
            chunk = source.read(min(left, CHUNK))
            if not chunk:
                raise NotPackable("`%s` in it changed meanwhile" % _shown(entry.name))
            file.write(chunk)
            left -= len(chunk)
    file.write(bytes(-entry.status.st_size % BLOCK))


def _header(name: bytes, kind: bytes, mode: int, length: int, link: bytes = b"") -> bytes:
    """Return the header of an entry; names that are too long for it go before it."""
    before = b""
    for text, mark in ((link, b"K"), (name, b"L")):
        if len(text) > _FIELD:
            before += _block(b"././@LongLink", mark, 0o644, len(text) + 1, b"")
            before += text + bytes(1 + -(len(text) + 1) % BLOCK)
    return before + _block(name[:_FIELD], kind, mode, length, link[:_FIELD])


def _block(name: bytes, kind: bytes, mode: int, length: int, link: bytes) -> bytes:
    fields = (
        name.ljust(_FIELD, b"\0"), b"%07o\0" % mode, b"%07o\0" % 0, b"%07o\0" % 0,
        _number(length), b"%011o\0" % 0, b" " * 8, kind, link.ljust(_FIELD, b"\0"),
        b"ustar  \0", bytes(247),
    )  # fmt: skip
    header = b"".join(fields)
    return header[:148] + b"%06o\0 " % sum(header) + header[156:]


def _number(length: int) -> bytes:
    """Return a size; one of 8 GiB or more has no octal digits."""
    if length < 8**11:
        return b"%011o\0" % length
    return b"\x80" + length.to_bytes(11, "big")


def _shown(name: bytes) -> str:
    return name.decode("utf-8", "replace")
