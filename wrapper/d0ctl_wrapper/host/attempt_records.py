"""The records that a node keeps of its attempts."""

import os
import signal
import time
from typing import List, NamedTuple, Tuple

from d0ctl_wrapper.host import process
from d0ctl_wrapper.protocol.checks import json_text, shape
from d0ctl_wrapper.protocol.lease import ELSEWHERE
from d0ctl_wrapper.protocol.paths import AttemptFolder, NodePaths, read, write

LAUNCH, CLAIMED = b"launch", b"launch.claimed"
"""The launch of an attempt elsewhere, before and after a job has begun with it."""

CALL = b"call"
"""The file whose change stands for SIGUSR1 to a wrapper elsewhere."""


class Record(NamedTuple):
    """The wrapper of an attempt; start time and boot distinguish it from others with its pid.

    One elsewhere has the attempt in place of a pid, and lives until its job is over.
    """

    pid: int
    started: int
    boot_id: str
    cpus: float
    gpus: "Tuple[str, ...]" = ()


def write_record(folder: AttemptFolder, record: Record) -> None:
    """Write the record of a wrapper; half a record counts as none."""
    fields = ["%d %d %s %g" % record[:4]]
    if record.gpus:
        fields.append(",".join(record.gpus))
    write(folder.file(b"wrapper"), (" ".join(fields) + "\n").encode("ascii"))


def link_record(folder: AttemptFolder, previous: "AttemptFolder | None") -> bool:
    """Link the record of a previous attempt; return whether that was possible."""
    if previous is None:
        return False
    try:
        os.link(previous.file(b"wrapper"), folder.file(b"wrapper"))
    except OSError:
        return False
    return True


def read_record(folder: AttemptFolder) -> "Record | None":
    """Read the record of an attempt's wrapper; None if there is none."""
    try:
        text = read(folder.file(b"wrapper")).decode("ascii")
        pid, started, boot_id, cpus, *gpus = text.rstrip("\n").split(" ")
        devices = tuple(gpus[0].split(",")) if gpus else ()
        record = Record(int(pid), int(started), boot_id, float(cpus), devices)
        return record if text[-1:] == "\n" else None
    except (OSError, ValueError):
        return None


def is_running(record: "Record | None", boot_id: str) -> bool:
    """Return whether the recorded wrapper is alive, in this boot of the machine, or elsewhere."""
    if record is not None and record.boot_id == ELSEWHERE:
        return True
    if record is None or record.boot_id != boot_id:
        return False
    return process.is_alive(record.pid, record.started)


def call(folder: AttemptFolder, record: Record) -> None:
    """Ask the wrapper of an attempt to look at its orders, or for its status."""
    if record.boot_id != ELSEWHERE:
        process.send(record.pid, signal.SIGUSR1)
        return
    try:
        write(folder.file(CALL), b"%r\n" % time.time())
    except OSError:
        pass


def claim(folder: AttemptFolder) -> bool:
    """Claim the launch of an attempt elsewhere; return False if it was claimed before.

    Of several who try, on whatever machines, one succeeds.
    """
    try:
        os.rename(folder.file(LAUNCH), folder.file(CLAIMED))
    except FileNotFoundError:
        return False
    return True


def has_ended(folder: AttemptFolder) -> bool:
    """Return whether an attempt has recorded its end; an empty or torn record does not count."""
    try:
        with open(folder.file(b"end"), "rb") as file:
            file.seek(-1, os.SEEK_END)
            return file.read(1) == b"\n"
    except OSError:
        return False


def state(folder: AttemptFolder, boot_id: str) -> str:
    """Return `running`, `ended`, `dead`, or `absent` if the attempt has not started here."""
    record = read_record(folder)
    runs = is_running(record, boot_id)
    if has_ended(folder):  # last, as it may end meanwhile
        return "ended"
    if record is None:
        return "absent"
    return "running" if runs else "dead"


def end_name(folder: AttemptFolder) -> "bytes | None":
    """Return the spool name of an attempt's end message; None if it has not ended."""
    try:
        with open(folder.file(b"end"), "rb") as file:
            first = file.readline()
    except OSError:
        return None
    try:
        return b"%d.%d" % (folder.attempt, shape.positive(json_text.decode(first)["seq"]))
    except (ValueError, TypeError, KeyError):
        return None


def recorded(paths: NodePaths) -> "List[int]":
    """List the attempts that have a folder here."""
    return sorted(int(name) for name in os.listdir(paths.attempts) if name.isdigit())


def exists(folder: AttemptFolder) -> bool:
    """Return whether an attempt has a folder here."""
    return os.path.isdir(folder.path)


def cached(paths: NodePaths) -> "List[int]":
    """List the attempts that have a folder in the cache here."""
    return sorted(int(name) for name in os.listdir(paths.cache) if name.isdigit())
