"""The software cache of a node: pull, verify, purge.

`BASE/software/NAME/VERSION/PLATFORM/` holds the files of one archive, with a record of their
origin. The folder appears by a rename, so it is always complete.
"""

import errno
import fcntl
import json
import os
import time
from contextlib import contextmanager
from typing import IO, Any, Callable, Dict, Iterator, List

from d0ctl_wrapper.disk import FULL, sync
from d0ctl_wrapper.host import software_archive
from d0ctl_wrapper.host.fetch import SourceNotFound, Unreachable, opened
from d0ctl_wrapper.protocol.paths import NodePaths, inside, remove, to_path

Order = Dict[str, Any]

ANY = "any"
"""The folder of software for all platforms."""

ARCHIVES = "software/archives/"
"""The folder in BASE of archives that the control host sent."""

NOT_INSTALLED = "not installed"
"""The fault of software that is not there."""

NOTHING_PURGED = "it was not installed"
"""The answer to a purge of software that is not there."""

MOST_NAMED = 20
"""The most faults that an answer names; it counts the rest."""

LOCK_POLL_S = 0.1
"""The seconds between two tries to get a lock."""


class SoftwareUnavailable(Exception):
    """Software that can't be provided: a reason of the closed list, and a sentence."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason
        self.detail = detail


def pull(
    paths: NodePaths, order: Order, pause_point: "Callable[[], None]" = software_archive.no_pause
) -> bytes:
    """Return the folder of software, and unpack it first if needed; raise SoftwareUnavailable.

    `pause_point` is called repeatedly, and may raise to give up.
    """
    folder = _folder(paths, order)
    if not _is_recorded(folder, order):
        _provide(paths, order, pause_point, lambda: _is_recorded(folder, order))
    return folder


def repair(paths: NodePaths, order: Order) -> None:
    """Unpack software unless each of its files is as in its archive; raise SoftwareUnavailable."""
    _provide(paths, order, software_archive.no_pause, lambda: not verify(paths, order))


def distrust(paths: NodePaths, order: Order, pause_point: "Callable[[], None]") -> "List[str]":
    """Have the next pull unpack software whose files are not as in its archive; return faults."""
    try:
        with _locked(paths, order, pause_point):
            faults = verify(paths, order)
            if faults and faults != [NOT_INSTALLED]:
                remove(_record_file(_folder(paths, order)))
            return faults
    except OSError:
        return []


def _is_recorded(folder: bytes, order: Order) -> bool:
    return bool(_record(folder).get("checksum") == order["checksum"])


def _provide(
    paths: NodePaths,
    order: Order,
    pause_point: "Callable[[], None]",
    is_there: "Callable[[], bool]",
) -> None:
    """Unpack software under its lock unless it is there; raise SoftwareUnavailable."""
    try:
        with _locked(paths, order, pause_point):
            if not is_there():
                _install(paths, order, _folder(paths, order), pause_point)
    except SourceNotFound as error:
        raise SoftwareUnavailable("software-missing", _sentence(order, str(error)))
    except Unreachable as error:
        raise SoftwareUnavailable("stage-in", _sentence(order, str(error)))
    except software_archive.BadArchive as error:
        raise SoftwareUnavailable("software-missing", _sentence(order, "its archive: %s" % error))
    except OSError as error:
        reason = "disk-full" if error.errno in FULL else "stage-in"
        raise SoftwareUnavailable(reason, _sentence(order, error.strerror or str(error)))


def _sentence(order: Order, why: str) -> str:
    return "can't provide software `%s/%s`: %s" % (order["name"], order["version"], why)


def _install(
    paths: NodePaths, order: Order, folder: bytes, pause_point: "Callable[[], None]"
) -> None:
    """Unpack into a folder aside, which the lock protects, and rename it."""
    aside = _aside(paths, order)
    remove(aside)
    os.makedirs(aside, 0o700)
    try:
        with opened(paths, order["source"], aside + b"/archive", pause_point) as file:
            _compare(file, order, pause_point)
            manifest = software_archive.unpack(file, aside + b"/new", pause_point)
        _check_seal(order, manifest)
        record = {"checksum": order["checksum"], "manifest": manifest}
        _write_record(aside + b"/new", record)
        _put(aside, folder)
    finally:
        remove(aside)


def _compare(file: "IO[bytes]", order: Order, pause_point: "Callable[[], None]") -> None:
    if software_archive.copy(file, None, pause_point) != order["checksum"]:
        raise software_archive.BadArchive("its checksum differs from the catalogue")
    file.seek(0)


def _check_seal(order: Order, manifest: software_archive.Manifest) -> None:
    if order["manifest"] and software_archive.manifest_checksum(manifest) != order["manifest"]:
        raise software_archive.BadArchive("its files differ from the catalogue")


def _write_record(folder: bytes, record: "Dict[str, Any]") -> None:
    path = _record_file(folder)
    data = json.dumps(record).encode("ascii")
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(data)


def _put(aside: bytes, folder: bytes) -> None:
    """Sync the new folder, and put it in place of an old one."""
    os.sync()
    os.makedirs(os.path.dirname(folder), 0o700, exist_ok=True)
    try:
        os.rename(folder, aside + b"/old")
    except FileNotFoundError:
        pass
    os.rename(aside + b"/new", folder)
    sync(os.path.dirname(folder))


def _folder(paths: NodePaths, order: Order) -> bytes:
    parts = (order["name"], order["version"], order["platform"] or ANY)
    return inside(paths.software, "/".join(parts))


def _aside(paths: NodePaths, order: Order) -> bytes:
    return inside(paths.software, ".aside/" + _key(order))


def _key(order: Order) -> str:
    return ",".join((order["name"], order["version"], order["platform"] or ANY))


def _record_file(folder: bytes) -> bytes:
    return os.path.join(folder, to_path(software_archive.RECORD))


def _record(folder: bytes) -> "Dict[str, Any]":
    """Read the record of a folder; empty if it is missing or not valid."""
    try:
        with open(_record_file(folder), "rb") as file:
            found = json.loads(file.read().decode("ascii"))
    except (OSError, ValueError):
        return {}
    is_whole = isinstance(found, dict) and isinstance(found.get("manifest"), dict)
    return found if is_whole else {}


@contextmanager
def _locked(paths: NodePaths, order: Order, pause_point: "Callable[[], None]") -> "Iterator[None]":
    """Hold the lock of this software."""
    locks = os.path.join(paths.software, b".lock")
    os.makedirs(locks, 0o700, exist_ok=True)
    file = os.open(inside(locks, _key(order)), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        while not _lock(file):
            pause_point()
            time.sleep(LOCK_POLL_S)
        yield
    finally:
        os.close(file)


def _lock(file: int) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno not in (errno.EAGAIN, errno.EACCES):
            raise
        return False
    return True


def purge(paths: NodePaths, order: Order) -> str:
    """Remove software and its archive; return a sentence."""
    folder, aside = _folder(paths, order), _aside(paths, order)
    with _locked(paths, order, software_archive.no_pause):
        was_there = os.path.isdir(folder)
        remove(aside)
        os.makedirs(aside, 0o700)
        if was_there:
            os.rename(folder, aside + b"/old")
        remove(aside)
        if order["source"].startswith(ARCHIVES):
            remove(paths.inside(order["source"]))
    return "removed" if was_there else NOTHING_PURGED


def verify(paths: NodePaths, order: Order) -> "List[str]":
    """Compare software with its manifest; return a sentence for each fault."""
    folder = _folder(paths, order)
    record = _record(folder)
    if not record:
        return [NOT_INSTALLED if not os.path.isdir(folder) else "can't read its record"]
    if record.get("checksum") != order["checksum"]:
        return ["it comes from another archive than in the catalogue"]
    if (
        order["manifest"]
        and software_archive.manifest_checksum(record["manifest"]) != order["manifest"]
    ):
        return ["its list of files differs from the catalogue"]
    return [fault for name in sorted(record["manifest"])
            for fault in _faults(folder, name, record["manifest"][name])]  # fmt: skip


def _faults(folder: bytes, name: str, expected: str) -> "List[str]":
    try:
        found = software_archive.state(folder, name)
    except FileNotFoundError:
        return ["`%s` is missing" % name]
    except OSError as error:
        return ["can't read `%s`: %s" % (name, error.strerror)]
    return [] if found == expected else ["`%s` has changed" % name]


def answer(paths: NodePaths, frame: Order) -> Order:
    """Carry out a frame of the control host and return the answer."""
    faults: "List[str]" = []
    try:
        if frame["verb"] == "pull":
            repair(paths, frame)
            message = "installed"
        elif frame["verb"] == "purge":
            message = purge(paths, frame)
        else:
            faults = verify(paths, frame)
            message = _count(faults) if faults else "complete"
    except SoftwareUnavailable as error:
        return failed(frame, error.detail)
    except (OSError, ValueError) as error:
        return failed(frame, getattr(error, "strerror", None) or str(error))
    return _answer(frame, not faults, message, faults)


def _count(faults: "List[str]") -> str:
    return "1 fault" if len(faults) == 1 else "%d faults" % len(faults)


def failed(frame: Order, why: str) -> Order:
    """Return the answer that it failed."""
    return _answer(frame, False, why, [])


def _answer(frame: Order, ok: bool, message: str, faults: "List[str]") -> Order:
    head = {"kind": "software", "id": frame["id"], "ok": ok, "message": _sendable(message)}
    more = ["and %d more" % (len(faults) - MOST_NAMED)] if len(faults) > MOST_NAMED else []
    return {**head, "faults": [_sendable(fault) for fault in faults[:MOST_NAMED] + more]}


def _sendable(text: str) -> str:
    """Return a text with any bytes as valid Unicode."""
    return text.encode("utf-8", "replace").decode("utf-8")
