"""The only place that keeps the software cache of a node: pulled whole and once, verified, purged.

`BASE/software/NAME/VERSION/PLATFORM/` holds the files of one archive, with a record of where
they came from. It appears by a rename, so what is there is whole.
"""

import errno
import fcntl
import json
import os
import time
from contextlib import contextmanager
from typing import IO, Any, Callable, Dict, Iterator, List

from d0ctl_wrapper.disk import FULL, sync
from d0ctl_wrapper.host import archive
from d0ctl_wrapper.host.fetch import Unreachable, Vanished, opened
from d0ctl_wrapper.protocol.paths import NodePaths, inside, remove, to_path

Order = Dict[str, Any]

ANY = "any"
"""The folder of software that is the same for each platform."""

ARCHIVES = "software/archives/"
"""Where in BASE the archives lie that were brought here."""

MOST_NAMED = 20
"""How many files an answer names; it counts the rest."""

PAUSE = 0.1
"""How many seconds lie between two looks at a lock that somebody else holds."""


class Unusable(Exception):
    """Software that can't be had here: a reason of the closed list, and why in one sentence."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason
        self.detail = detail


def pull(paths: NodePaths, order: Order, pause: "Callable[[], None]" = archive.nothing) -> bytes:
    """Give the folder of some software, unpacking it first if need be; raise Unusable.

    `pause` is called again and again, and may raise to give up.
    """
    folder = _folder(paths, order)
    if _record(folder).get("checksum") == order["checksum"]:
        return folder
    try:
        with _locked(paths, order, pause):
            if _record(folder).get("checksum") != order["checksum"]:
                _install(paths, order, folder, pause)
        return folder
    except Vanished as error:
        raise Unusable("software-missing", _told(order, str(error)))
    except Unreachable as error:
        raise Unusable("stage-in", _told(order, str(error)))
    except archive.Spoilt as error:
        raise Unusable("software-missing", _told(order, "its archive: %s" % error))
    except OSError as error:
        reason = "disk-full" if error.errno in FULL else "stage-in"
        raise Unusable(reason, _told(order, error.strerror or str(error)))


def _told(order: Order, why: str) -> str:
    return "software `%s/%s` cannot be had: %s" % (order["name"], order["version"], why)


def _install(paths: NodePaths, order: Order, folder: bytes, pause: "Callable[[], None]") -> None:
    """Unpack aside and rename; whoever holds the lock is alone with what lies aside."""
    aside = _aside(paths, order)
    remove(aside)
    os.makedirs(aside, 0o700)
    try:
        with opened(paths, order["source"], aside + b"/archive", pause) as file:
            _compare(file, order, pause)
            manifest = archive.unpack(file, aside + b"/new", pause)
        _judge_seal(order, manifest)
        record = {"checksum": order["checksum"], "manifest": manifest}
        _write_record(aside + b"/new", record)
        _put(aside, folder)
    finally:
        remove(aside)


def _compare(file: "IO[bytes]", order: Order, pause: "Callable[[], None]") -> None:
    if archive.copy(file, None, pause) != order["checksum"]:
        raise archive.Spoilt("its checksum is another than the catalogue's")
    file.seek(0)


def _judge_seal(order: Order, manifest: archive.Manifest) -> None:
    if order["manifest"] and archive.seal(manifest) != order["manifest"]:
        raise archive.Spoilt("its files are others than the catalogue's")


def _write_record(folder: bytes, record: "Dict[str, Any]") -> None:
    path = os.path.join(folder, to_path(archive.RECORD))
    data = json.dumps(record).encode("ascii")
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(data)


def _put(aside: bytes, folder: bytes) -> None:
    """Let a folder appear, all of it on the disk, in the place of a former one."""
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


def _record(folder: bytes) -> "Dict[str, Any]":
    """Read where the files of a folder came from; empty where they are not there or not ours."""
    try:
        with open(os.path.join(folder, to_path(archive.RECORD)), "rb") as file:
            found = json.loads(file.read().decode("ascii"))
    except (OSError, ValueError):
        return {}
    is_whole = isinstance(found, dict) and isinstance(found.get("manifest"), dict)
    return found if is_whole else {}


@contextmanager
def _locked(paths: NodePaths, order: Order, pause: "Callable[[], None]") -> "Iterator[None]":
    """Be the only one who changes this software here."""
    locks = os.path.join(paths.software, b".lock")
    os.makedirs(locks, 0o700, exist_ok=True)
    file = os.open(inside(locks, _key(order)), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        while not _lock(file):
            pause()
            time.sleep(PAUSE)
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
    """Remove some software and the archive that it came from; say what was there."""
    folder, aside = _folder(paths, order), _aside(paths, order)
    with _locked(paths, order, archive.nothing):
        was_there = os.path.isdir(folder)
        remove(aside)
        os.makedirs(aside, 0o700)
        if was_there:
            os.rename(folder, aside + b"/old")
        remove(aside)
        if order["source"].startswith(ARCHIVES):
            remove(paths.inside(order["source"]))
    return "it is gone" if was_there else "it was not there"


def verify(paths: NodePaths, order: Order) -> "List[str]":
    """Hold some software against its manifest, and say what is wrong, a sentence each."""
    folder = _folder(paths, order)
    record = _record(folder)
    if not record:
        return ["it is not there" if not os.path.isdir(folder) else "its record is not readable"]
    if record.get("checksum") != order["checksum"]:
        return ["it came from another archive than the catalogue's"]
    if order["manifest"] and archive.seal(record["manifest"]) != order["manifest"]:
        return ["its list of files is not the catalogue's"]
    return [fault for name in sorted(record["manifest"])
            for fault in _faults(folder, name, record["manifest"][name])]  # fmt: skip


def _faults(folder: bytes, name: str, told: str) -> "List[str]":
    try:
        found = archive.state(folder, name)
    except FileNotFoundError:
        return ["`%s` is missing" % name]
    except OSError as error:
        return ["`%s` cannot be read: %s" % (name, error.strerror)]
    return [] if found == told else ["`%s` is another" % name]


def answer(paths: NodePaths, frame: Order) -> Order:
    """Do what a frame of the control host asks of the software cache."""
    faults: "List[str]" = []
    try:
        if frame["verb"] == "pull":
            pull(paths, frame)
            message = "it is there"
        elif frame["verb"] == "purge":
            message = purge(paths, frame)
        else:
            faults = verify(paths, frame)
            message = _count(faults) if faults else "it is whole"
    except Unusable as error:
        return failed(frame, error.detail)
    except (OSError, ValueError) as error:
        return failed(frame, getattr(error, "strerror", None) or str(error))
    return _answer(frame, not faults, message, faults)


def _count(faults: "List[str]") -> str:
    return "1 fault" if len(faults) == 1 else "%d faults" % len(faults)


def failed(frame: Order, why: str) -> Order:
    """Say that it could not be done."""
    return _answer(frame, False, why, [])


def _answer(frame: Order, ok: bool, message: str, faults: "List[str]") -> Order:
    head = {"kind": "software", "id": frame["id"], "ok": ok, "message": _sendable(message)}
    more = ["and %d more" % (len(faults) - MOST_NAMED)] if len(faults) > MOST_NAMED else []
    return {**head, "faults": [_sendable(fault) for fault in faults[:MOST_NAMED] + more]}


def _sendable(text: str) -> str:
    """Give a text with names of any bytes as one that a database takes."""
    return text.encode("utf-8", "replace").decode("utf-8")
