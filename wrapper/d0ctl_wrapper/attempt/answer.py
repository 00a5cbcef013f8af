"""The only place that writes down how an attempt stands, for whoever asks while it runs.

SIGUSR1 asks; a relay then waits for a new file `status` in the attempt's folder.
"""

import os
import time
from typing import Any, Dict, Iterator

from d0ctl_wrapper.attempt.report import Report
from d0ctl_wrapper.attempt.run.processes import Tree
from d0ctl_wrapper.host import process
from d0ctl_wrapper.protocol import shape
from d0ctl_wrapper.protocol.paths import write

STATUS = b"status"
"""The name of the answer in the attempt's folder."""

MOST_LOOKED_AT = 1000
"""So many files of the working directory are looked at for a sign of life."""


def give(report: Report, tree: Tree) -> None:
    """Write the present state of an attempt; on a full disk whoever asks waits in vain."""
    path = report.folder.file(STATUS)
    text = shape.encode(_state(report, tree))
    try:
        write(path + b".aside", text.encode("ascii"))
        os.rename(path + b".aside", path)
    except OSError:
        pass


def _state(report: Report, tree: Tree) -> "Dict[str, Any]":
    usage = tree.usage()
    return {
        **report.dated(report.present()),
        "time": report.now(),
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


def _last_sign(report: Report) -> "float | None":
    """Give when a log, the progress file or a file of the working directory was written last."""
    latest = max(_times(report), default=None)
    return None if latest is None else round(report.now() - (time.time() - latest), 3)


def _times(report: Report) -> "Iterator[float]":
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
