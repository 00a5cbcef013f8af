"""The folders of results/, one per job: moved aside for a new job, or removed with an old one."""

import shutil
from itertools import islice
from pathlib import Path

from d0ctl.config import Home

MOST_COUNTED = 10_000
"""At most this many files are counted, as other writers wait while a plan is made."""

_REMOVED = ".removed-"
"""The name of the folder of a removed job's results until it is gone."""


def in_the_way(home: Home, job: str) -> int:
    """Count the files in the folder of a job's name, up to MOST_COUNTED."""
    files = (path for path in (home.results / job).rglob("*") if not path.is_dir())
    return sum(1 for _ in islice(files, MOST_COUNTED))


def place_aside(home: Home, job: str) -> Path | None:
    """Return the first free `JOB.N` for the folder of a job's name; None if there is none."""
    folder = home.results / job
    if not folder.is_symlink() and (not folder.exists() or _is_empty(folder)):
        return None
    number = 1
    while (aside := home.results / f"{job}.{number}").exists() or aside.is_symlink():
        number += 1
    return aside


def move_aside(home: Home, job: str) -> Path | None:
    """Rename the folder of a job's name to the first free `JOB.N`; None if there is none."""
    aside = place_aside(home, job)
    if aside is not None:
        (home.results / job).rename(aside)
    return aside


def remove(home: Home, job: str, number: int) -> None:
    """Remove the results of the job with this number; after a crash `sweep` continues."""
    folder, removed = home.results / job, home.results / f"{_REMOVED}{number}"
    if folder.is_symlink():
        folder.unlink()
    elif folder.exists():
        folder.rename(removed)
        shutil.rmtree(removed, ignore_errors=True)


def sweep(home: Home) -> None:
    """Remove the results of removed jobs that a crash has left."""
    for folder in home.results.glob(f"{_REMOVED}*"):
        shutil.rmtree(folder, ignore_errors=True)


def _is_empty(folder: Path) -> bool:
    return folder.is_dir() and not any(folder.iterdir())
