"""The results of a job: which of its files they are, and their folder in results/."""

import json
import shutil
from collections.abc import Collection, Iterable, Sequence
from itertools import islice
from pathlib import Path

from msgspec import Struct

from d0ctl.config import Home
from d0ctl.model import Phase
from d0ctl.store.connection import Store

MOST_COUNTED = 10_000
"""At most this many files are counted, as other writers wait while a plan is made."""

_REMOVED = ".removed-"
"""The name of the folder of a removed job's results until it is gone."""


class ResultChange(Struct, frozen=True):
    """The files of a job that become results, as a job file declares them."""

    files: int = 0
    due: int = 0
    """How many of them exist, so that they are copied at once."""
    removed: int = 0
    """How many of them were made and removed."""
    makers: tuple[str, ...] = ()
    """The paths of the packages that made these."""
    stay: int = 0
    """How many files in results/ are declared no more."""


def changed(
    store: Store, job: int, declared: Sequence[str], again: Collection[int]
) -> ResultChange:
    """Return which files of a job these declared results would change.

    Packages that will run `again` make theirs anew.
    """
    text = json.dumps(declared)
    rows = [row for row in store.rows("declared_anew", job=job, declared=text) if not row["late"]]
    done = [row for row in rows if row["phase"] == Phase.DONE and row["maker"] not in again]
    gone = [row["path"] for row in done if not row["present"]]
    return ResultChange(
        len(rows), len(done) - len(gone), len(gone), tuple(dict.fromkeys(gone)),
        int(store.value("count_not_declared", job=job, declared=text)),
    )  # fmt: skip


def declare(store: Store, job: int, declared: Iterable[str], *, now: float) -> None:
    """Have the declared files of packages that have started delivered: now, or when they are made.

    Those of the other packages are a part of what these packages will run. Removed files that are
    declared no more are results no more.
    """
    text = json.dumps([*declared])
    store.change("undeclare_removed", job=job, declared=text)
    files = [row["id"] for row in store.rows("declared_anew", job=job, declared=text)]
    store.change_many("declare_result", [(file,) for file in files])
    store.change_many("deliver_declared", [(now, file) for file in files])


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


def readers_by_path(store: Store, names: Sequence[str]) -> tuple[str, ...]:
    """Return the other jobs with packages that read files in the folders of these jobs' names."""
    home = store.home
    folders = [str(home.results / name) for name in names if place_aside(home, name)]
    rows = store.rows("readers_by_path", jobs=json.dumps(names), folders=json.dumps(folders),
                      results=str(home.results)) if folders else []  # fmt: skip
    return tuple(row["name"] for row in rows)


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
