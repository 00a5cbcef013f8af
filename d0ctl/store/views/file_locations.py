"""A file by its name: its maker, its copies, its readers; every read is limited."""

import json
from collections.abc import Iterable
from pathlib import Path

from msgspec import Struct

from d0ctl.errors import BadUsage, NotFound
from d0ctl.store.connection import Store
from d0ctl.store.rows import make
from d0ctl.store.views import browse

MOST_COPIES = 20
"""How many copies and transfers of a file are read."""

MOST_READERS = 2_000
"""How many readers of a file are read to find the most significant ones."""

MOST_JOBS = 10
"""In how many jobs a name is searched for if its job is unknown."""


class FileView(Struct, frozen=True):
    """A file; `maker` is the path of the package that makes it, None if it comes from outside.

    `late` is one for a pattern whose files are named when they are made.
    """

    id: int
    job: str
    directory: str
    name: str
    present: int
    dropped: int
    partial: int
    late: int
    size: int | None
    checksum: str | None
    dispositions: str
    disposition: str | None
    result: int
    locator: str | None
    stored: str | None
    maker: str | None
    maker_phase: str | None
    line_dropped: float | None
    removed: float | None
    removed_by: str | None
    removed_from: str | None

    @property
    def path(self) -> str:
        """A name for it that is valid anywhere."""
        return f"{self.job}:{self.name}"

    @property
    def stored_at(self) -> list[str]:
        """The locators at which a node has stored it."""
        return list(json.loads(self.stored or "[]"))

    @property
    def here(self) -> Path:
        """Its path on this machine, if it comes from here."""
        return Path(self.directory, self.name)


class Remover(Struct, frozen=True):
    """A person who removed the last copy of a file, and the reason."""

    actor: str
    note: str | None


class CopyView(Struct, frozen=True):
    """A copy of a file in the cache of a cluster, or on this machine if there is no node."""

    cluster: str
    path: str
    made: float
    spare: int
    node: str | None
    state: str | None
    is_doubted: int


class TransferView(Struct, frozen=True):
    """A copy that is requested in a cluster, or as a result on this machine."""

    cluster: str
    result: int
    tries: int
    last_error: str | None


class ReaderView(Struct, frozen=True):
    """A package that reads a file `uses` times, and waits for `missing` files in all.

    The package before it in its line is none of them.
    """

    path: str
    phase: str
    missing: int
    uses: int
    dropped: int
    acquire: str
    locator: str | None
    has_read: int
    """1 if it has run with the file."""


def find(store: Store, name: str, *, path: str | None = None, job: str | None = None
         ) -> list[FileView]:  # fmt: skip
    """Return the files of that name, or path outside, in a job or in any; the newest first."""
    rows = store.rows("file_by_name", name=name, path=path or name, job=job, limit=MOST_JOBS)
    return [make(FileView, row) for row in rows]


def in_job(store: Store, job: str, name: str, *, also: Iterable[str] = ()) -> FileView:
    """Return the file of that name in a job, or the only one with that name in any folder.

    Raises NotFound with the nearest name, or one of `also`.
    """
    if found := find(store, name, job=job):
        return found[0]
    browse.job(store, job)
    names = [row[0] for row in store.rows("file_names", job=job)]
    elsewhere = [path for path in names if path.endswith(f"/{name}")]
    if len(elsewhere) == 1:
        return find(store, elsewhere[0], job=job)[0]
    from d0ctl.store.files.selected_files import has_files

    near = browse.nearest(name, [*names, *also])
    hint = near or (f"d0ctl file list {job}" if has_files(store, job) else None)
    raise NotFound(f"job `{job}` has no file `{name}`", hint=hint)


def anywhere(store: Store, name: str, path: str) -> FileView | None:
    """Return the one file of that name or path, in any job. Raises BadUsage if there are more."""
    found = find(store, name, path=path)
    if len(found) > 1:
        least = "at least " if len(found) == MOST_JOBS else ""
        raise BadUsage(f"`{name}` is a file of {least}{len(found)} jobs: say which one",
                       hint=f"d0ctl why {found[0].path}")  # fmt: skip
    return found[0] if found else None


def copies(store: Store, file: int) -> list[CopyView]:
    """Return where its copies are."""
    return [make(CopyView, row) for row in store.rows("copies_of_file", **_of(file))]


def remover(store: Store, file: FileView) -> Remover | None:
    """Return the person who removed its last copy; None if d0ctl did by itself."""
    row = store.row("action_that_removed", at=file.removed, verb=file.removed_by)
    return None if row is None else make(Remover, row)


def transfers(store: Store, file: int) -> list[TransferView]:
    """Return where it is being transferred to."""
    return [make(TransferView, row) for row in store.rows("transfers_of_file", **_of(file))]


def readers(store: Store, file: int) -> list[ReaderView]:
    """Return its readers, those that have not ended first."""
    rows = store.rows("readers_of_file", file=file, window=MOST_READERS)
    return [make(ReaderView, row) for row in rows]


def matches(store: Store, file: int) -> int:
    """Return how many files a late output stands for so far."""
    return int(store.value("count_of_pattern", file=file))


def results(store: Store, job: int) -> set[str]:
    """Return the names of the files that a job delivers to results/, without dropped ones."""
    return {row["name"] for row in store.rows("results_of_job", job=job)}


def _of(file: int) -> dict[str, int]:
    return {"file": file, "limit": MOST_COPIES}
