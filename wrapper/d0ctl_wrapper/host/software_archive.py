"""Archives of software: their contents and unpacking, never outside of one folder."""

import hashlib
import os
import posixpath
import stat
from typing import IO, Any, Callable, Dict, Iterator, Tuple

from d0ctl_wrapper.disk import CHUNK
from d0ctl_wrapper.protocol.paths import inside, is_below, to_path

Manifest = Dict[str, str]
"""The files of an archive with their checksums; for a link, `link:` and its target."""

RECORD = ".d0ctl-software"
"""The file with the origin of unpacked software; no archive may contain this name."""


class BadArchive(ValueError):
    """An archive that can't be read, or that must not be unpacked."""


def no_pause() -> None:
    """Do nothing."""


def contents(file: "IO[bytes]") -> Manifest:
    """Return the files of an archive, or raise BadArchive."""
    return _read(file, no_pause, None)


def unpack(
    file: "IO[bytes]", folder: bytes, pause_point: "Callable[[], None]" = no_pause
) -> Manifest:
    """Unpack an archive into a new folder and return its files; raise BadArchive or OSError.

    Only the owner may read the files; executable ones stay executable.
    """
    os.mkdir(folder, 0o700)
    manifest = _read(file, pause_point, folder)
    real = os.path.realpath(folder)
    for name, entry in manifest.items():
        path = os.path.realpath(os.path.join(folder, to_path(name)))
        if entry.startswith("link:") and path != real and not is_below(path, real):
            raise BadArchive("link `%s` leads out of the archive" % name)
    return manifest


def manifest_checksum(manifest: Manifest) -> str:
    """Return one checksum for a whole list of files."""
    lines = ["%s  %s\n" % (entry, name) for name, entry in sorted(manifest.items())]
    text = "".join(lines).encode("utf-8", "surrogateescape")
    return "sha256:" + hashlib.sha256(text).hexdigest()


def state(folder: bytes, name: str) -> str:
    """Return for an unpacked file what a manifest has; raise OSError if it is missing."""
    try:
        path = inside(folder, name)
    except ValueError:
        return "no file"
    status = os.lstat(path)
    if stat.S_ISLNK(status.st_mode):
        return "link:" + os.readlink(path).decode("utf-8", "surrogateescape")
    if not stat.S_ISREG(status.st_mode):
        return "no file"
    with open(path, "rb") as file:
        return copy(file, None, no_pause)


def _read(file: "IO[bytes]", pause_point: "Callable[[], None]", folder: "bytes | None") -> Manifest:
    import lzma
    import tarfile
    import zlib

    manifest: Manifest = {}
    try:
        with tarfile.open(fileobj=file, mode="r:*", encoding="utf-8") as tar:
            for name, member in _members(tar):
                if name in manifest:
                    raise BadArchive("it has `%s` twice" % name)
                entry = _unpack(tar, name, member, manifest, pause_point, folder)
                if entry:
                    manifest[name] = entry
    except (tarfile.TarError, EOFError, zlib.error, lzma.LZMAError) as error:
        why = str(error).partition("\n")[0].rstrip(":")
        raise BadArchive("not a complete tar file: %s" % why)
    return manifest


def _members(tar: Any) -> "Iterator[Tuple[str, Any]]":
    """Yield the members of an archive, with names that stay inside of it."""
    for member in tar:
        name = posixpath.normpath(member.name)
        if member.name.startswith("/") or name.split("/")[0] == "..":
            raise BadArchive("`%s` leads out of the archive" % member.name)
        if name == RECORD:
            raise BadArchive("the name `%s` is reserved" % name)
        yield name, member


def _unpack(
    tar: Any,
    name: str,
    member: Any,
    manifest: Manifest,
    pause_point: "Callable[[], None]",
    folder: "bytes | None",
) -> str:
    """Unpack one member if there is a folder, and return its entry; empty for a directory."""
    path = _member_path(folder, name) if folder and name != "." else None
    if member.isdir():
        if path:
            _make_folder(path, name)
        return ""
    if member.issym():
        return _link(name, member.linkname, path)
    if member.islnk():
        return _second_name(name, posixpath.normpath(member.linkname), manifest, folder, path)
    source = tar.extractfile(member) if member.isfile() else None
    if source is None:
        raise BadArchive("`%s` is neither file, directory nor link" % name)
    if not path:
        return copy(source, None, pause_point)
    mode = 0o700 if member.mode & 0o111 else 0o600
    target = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, mode)
    with open(target, "wb") as file:
        return copy(source, file, pause_point)


def _member_path(folder: bytes, name: str) -> bytes:
    """Return the path of a member, and create its folders, none of which may be a link."""
    path = folder
    for part in name.split("/")[:-1]:
        path = os.path.join(path, to_path(part))
        _make_folder(path, name)
    try:
        return inside(folder, name)
    except ValueError:
        raise BadArchive("`%s` leads out of the archive" % name)


def _make_folder(path: bytes, name: str) -> None:
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:
        if not stat.S_ISDIR(os.lstat(path).st_mode):
            raise BadArchive("`%s` is below a file that is not a directory" % name)


def _link(name: str, target: str, path: "bytes | None") -> str:
    led = posixpath.normpath(posixpath.join(posixpath.dirname(name), target))
    if target.startswith("/") or led.split("/")[0] == "..":
        raise BadArchive("link `%s` leads out of the archive" % name)
    if path:
        os.symlink(to_path(target), path)
    return "link:" + target


def _second_name(
    name: str, first: str, manifest: Manifest, folder: "bytes | None", path: "bytes | None"
) -> str:
    """Give a file of the archive, which must come first, a second name."""
    if not manifest.get(first, "").startswith("sha256:"):
        raise BadArchive("link `%s` does not lead to a file of the archive" % name)
    if folder and path:
        os.link(inside(folder, first), path)
    return manifest[first]


def copy(source: "IO[bytes]", target: "IO[bytes] | None", pause_point: "Callable[[], None]") -> str:
    """Read a file to its end, write it to the target if there is one, and return its checksum."""
    sha256 = hashlib.sha256()
    while True:
        chunk = source.read(CHUNK)
        if not chunk:
            return "sha256:" + sha256.hexdigest()
        pause_point()
        sha256.update(chunk)
        if target is not None:
            target.write(chunk)
