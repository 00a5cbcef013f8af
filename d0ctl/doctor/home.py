"""What is wrong with the home itself: who may enter, what is left over, whether there is room."""

import os
import stat
import time
from collections.abc import Iterator
from pathlib import Path

from d0ctl.config import Home
from d0ctl.doctor.finding import Finding

KEY_BYTES = 32
KEY_ADVICE = "put back the one of your backup"

LEFT_S = 3600.0
"""A file that is being made for longer is left over from a process that was killed."""

RECENT_S = 30.0
"""A turn that failed so lately is still being tried."""


def furniture(home: Home) -> Iterator[Finding]:
    """All that is wrong with the folders and files around the database."""
    folders = [home.root, home.dropbox, home.logs, home.results, home.cache, home.nodes]
    for path in folders:
        yield from _private(path, 0o700, "mkdir -m 700")
    for path in (home.key, home.database):
        yield from _private(path, 0o600, "")
    if home.turn.exists():
        yield from _private(home.turn, 0o600, "")
    if home.key.is_file() and home.key.stat().st_size < KEY_BYTES:
        yield Finding("home", str(home.key), "is too short to be a key", KEY_ADVICE)
    yield from _asides(home)


def _private(path: Path, mode: int, make: str) -> Iterator[Finding]:
    try:
        found = stat.S_IMODE(path.stat().st_mode)
    except OSError:
        advice = f"{make} {path}" if make else KEY_ADVICE
        yield Finding("home", str(path), "is missing", advice)
        return
    if found & 0o077:
        yield Finding("home", str(path), "others may enter" if mode == 0o700 else "others may read",
                      f"chmod {mode:o} {path}")  # fmt: skip
    elif found & mode != mode:
        yield Finding("home", str(path), "you may not use it", f"chmod {mode:o} {path}")


def _asides(home: Home) -> Iterator[Finding]:
    """What a restore or a first use was making when it was killed."""
    for pattern in (".restore.*", ".site.key.*"):
        for path in home.root.glob(pattern):
            if _age(path) > LEFT_S:
                yield Finding("home", str(path), "is half made, by a process that is gone",
                              f"rm {path}")  # fmt: skip


def failing_turns(home: Home) -> Iterator[Finding]:
    """Whether the daemon's last word is that a turn of it failed."""
    log = home.logs / "daemon.log"
    try:
        with log.open("rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - 65536))
            lines = file.read().decode(errors="replace").splitlines()
    except OSError:
        return
    told = [line for line in lines if line[:2] == "20" and line[19:20] == ","]
    if told and " ERROR a turn failed" in told[-1] and _age(log) < RECENT_S:
        yield Finding("daemon", str(log), "its turns fail, the last a moment ago", f"tail {log}")


def _age(path: Path) -> float:
    try:
        return time.time() - path.stat().st_mtime
    except OSError:
        return 0.0
