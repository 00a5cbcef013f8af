"""Problems of the home itself: access, leftover files, free space."""

import os
import stat
import time
from collections.abc import Iterator
from pathlib import Path

from d0ctl.access import KEY_ADVICE, is_read_only, mount_point
from d0ctl.config import HALF_MADE_S, KEY_BYTES, Home
from d0ctl.doctor.finding import Finding, repaired_at_start
from d0ctl.units import size

LEAST_SPACE = 1_000_000
"""How many bytes the database and a few messages need at least."""

RECENT_S = 30.0
"""A turn that failed less than this ago is still being retried."""


def home_files(home: Home) -> Iterator[Finding]:
    """Check the folders and files around the database."""
    yield from _disk(home)
    yield from _ways_in(home)
    folders = [home.root, home.dropbox, home.logs, home.results, home.cache, home.nodes]
    for path in folders:
        if path == home.results and not path.is_dir():
            continue  # the check of the results says what it lacks
        yield from _private(path, 0o700, "mkdir -m 700")
    for path in (home.key, home.database):
        yield from _private(path, 0o600, "")
    for path in (home.writer_lock, home.previous_keys):
        if path.exists():
            yield from _private(path, 0o600, "")
    if home.key.is_file() and home.key.stat().st_size < KEY_BYTES:
        yield Finding("home", str(home.key), "is too short to be a key", KEY_ADVICE)
    yield from _asides(home)


def _disk(home: Home) -> Iterator[Finding]:
    if is_read_only(home.root):
        advice = f"mount -o remount,rw {mount_point(home.root)}"
        yield Finding("home", str(home.root), "is on a read-only file system", advice)

    disk = os.statvfs(home.root)
    if (left := disk.f_bavail * disk.f_frsize) < LEAST_SPACE:
        detail = f"has {size(left)} left on its disk, so d0ctl may not be able to write"
        yield Finding("home", str(home.root), detail, f"df -h {home.root}")


def _ways_in(home: Home) -> Iterator[Finding]:
    """Yield folders above the home in which other users may replace it by another one."""
    for folder in home.root.resolve().parents:
        mode = folder.stat().st_mode
        if mode & stat.S_IWOTH and not mode & stat.S_ISVTX:
            detail = "other users can replace your home"
            yield Finding("home", str(folder), detail, f"chmod o-w {folder}")


def _private(path: Path, mode: int, make: str) -> Iterator[Finding]:
    try:
        found = stat.S_IMODE(path.stat().st_mode)
    except OSError:
        advice = f"{make} {path}" if make else KEY_ADVICE
        yield Finding("home", str(path), "is missing", advice)
        return
    if found & 0o077:
        detail = "other users can enter it" if mode == 0o700 else "other users may read"
        advice = f"chmod {mode:o} {path}"
        if path.name in ("site.key", "site.key.previous"):
            detail += " it, and forge messages with it"
            advice += "; d0ctl site rotate-key"
        yield Finding("home", str(path), detail, advice)
    elif found & mode != mode:
        yield Finding("home", str(path), "you may not use it", f"chmod {mode:o} {path}")


def _asides(home: Home) -> Iterator[Finding]:
    for path in home.half_made(time.time() - HALF_MADE_S):
        yield repaired_at_start("home", str(path), "is unfinished, and its process is gone")


def failing_turns(home: Home, now: float) -> Iterator[Finding]:
    """Yield a finding if the last line of the daemon's log says that a turn failed."""
    log = home.logs / "daemon.log"
    try:
        with log.open("rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - 65536))
            lines = file.read().decode(errors="replace").splitlines()
    except OSError:
        return
    dated = [line for line in lines if line[:2] == "20" and line[19:20] == ","]
    if dated and " ERROR a turn failed" in dated[-1] and _age(log, now) < RECENT_S:
        yield Finding(
            "daemon", str(log), "its turns fail, the last one a moment ago", f"tail {log}"
        )


def _age(path: Path, now: float) -> float:
    try:
        return now - path.stat().st_mtime
    except OSError:
        return 0.0
