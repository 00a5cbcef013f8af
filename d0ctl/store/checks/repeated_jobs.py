"""Jobs of archives that are in the database or a later archive, too, as after a restore."""

import sqlite3
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from msgspec import Struct

from d0ctl.config import Home
from d0ctl.store.connection import Store
from d0ctl.store.files.moved_home import reading
from d0ctl.store.opening import reader

Ends = dict[tuple[str, float], float | None]
"""When jobs have ended, by name and time of submission."""


class Repeated(Struct, frozen=True):
    """An archive, and how many of its jobs are elsewhere, too."""

    archive: str
    file: Path
    jobs: int
    is_needless: bool
    """Whether it has no others, and these have ended at the same time there."""


def repeated(store: Store, home: Home, *, with_later: bool) -> Iterator[Repeated]:
    """Yield the archives of a home with jobs that a database has, or with `with_later` a later
    archive; broken ones are left out.
    """
    known = _ends(store)
    for file in _newest_first(home, 0.0):
        try:
            with reading(file) as archive:
                found = _ends(archive)
        except sqlite3.Error:
            continue
        if both := found.keys() & known.keys():
            yield Repeated(file.stem, file, len(both), found.items() <= known.items())
        if with_later:
            known = found | known


def archive_readers(home: Home, since: float) -> Iterator[AbstractContextManager[Store]]:
    """Open archives that were written since then, each without the jobs that the database or a
    later archive has.
    """
    with reader(Home(home.root)) as store:
        known = set(_ends(store))
    for file in _newest_first(home, since):
        yield _reader_without(Home(home.root, archive=file.stem), known)


@contextmanager
def _reader_without(home: Home, known: set[tuple[str, float]]) -> Iterator[Store]:
    """Open an archive without known jobs, and add its others to these."""
    with reader(home) as store:
        store.change("hide_known_jobs")
        rows = store.rows("sizes_of_jobs")
        store.change_many(
            "know_job", ((row["id"],) for row in rows if (row["name"], row["submitted"]) in known)
        )
        known.update((row["name"], row["submitted"]) for row in rows)
        yield store


def _newest_first(home: Home, since: float) -> list[Path]:
    times = {path: path.stat().st_mtime for path in sorted(home.archives.glob("*.db"))}
    return sorted((path for path in times if times[path] >= since),
                  key=lambda path: times[path], reverse=True)  # fmt: skip


def _ends(store: Store) -> Ends:
    return {(row["name"], row["submitted"]): row["ended"] for row in store.rows("sizes_of_jobs")}
