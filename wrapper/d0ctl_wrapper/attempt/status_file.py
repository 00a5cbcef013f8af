"""The status of a running attempt, written on request.

The request is SIGUSR1; the relay then waits for a new file `status` in the attempt's folder.
"""

import os
import time
from typing import Any, Dict, Iterator

from d0ctl_wrapper.attempt.reporter import Reporter
from d0ctl_wrapper.attempt.run.processes import ProcessTree
from d0ctl_wrapper.host import process
from d0ctl_wrapper.protocol.checks import json_text
from d0ctl_wrapper.protocol.paths import write as write_file

STATUS = b"status"
"""The name of the file in the attempt's folder."""

MOST_LOOKED_AT = 1000
"""The most files of the working directory that are checked for a sign of life."""


def write(report: Reporter, tree: ProcessTree) -> None:
    """Write the status of an attempt; on a full disk the request times out."""
    path = report.folder.file(STATUS)
    text = json_text.encode(_state(report, tree))
    try:
        write_file(path + b".aside", text.encode("ascii"))
        os.rename(path + b".aside", path)
    except OSError:
        pass


def _state(report: Reporter, tree: ProcessTree) -> "Dict[str, Any]":
    usage = tree.usage()
    return {
        **report.dated(report.progress_now()),
        "time": report.now(),
        "wrapper_started": report.wrapper_started,
        "started": report.started,
        "seq": report.sequence,
        "phase": report.phase,
        "why": report.why,
        "since": report.phase_since,
        "binary": report.binary,
        "began": report.binary_started if report.is_open() else None,
        "cpu": round(usage.cpu, 3),
        "rss": usage.rss,
        "processes": len(process.below(os.getpid())),
        "disk_free": _free(report.folder.node.attempts),
        "last_sign": _last_sign(report),
    }


def _free(path: bytes) -> "int | None":
    try:
        status = os.statvfs(path)
    except OSError:
        return None
    return status.f_bavail * status.f_frsize


def _last_sign(report: Reporter) -> "float | None":
    """Return when a log, the progress file or a working file was last written."""
    latest = max(_times(report), default=None)
    return None if latest is None else round(report.now() - (time.time() - latest), 3)


def _times(report: Reporter) -> "Iterator[float]":
    folder = report.folder.path
    for name in (b"progress", b"%d.out" % (report.binary or 0), b"%d.err" % (report.binary or 0)):
        try:
            yield os.stat(folder + b"/" + name).st_mtime
        except OSError:
            pass
    try:
        with os.scandir(folder + b"/work") as entries:
            for _, entry in zip(range(MOST_LOOKED_AT), entries):
                yield entry.stat(follow_symlinks=False).st_mtime
    except OSError:
        pass
