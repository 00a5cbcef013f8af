"""Files that people select: counted, listed, purged, and given another disposition."""

import json
import os
import stat
from collections.abc import Iterator, Sequence, Set
from pathlib import Path
from typing import NamedTuple

from d0ctl.config import Home
from d0ctl.store.connection import FileSelection, Selection, Store
from d0ctl.store.files import archived_results

PAGE = 1000
"""How many files are read at a time."""


CONTROL = "control"
"""The cluster of this machine: its copies without a node are in `results/`."""


class FileTotals(NamedTuple):
    """How many files are selected, and how many bytes those have that exist.

    `present` counts files of packages that exist, `outside` all that no package makes.
    """

    files: int
    present: int
    outside: int
    bytes: int


class FileRow(NamedTuple):
    """A selected file: `dispositions` are from the job file, `disposition` was set by a person.

    `acquired` says how its readers get a file from outside, `delivered` since when a copy is on
    this machine, `unlisted` that its maker succeeded and is no longer in the job file, and
    `removed` when d0ctl removed its last copy. Names of files from outside start in `directory`.
    `copies` of a result of an archive are none but that in results/, if it is there now.
    """

    id: int
    job: str
    name: str
    present: int
    dropped: int
    partial: int
    size: int | None
    checksum: str | None
    dispositions: str
    disposition: str | None
    result: int
    stored: list[str]
    locator: str | None
    acquired: list[str]
    maker: str | None
    maker_phase: str | None
    copies: list[dict[str, str | None]]
    delivered: float | None
    unlisted: int
    directory: str
    removed: float | None


def select(
    store: Store, job: str, name: str, *, node: str | None, disposition: str | None
) -> FileSelection:
    """Select files by job and name, both with wildcards, and filters."""
    selected = store.select_files()
    selected.change("choose_files", job=job, name=name, node=node, disposition=disposition)
    return selected


def has_files(store: Store, job: str) -> bool:
    """Return whether jobs make or read a file; their name may have wildcards."""
    return bool(weight(select(store, job, "*", node=None, disposition=None)).files)


def select_of_packages(
    packages: Selection, *, node: str | None, disposition: str | None
) -> FileSelection:
    """Select the files that packages make, with filters."""
    selected = packages.store.select_files()
    selected.change("choose_files_of_packages", node=node, disposition=disposition)
    return selected


def select_results(store: Store, job: str, name: str) -> FileSelection:
    """Select the final outputs of a job by name, with wildcards."""
    selected = store.select_files()
    selected.change("choose_results", job=job, name=name)
    return selected


def select_of_jobs(store: Store, jobs: Sequence[str], limit: int) -> FileSelection:
    """Select files that are lost with jobs: neither results nor stored; at most so many of each."""
    selected = store.select_files()
    for job in jobs:
        selected.change("choose_job_files", job=job, limit=limit)
    return selected


def weight(selected: FileSelection) -> FileTotals:
    """Count the selected files and their bytes."""
    row = selected.row("weigh_selected_files")
    assert row is not None
    return FileTotals(row["files"], *(int(row[key]) for key in ("present", "outside", "bytes")))


def keep_removable(selected: FileSelection) -> int:
    """Keep the selected files with a copy that may be removed; return how many are needed."""
    selected.change("spare_absent_files", cache=f"{selected.home.cache}/")
    return selected.change("spare_needed_files")


def lasting(selected: FileSelection) -> tuple[int, int]:
    """Count the selected files that exist in results/, and the others that are stored elsewhere."""
    row = selected.row("lasting_selected_files")
    assert row is not None
    return int(row["results"]), int(row["stored"])


def largest(selected: FileSelection, limit: int) -> tuple[tuple[str, int | None], ...]:
    """Return the largest of the selected files, with their sizes."""
    rows = selected.rows("largest_selected_files", limit=limit)
    return tuple((f"{row['job']}:{row['name']}", row["size"]) for row in rows)


