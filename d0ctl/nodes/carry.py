"""Transfers of files between nodes and this machine: whole, with size and checksum checked."""

import hashlib
import os
import re
import shutil
import uuid
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from d0ctl.errors import D0Error, NotFound
from d0ctl.nodes.courier import Courier
from d0ctl.nodes.courier_reports import FileFacts
from d0ctl.nodes.link import Link
from d0ctl.nodes.transports.bulk import bulk
from d0ctl.nodes.transports.download import CorruptedInTransit, Limits, Oversized, WrongFile
from d0ctl_wrapper.host import packing, process, software_archive
from d0ctl_wrapper.protocol import stamp
from d0ctl_wrapper.protocol.checksum import digest_by
from d0ctl_wrapper.protocol.paths import remove

TAKE_TIMEOUT_S = 3600.0
"""How long a node may take to check a file."""

_MADE_BY = re.compile(r"\.(\d{1,9})-(\d{1,18})\.[0-9a-f]{32}\Z")


class Copy(Struct, frozen=True):
    """A copy to make; the file must have this size and checksum, None if unknown.

    It is made in the folder `aside`, on the disk of the target, and renamed when complete. With
    `is_kept` it belongs to d0ctl, and is read-only; with `is_unpacked` the file is a packed
    directory, and the target is that directory.
    """

    source: str
    target: str
    size: int | None
    checksum: str | None
    aside: str = ""
    is_kept: bool = False
    is_unpacked: bool = False


def checksum_of(path: Path) -> tuple[int, str]:
    """Return the size and checksum of a file here."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(1 << 20):
            digest.update(chunk)
        return file.tell(), f"sha256:{digest.hexdigest()}"


def fetch(copy: Copy, courier: Courier, link: Link) -> FileFacts:
    """Copy a file from the node to this machine.

    Raises NotFound if it no longer exists or is another file, NoSpace if the copy would
    leave less than the reserve free on the disk here.
    """
    target = Path(copy.target)
    aside = _aside(copy, target)
    try:
        with bulk(courier, link.transport, _by_lines(copy.source, copy.size)) as transport:
            transport.get(copy.source, aside, Limits(copy.size, courier.site.reserve))
        return _settle(copy, aside, target)
    except Oversized:
        raise
    except WrongFile as error:
        question = {"kind": "hash", "id": uuid.uuid4().hex, "path": copy.source}
        answer = courier.ask(link, question, TAKE_TIMEOUT_S)
        if answer["ok"] and (answer["size"], answer["checksum"]) == (copy.size, copy.checksum):
            raise CorruptedInTransit(f"{error} here, but the file on its node is intact") from error
        raise
    finally:
        aside.unlink(missing_ok=True)


def _by_lines(path: str, size: int | None) -> int | None:
    """Return the size of a file whose path fits into a line, in which the ssh program gets it."""
    return None if "\n" in path else size


def copy_here(copy: Copy, reserve: int | None = None) -> FileFacts:
    """Copy a file on this machine; the copy shares no storage with it."""
    target = Path(copy.target)
    aside = _aside(copy, target)
    try:
        if packing.is_folder(copy.source):
            _pack(copy.source, aside)
        else:
            _check_space(copy, aside, reserve)
            shutil.copyfile(copy.source, aside)
        return _settle(copy, aside, target)
    except FileNotFoundError as error:
        raise NotFound(f"`{copy.source}` is gone") from error
    finally:
        aside.unlink(missing_ok=True)


def _pack(folder: str, aside: Path) -> None:
    """Pack a directory of the user. Raises D0Error if it can't be packed."""
    try:
        packing.pack(os.fsencode(folder), os.fsencode(aside), lambda: None)
    except packing.NotPackable as error:
        raise D0Error(f"`{folder}` can't be packed: {error}") from error


def _check_space(copy: Copy, aside: Path, reserve: int | None) -> None:
    """Raise NoSpace if a copy would leave less than the reserve free on the disk."""
    size = Path(copy.source).stat().st_size
    Limits(size, reserve).check_space(aside.parent, size)


def bring(copy: Copy, courier: Courier, link: Link) -> FileFacts:
    """Copy a file of this machine to the node's cache, or to the path of a locator.

    A directory of the user is packed first.
    """
    if not packing.is_folder(copy.source):
        return _bring(copy, Path(copy.source), courier, link)
    if not Path(copy.source).is_dir():
        raise NotFound(f"`{copy.source}` is gone")
    with _folder(Path(copy.aside)) as folder:
        packed = folder / "packed"
        _pack(copy.source, packed)
        return _bring(copy, packed, courier, link)


