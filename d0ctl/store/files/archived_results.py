"""Where the results of archived jobs are: a later job of the same name has moved them aside.

An archive has no record of deliveries, but they were before it was written.
"""

import os
from functools import lru_cache
from glob import escape
from pathlib import Path
from stat import S_ISDIR

from d0ctl.config import Home, within
from d0ctl.store.connection import Store

MOST_READ = 1_000_000
"""The largest result whose checksum is calculated, in bytes: a list must not wait for it."""


def path(home: Home, job: str, name: str, size: int | None, checksum: str | None) -> Path | None:
    """Return where a result of an archived job is; None if it is not in results/."""
    folder = folder_with(home, job, name, size, checksum)
    return None if folder is None else within(folder, name)


def folder_with(
    home: Home, job: str, name: str, size: int | None, checksum: str | None
) -> Path | None:
    """Return which folder has a result of an archived job: `results/JOB`, or one moved aside.

    Of several that may have it, that of the file written last before the archive was: a later job
    may have made the same file.
    """
    archived = home.archive_file(home.archive).stat().st_mtime
    own = home.results / job
    is_own = _is_it(within(own, name), archived, size, checksum)
    if is_own and _written(own, name) <= archived:
        return own
    found = [folder for folder in _moved_aside(home, job)
             if _is_it(within(folder, name), archived, size, checksum, is_aside=True)]  # fmt: skip
    written = {_written(folder, name): folder for folder in [*found, *[own] * is_own]}
    before = [time for time in written if time <= archived]
    return written[max(before or written)] if written else None


def later_job(store: Store, path: str, since: float) -> str | None:
    """Return the job in whose folder of results a file is, if it was submitted since; else None."""
    folder = f"{store.home.results}/"
    job = path.removeprefix(folder).partition("/")[0] if path.startswith(folder) else ""
    return job if job and submitted(store, job) > since else None


def submitted(store: Store, job: str) -> float:
    """Return when the job of a name was submitted; 0 if there is none."""
    rows = store.rows("jobs", pattern=job)
    return next((float(row["submitted"]) for row in rows if row["name"] == job), 0.0)


def _written(folder: Path, name: str) -> float:
    return within(folder, name).stat().st_mtime


def is_replaced(home: Home, job: str, name: str) -> bool:
    """Return whether the folder of a job's name has files of a later job, or another such file."""
    is_later = (home.results / job).exists() and _moved_aside(home, job)
    return bool(is_later) or os.path.lexists(home.result(job, name))


def _moved_aside(home: Home, job: str) -> list[Path]:
    try:
        return _numbered(home.results, job, home.results.stat().st_mtime_ns)
    except OSError:
        return []


@lru_cache(maxsize=1)
def _numbered(results: Path, job: str, _changed: int) -> list[Path]:
    """Return the folders `JOB.N`, read anew when results/ has changed."""
    return [path for path in results.glob(f"{escape(job)}.*") if path.suffix[1:].isdigit()]


def _is_it(
    path: Path, archived: float, size: int | None, checksum: str | None, *, is_aside: bool = False
) -> bool:
    """Return whether a file is the recorded one, by size and contents.

    Contents are compared only if it was written after the archive or is moved aside.
    """
    try:
        status = path.stat()
        is_newer = status.st_mtime > archived
        now = None if S_ISDIR(status.st_mode) else status.st_size
        if now is not None and size not in (None, now):
            return False
        if not (is_newer or is_aside) or checksum is None:
            return not is_newer
        is_same = _is_same(os.fsencode(path), checksum, now)
    except OSError:
        return False
    return not is_newer if is_same is None else is_same


def _is_same(path: bytes, checksum: str, size: int | None) -> bool | None:
    """Return whether a file or, with no size, a directory has a checksum; None if it is large."""
    from d0ctl_wrapper.host import packing  # late: few results are compared
    from d0ctl_wrapper.protocol.checksum import digest_by

    if (packing.size(path) if size is None else size) > MOST_READ:
        return None
    if size is not None:
        return digest_by(path, checksum, lambda: None)[0] == checksum
    try:
        return not packing.is_other(path, checksum)
    except packing.NotPackable:
        return False