def pages(selected: FileSelection, limit: int) -> Iterator[FileRow]:
    """Yield the selected files by their age; at most so many, all of them with 0."""
    home, after, left = selected.home, 0, limit or None
    while left is None or left > 0:
        rows = selected.rows("files_page", after=after, limit=min(PAGE, left or PAGE))
        if not rows:
            return
        for row in rows:
            file = FileRow._make(row)
            is_archived = home.archive and file.result
            yield file._replace(
                stored=json.loads(row["stored"] or "[]"),
                acquired=json.loads(row["acquired"]),
                copies=_in_archive(home, file) if is_archived else json.loads(row["copies"]),
            )
        after = rows[-1]["id"]
        left = None if left is None else left - len(rows)


def local_path(home: Home, row: FileRow) -> str | None:
    """Return where a file is on this machine, in results/ or in a store; None if it is not."""
    stored = (locator for locator in row.stored if locator.startswith("/"))
    return _in_results(home, row) or next(filter(os.path.lexists, stored), None)


def result_folder(home: Home, job: str, rows: Sequence[FileRow]) -> Path:
    """Return the folder of a job's results; of an archived one, where the first of them is."""
    paths = (_in_results(home, row) for row in rows) if home.archive else ()
    first = next(filter(None, paths), None)
    return home.results / (Path(first).relative_to(home.results).parts[0] if first else job)


def _in_results(home: Home, row: FileRow) -> str | None:
    if not row.result:
        return None
    if home.archive:
        return row.copies[0]["path"] if row.copies else None
    path = str(home.result(row.job, row.name))
    return path if os.path.lexists(path) else None


def _in_archive(home: Home, row: FileRow) -> list[dict[str, str | None]]:
    """Return the copy of a result of an archived job, as others are recorded."""
    path = archived_results.path(home, row.job, row.name, row.size, row.checksum)
    return [{"cluster": CONTROL, "node": None, "path": str(path)}] if path else []


def is_missing(home: Home, row: FileRow) -> bool:
    """Return whether a file was delivered to results/ and is there no more; ask the disk.

    An archive has no record of deliveries: all results that it has were delivered.
    """
    is_recorded = any(copy["cluster"] == CONTROL for copy in row.copies)
    is_delivered = row.result and (row.present if home.archive else is_recorded)
    return bool(is_delivered) and _in_results(home, row) is None


def is_present(home: Home, row: FileRow) -> bool:
    """Return whether a file is recorded as present; in an archive, whether it is."""
    return bool(row.present and not (home.archive and is_missing(home, row) and not row.stored))


def is_there(row: FileRow) -> bool:
    """Return whether a file from outside is on this machine; ask the disk."""
    return Path(row.directory, row.name).exists()


RESIZED, WRITTEN_AGAIN, REPLACED = "resized", "written again", "replaced"
"""How a file in results/ can differ from the one delivered, as far as its metadata shows."""


def difference(home: Home, row: FileRow) -> str:
    """Return how a file in results/ differs from the one delivered, or ""; ask the disk.

    One of an archive that is missing may have been replaced.
    """
    if home.archive:
        is_gone = is_missing(home, row)
        return REPLACED * (is_gone and archived_results.is_replaced(home, row.job, row.name))
    try:
        status = home.result(row.job, row.name).lstat()
    except OSError:
        return ""
    if not row.present or row.partial or not stat.S_ISREG(status.st_mode):
        return ""
    if row.size not in (None, status.st_size):
        return RESIZED
    is_newer = row.delivered is not None and status.st_mtime > row.delivered
    return WRITTEN_AGAIN if is_newer else ""


def without_set(store: Store, packages: Set[int]) -> frozenset[int]:
    """Return those of some packages of whose files a person has set no disposition."""
    having = json.dumps(sorted(packages))
    found = store.rows("packages_with_disposition", packages=having) if packages else ()
    return frozenset(packages - {row["package_id"] for row in found})


def dispositions(selected: FileSelection) -> list[str | None]:
    """Return the different dispositions that people gave to the selected files."""
    return [row[0] for row in selected.rows("previous_dispositions")]


def set_disposition(selected: FileSelection, disposition: str | None) -> None:
    """Set the disposition of the selected files, None for that of the job file."""
    selected.change("give_disposition", disposition=disposition)
    selected.change("spare_no_more")
    selected.change("look_again")