def _bring(copy: Copy, source: Path, courier: Courier, link: Link) -> FileFacts:
    if not source.is_file():
        raise NotFound(f"`{copy.source}` is gone")
    size, checksum = checksum_of(source)
    _compare(copy, size, checksum)
    name = uuid.uuid4().hex
    aside = f"{link.base}/cache/aside/{name}"
    with bulk(courier, link.transport, _by_lines(aside, size)) as transport:
        transport.put(source, aside)
    answer = courier.ask(
        link,
        {
            "kind": "take",
            "id": name,
            "aside": aside,
            "path": copy.target,
            "size": size,
            "checksum": checksum,
            "outside": not copy.target.startswith(f"{link.base}/"),
            "executable": bool(source.stat().st_mode & 0o100),
        },
        TAKE_TIMEOUT_S,
    )
    if not answer.get("ok"):
        raise D0Error(f"`{copy.target}`: {answer.get('message')}")
    return FileFacts(size, checksum, answer.get("inode"), answer.get("mtime"))


def inspected(copy: Copy) -> Copy:
    """Return a copy of a file of this machine with its present size and checksum."""
    source = Path(copy.source)
    if not source.is_file():
        raise NotFound(f"`{copy.source}` is gone")
    size, checksum = checksum_of(source)
    _compare(copy, size, checksum)
    return replace(copy, size=size, checksum=checksum)


def new_aside(copy: Copy) -> Path:
    """Return the path of a new file in which a copy on this machine is completed."""
    return _aside(copy, Path(copy.target))


def _aside(copy: Copy, target: Path) -> Path:
    """Return the path of a new file whose name contains this process."""
    folder = Path(copy.aside) if copy.aside else target.parent
    for directory in (target.parent, folder):
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder / _own_name()


def _own_name() -> str:
    """Return a new name that contains the process."""
    myself = process.inspect(os.getpid())
    assert myself is not None
    return f".{os.getpid()}-{myself.started}.{uuid.uuid4().hex}"


@contextmanager
def _folder(above: Path) -> Iterator[Path]:
    """Make a folder for incomplete files."""
    folder = above / _own_name()
    folder.mkdir(mode=0o700, parents=True)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def sweep(folder: Path) -> None:
    """Remove the unfinished files and folders of killed processes in such a folder."""
    for path in folder.glob(".*"):
        if found := _MADE_BY.match(path.name):
            pid, started = map(int, found.groups())
            if not process.is_alive(pid, started):
                remove(os.fsencode(path))


def _settle(copy: Copy, aside: Path, target: Path) -> FileFacts:
    """Check a received file, and rename it to its target once it is on disk."""
    size, checksum = checksum_of(aside)
    _compare(copy, size, _as_asked(copy, aside, checksum))
    descriptor = os.open(aside, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    if copy.is_kept:
        aside.chmod(0o400)
    if copy.is_unpacked:
        _unpack(copy, aside, target)
    else:
        aside.rename(target)
    _sync(target.parent)
    return FileFacts(size, checksum, **stamp.of(target.stat()))


def _unpack(copy: Copy, aside: Path, target: Path) -> None:
    """Unpack a directory beside its target, and replace the one there."""
    with _folder(aside.parent) as folder:
        fresh, previous = folder / "new", folder / "old"
        try:
            packing.check(os.fsencode(aside))
            with aside.open("rb") as file:
                software_archive.unpack(file, os.fsencode(fresh))
        except (software_archive.BadArchive, packing.NotPackable) as error:
            raise WrongFile(f"`{copy.source}` is not a packed directory: {error}") from error
        if os.path.lexists(target):
            target.rename(previous)
        fresh.rename(target)


def settle_all(copies: Sequence[tuple[Copy, Path]]) -> list[FileFacts]:
    """Rename complete files to their targets once they are on disk; return their facts.

    The disk starts writing all of them before the first is waited for, so that a journal commits
    them together.
    """
    with ExitStack() as stack:
        files = [os.open(aside, os.O_RDONLY) for _, aside in copies]
        for file in files:
            stack.callback(os.close, file)
            os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
        for file in files:
            os.fsync(file)
    for copy, aside in copies:
        if copy.is_kept:
            aside.chmod(0o400)
        aside.rename(copy.target)
    for folder in {Path(copy.target).parent for copy, _ in copies}:
        _sync(folder)
    return [_facts(copy) for copy, _ in copies]


def _facts(copy: Copy) -> FileFacts:
    assert copy.size is not None and copy.checksum is not None
    return FileFacts(copy.size, copy.checksum, **stamp.of(Path(copy.target).stat()))


def _sync(folder: Path) -> None:
    """Sync the names in a folder, and that of the folder in the one above."""
    for directory in (folder, folder.parent):
        descriptor = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _as_asked(copy: Copy, aside: Path, checksum: str) -> str:
    """Return the checksum, computed by the algorithm of the known one."""
    if copy.checksum is None or copy.checksum.startswith("sha256:"):
        return checksum
    return digest_by(os.fsencode(aside), copy.checksum, lambda: None)[0]


def _compare(copy: Copy, size: int, checksum: str) -> None:
    if copy.size is not None and size != copy.size:
        raise WrongFile(f"`{copy.source}` has {size} bytes instead of {copy.size}")
    if copy.checksum is not None and checksum.lower() != copy.checksum.lower():
        raise WrongFile(f"`{copy.source}` has changed: its checksum differs")
