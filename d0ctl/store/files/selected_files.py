"""Files that people select: counted, listed, purged, and given another disposition."""

import json
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from d0ctl.store.connection import Store

PAGE = 1000
"""How many files are read at a time."""


class FileTotals(NamedTuple):
    """How many files are selected, how many of them exist, and how many bytes they have."""

    files: int
    present: int
    bytes: int


class FileRow(NamedTuple):
    """A selected file: `dispositions` are from the job file, `disposition` was set by a person.

    `acquired` says how its readers get a file from outside.
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


def select(
    store: Store, job: str, name: str, *, node: str | None, disposition: str | None
) -> FileTotals:
    """Select files by job and name, both with wildcards, and filters."""
    _begin(store)
    store.change("choose_files", job=job, name=name, node=node, disposition=disposition)
    return weight(store)


def select_results(store: Store, job: str, name: str) -> FileTotals:
    """Select the final outputs of a job by name, with wildcards."""
    _begin(store)
    store.change("choose_results", job=job, name=name)
    return weight(store)


def select_of_jobs(store: Store, jobs: Sequence[str], limit: int) -> FileTotals:
    """Select files that are lost with jobs: neither results nor stored; at most so many of each."""
    _begin(store)
    for job in jobs:
        store.change("choose_job_files", job=job, limit=limit)
    return weight(store)


def _begin(store: Store) -> None:
    """Begin a new selection, also in a connection that only reads."""
    store.run_script("temporary_choice")
    store.empty("selected_file")


def weight(store: Store) -> FileTotals:
    """Count the selected files and their bytes."""
    row = store.row("weigh_selected_files")
    assert row is not None
    return FileTotals(row["files"], int(row["present"] or 0), int(row["bytes"]))


def keep_removable(store: Store) -> int:
    """Keep the selected files with a copy that may be removed; return how many are needed."""
    store.change("spare_absent_files", cache=f"{store.home.cache}/")
    return store.change("spare_needed_files")


def largest(store: Store, limit: int) -> tuple[tuple[str, int | None], ...]:
    """Return the largest of the selected files, with their sizes."""
    rows = store.rows("largest_selected_files", limit=limit)
    return tuple((f"{row['job']}:{row['name']}", row["size"]) for row in rows)


def pages(store: Store, limit: int) -> Iterator[FileRow]:
    """Yield the selected files by their age; at most so many, all of them with 0."""
    after, left = 0, limit or None
    while left is None or left > 0:
        rows = store.rows("files_page", after=after, limit=min(PAGE, left or PAGE))
        if not rows:
            return
        for row in rows:
            file = FileRow._make(row)
            yield file._replace(
                stored=json.loads(row["stored"] or "[]"),
                acquired=json.loads(row["acquired"]),
                copies=json.loads(row["copies"]),
            )
        after = rows[-1]["id"]
        left = None if left is None else left - len(rows)


def dispositions(store: Store) -> list[str | None]:
    """Return the different dispositions that people gave to the selected files."""
    return [row[0] for row in store.rows("previous_dispositions")]


def set_disposition(store: Store, disposition: str | None) -> None:
    """Set the disposition of the selected files, None for that of the job file."""
    store.change("give_disposition", disposition=disposition)
    store.change("spare_no_more")
    store.change("look_again")
