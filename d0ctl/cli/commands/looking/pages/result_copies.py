"""Copies of results: checked, and continued where they broke off."""

import errno
import fcntl
import os
import shutil
from filecmp import cmp
from pathlib import Path

from d0ctl.errors import D0Error, Refused
from d0ctl_wrapper.host import packing
from d0ctl_wrapper.protocol.checksum import digest_by

CHUNK = 1 << 20


class TakenName(Refused):
    """Another file of that name is there, which `--force` replaces."""


def copy(source: Path, target: Path, checksum: str | None, *, force: bool = False) -> bool:
    """Copy a file or folder; return false if the same one is there already.

    Raises Refused if another one is there, unless `force` may replace it, and D0Error if the copy
    differs from its checksum.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    if os.path.lexists(target) and not is_other(source, target, checksum, force):
        return False
    if source.is_dir():
        _copy_folder(source, target, checksum)
    else:
        _copy_file(source, target, checksum, force=force)
    return True


def is_other(source: Path, target: Path, checksum: str | None, force: bool) -> bool:
    """Return whether another file is there. Raises Refused unless it may be replaced; a folder, or
    by a folder, never may.
    """
    same = _same_folder if source.is_dir() else _same_file
    if not target.is_symlink() and same(source, target, checksum):
        return False
    if source.is_dir() or (target.is_dir() and not target.is_symlink()):
        raise Refused(f"another file is at `{target}`: move it elsewhere")
    if not force:
        raise TakenName(f"another file is at `{target}`: --force replaces it")
    return True


def part_of(target: Path) -> Path:
    """Return the file that a copy grows in until it is complete."""
    return target.with_name(f".{target.name}.d0ctl-part")


def check(part: Path, name: str, checksum: str | None) -> None:
    """Remove a copy and raise D0Error if it differs from its checksum."""
    if checksum is not None and digest_by(os.fsencode(part), checksum, _go_on)[0] != checksum:
        part.unlink()
        raise D0Error(f"`{name}` differs from its checksum {checksum}")


def publish(part: Path, target: Path, *, force: bool) -> None:
    """Give a complete copy its name. Raises Refused if that is taken, unless with `force`."""
    if force:
        part.replace(target)
        return
    try:
        os.link(part, target)
    except FileExistsError as error:
        raise TakenName(f"another file is at `{target}`: --force replaces it") from error
    except OSError as error:  # a file system without hard links
        if error.errno not in (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS):
            raise
        part.rename(target)
        return
    part.unlink()


def _copy_file(source: Path, target: Path, checksum: str | None, *, force: bool) -> None:
    part = part_of(target)
    wanted = checksum or _digest(source, None)
    is_continued = _append(source, part)
    try:
        check(part, str(source), wanted)
    except D0Error:
        if not is_continued:
            raise
        _append(source, part)  # what was there was of another file
        check(part, str(source), wanted)
    publish(part, target, force=force)


def _append(source: Path, part: Path) -> bool:
    """Add to a copy what it lacks; return whether a part was there."""
    number = os.open(part, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o666)
    with os.fdopen(number, "r+b", buffering=0) as file, source.open("rb") as whole:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise Refused(f"another command copies to `{part}`") from error
        begun = os.fstat(number).st_size
        if begun > os.fstat(whole.fileno()).st_size:
            begun = 0
            os.ftruncate(number, 0)
        whole.seek(begun)
        shutil.copyfileobj(whole, file, CHUNK)
        os.fsync(number)
    return begun > 0


def _copy_folder(source: Path, target: Path, checksum: str | None) -> None:
    part = part_of(target)
    shutil.rmtree(part, ignore_errors=True)
    shutil.copytree(source, part, symlinks=True)
    if not _has_same_entries(source, part):
        raise D0Error(f"the copy of `{source}` differs from it")
    if not _is_as_recorded(part, checksum):
        shutil.rmtree(part)
        raise D0Error(f"`{source}` differs from its checksum {checksum}")
    part.rename(target)


def _same_file(source: Path, target: Path, checksum: str | None) -> bool:
    """Return whether a copy has the recorded checksum, or without one that of the source."""
    if not target.is_file():
        return False
    return _digest(target, checksum) == (checksum or _digest(source, None))


def _same_folder(source: Path, target: Path, checksum: str | None) -> bool:
    """Return whether two folders have the same files, and these are those that were recorded."""
    return _has_same_entries(source, target) and _is_as_recorded(target, checksum)


def _is_as_recorded(folder: Path, checksum: str | None) -> bool:
    """Return whether the packed file of a folder has the recorded checksum."""
    try:
        return checksum is None or not packing.is_other(os.fsencode(folder), checksum)
    except packing.NotPackable:
        return False


def _has_same_entries(source: Path, target: Path) -> bool:
    names = _names(source)
    if not target.is_dir() or _names(target) != names:
        return False
    return all(_same_entry(source / name, target / name) for name in names)


def _names(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def _same_entry(path: Path, other: Path) -> bool:
    if path.is_symlink() or other.is_symlink():
        return path.is_symlink() and other.is_symlink() and path.readlink() == other.readlink()
    if path.is_file() and other.is_file():
        return cmp(path, other, shallow=False)
    return path.is_dir() and other.is_dir()


def _digest(path: Path, asked: str | None) -> str:
    return digest_by(os.fsencode(path), asked, _go_on)[0]


def _go_on() -> None:
    """Nothing interrupts a checksum."""
