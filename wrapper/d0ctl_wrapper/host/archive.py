"""The only place that reads archives of software: nothing of one ever leads out of its folder."""

import hashlib
import os
import posixpath
import stat
from typing import IO, Any, Callable, Dict, Iterator, Tuple

from d0ctl_wrapper.disk import CHUNK
from d0ctl_wrapper.protocol.paths import inside, is_below, to_path

Manifest = Dict[str, str]
"""Each file of an archive with its checksum; of a link, `link:` and where it leads."""

RECORD = ".d0ctl-software"
"""The file beside the unpacked ones that says where they came from; no archive may have it."""


class Spoilt(ValueError):
    """An archive that can't be read, or that we must not unpack."""


def nothing() -> None:
    """Pause for nobody."""


def contents(file: "IO[bytes]", pause: "Callable[[], None]" = nothing) -> Manifest:
    """List what is in an archive, or raise Spoilt."""
    return _read(file, pause, None)


def unpack(file: "IO[bytes]", folder: bytes, pause: "Callable[[], None]" = nothing) -> Manifest:
    """Unpack an archive into a new folder, and list it; raise Spoilt or OSError.

    All is for us alone; what anybody may execute stays executable.
    """
    os.mkdir(folder, 0o700)
    manifest = _read(file, pause, folder)
    true = os.path.realpath(folder)
    for name, told in manifest.items():
        path = os.path.realpath(os.path.join(folder, to_path(name)))
        if told.startswith("link:") and path != true and not is_below(path, true):
            raise Spoilt("the link `%s` leads out of it" % name)
    return manifest


def seal(manifest: Manifest) -> str:
    """Give one checksum for a whole list of files."""
    lines = ["%s  %s\n" % (told, name) for name, told in sorted(manifest.items())]
    text = "".join(lines).encode("utf-8", "surrogateescape")
    return "sha256:" + hashlib.sha256(text).hexdigest()


def state(folder: bytes, name: str) -> str:
    """Say of an unpacked file what a manifest says; raise OSError if it is not there."""
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
        return copy(file, None, nothing)


def _read(file: "IO[bytes]", pause: "Callable[[], None]", folder: "bytes | None") -> Manifest:
    import lzma
    import tarfile
    import zlib

    manifest: Manifest = {}
    try:
        with tarfile.open(fileobj=file, mode="r:*", encoding="utf-8") as tar:
            for name, member in _members(tar):
                if name in manifest:
                    raise Spoilt("`%s` stands in it twice" % name)
                told = _take(tar, name, member, manifest, pause, folder)
                if told:
                    manifest[name] = told
    except (tarfile.TarError, EOFError, zlib.error, lzma.LZMAError) as error:
        why = str(error).partition("\n")[0].rstrip(":")
        raise Spoilt("it is no whole tar file: %s" % why)
    return manifest


def _members(tar: Any) -> "Iterator[Tuple[str, Any]]":
    """Go over what an archive has, by names that stay within it."""
    for member in tar:
        name = posixpath.normpath(member.name)
        if member.name.startswith("/") or name.split("/")[0] == "..":
            raise Spoilt("`%s` leads out of it" % member.name)
        if name == RECORD:
            raise Spoilt("`%s` is a name of ours" % name)
        yield name, member


def _take(
    tar: Any,
    name: str,
    member: Any,
    manifest: Manifest,
    pause: "Callable[[], None]",
    folder: "bytes | None",
) -> str:
    """Unpack one member if there is a folder, and say what it is; nothing for a directory."""
    path = _place(folder, name) if folder and name != "." else None
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
        raise Spoilt("`%s` is neither file, directory nor link" % name)
    if not path:
        return copy(source, None, pause)
    mode = 0o700 if member.mode & 0o111 else 0o600
    target = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, mode)
    with open(target, "wb") as file:
        return copy(source, file, pause)


def _place(folder: bytes, name: str) -> bytes:
    """Give the path of a member whose folders are there, none of them a link."""
    path = folder
    for part in name.split("/")[:-1]:
        path = os.path.join(path, to_path(part))
        _make_folder(path, name)
    try:
        return inside(folder, name)
    except ValueError:
        raise Spoilt("`%s` leads out of it" % name)


def _make_folder(path: bytes, name: str) -> None:
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:
        if not stat.S_ISDIR(os.lstat(path).st_mode):
            raise Spoilt("`%s` lies below what is no directory" % name)


def _link(name: str, target: str, path: "bytes | None") -> str:
    led = posixpath.normpath(posixpath.join(posixpath.dirname(name), target))
    if target.startswith("/") or led.split("/")[0] == "..":
        raise Spoilt("the link `%s` leads out of it" % name)
    if path:
        os.symlink(to_path(target), path)
    return "link:" + target


def _second_name(
    name: str, first: str, manifest: Manifest, folder: "bytes | None", path: "bytes | None"
) -> str:
    """Give a file another name; it has to be one that came before."""
    if not manifest.get(first, "").startswith("sha256:"):
        raise Spoilt("the link `%s` leads to no file of it" % name)
    if folder and path:
        os.link(inside(folder, first), path)
    return manifest[first]


def copy(source: "IO[bytes]", target: "IO[bytes] | None", pause: "Callable[[], None]") -> str:
    """Read a file to its end, write it where there is a target, and give its checksum."""
    sha256 = hashlib.sha256()
    while True:
        chunk = source.read(CHUNK)
        if not chunk:
            return "sha256:" + sha256.hexdigest()
        pause()
        sha256.update(chunk)
        if target is not None:
            target.write(chunk)
