"""The removal of jobs: by short transactions, hidden from the start."""

import json
import shutil
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from d0ctl.config import HALF_MADE_S
from d0ctl.errors import Refused
from d0ctl.store.chunks import FIRST_CHUNK, next_size
from d0ctl.store.connection import Row, Store
from d0ctl.store.jobs import results, unneeded_files
from d0ctl.store.nodes.holder import holder, is_dead
from d0ctl.store.views import browse


def sweep(store: Store, *, now: float) -> None:
    """Remove the rows of interrupted submissions and removals, and files of no job."""
    for row in interrupted(store):
        remove_rows(store, row["id"], now=now)
    results.sweep(store.home)
    for path in store.home.half_made(now - HALF_MADE_S):
        path.unlink(missing_ok=True)
    in_transit = [path for path in store.home.cache.glob("[0-9]*") if path.name.isdigit()]
    jobs = job_ids(store) if in_transit else set()
    for path in in_transit:
        if int(path.name) not in jobs:
            shutil.rmtree(path, ignore_errors=True)
    store.home.forget_copies(
        unneeded_files.unrecorded_files(store, before=now - unneeded_files.STRAY_S)
    )


def interrupted(store: Store) -> list[Row]:
    """Return the jobs that a process was submitting or removing when it ended."""
    return [row for row in store.rows("hidden_jobs") if is_dead(row["submitter"])]


def hide(store: Store, jobs: Iterable[int]) -> None:
    """Hide jobs that will be removed; after a crash `sweep` removes them."""
    for job in jobs:
        store.change("hide_job", job=job, holder=holder())


def job_ids(store: Store) -> set[int]:
    """Return the ids of all jobs, including those being submitted or removed."""
    return {row["id"] for row in store.rows("job_ids")}


def check_removal(store: Store, job: int, name: str, past: str = "removed") -> None:
    """Raise Refused while other jobs need files of this one; they are waited for if they move."""
    if needy := in_need(store, job):
        reader = browse.job(store, needy[0]) if browse.has_job(store, needy[0]) else None
        moves = reader is not None and reader.is_open and not (reader.hold or reader.pause)
        raise Refused(
            f"job `{name}` makes files that `{needy[0]}` reads, so it can't be {past}",
            hint=f"d0ctl {'wait' if moves else 'why'} {needy[0]}",
        )


def in_need(store: Store, job: int) -> list[str]:
    """Return the other jobs that need files of a job, which can't be removed."""
    return [row[0] for row in store.rows("jobs_in_need", job=job)]


def readers(store: Store, jobs: Sequence[int]) -> dict[str, int]:
    """Count the packages of other jobs that are canceled with these jobs, whose files they read."""
    found: dict[str, int] = {}
    for job in jobs:
        for row in store.rows("readers_of_jobs", job=job, jobs=json.dumps(jobs)):
            found[row["name"]] = max(row["packages"], found.get(row["name"], 0))
    return found


class OtherReaders(NamedTuple):
    """Other jobs that read files of jobs, and those of them whose packages have read some that go
    with these jobs.
    """

    all: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    by_path: tuple[str, ...] = ()
    """Other jobs with packages that read files in the jobs' folders of results by their paths."""


def other_readers(store: Store, jobs: Sequence[int], *, do_results_go: bool) -> OtherReaders:
    """Return the other jobs that read files of these jobs."""
    rows = [row for job in jobs
            for row in store.rows("other_readers_of_jobs", job=job, jobs=json.dumps(jobs),
                                  results_go=int(do_results_go))]  # fmt: skip
    return OtherReaders(
        tuple(dict.fromkeys(row["name"] for row in rows)),
        tuple(dict.fromkeys(row["name"] for row in rows if row["goes"])),
    )


def remove_rows(store: Store, job: int, *, now: float, folder: Path | None = None) -> None:
    """Remove a job in chunks, recording its files on nodes; `sweep` completes it after a crash.

    Other jobs that have read its files find them in `folder` from now on, its results by default.
    """
    with store.writing():
        hide(store, [job])
    names = {row["id"]: row["name"] for row in store.rows("hidden_jobs")}
    folder = folder or store.home.results / names.get(job, "")
    size = FIRST_CHUNK
    while True:
        began = time.monotonic()
        with store.writing():
            rows = store.rows("job_packages_from", job=job, limit=size)
            if not rows:
                break
            selected = store.select(row[0] for row in rows)
            selected.change("cancel_foreign_consumers", job=job, now=now)
            for query in ("files_left_to_readers", "inputs_left_to_readers"):
                selected.change(query, job=job, folder=f"{folder}/")
            selected.change("drop_foreign_inputs", job=job)
            for query in _REMOVALS:
                selected.change(query)
        size = next_size(size, time.monotonic() - began)
    while True:
        with store.writing():
            if not store.change("delete_empty_lines", job=job, limit=20_000):
                break
    while True:
        with store.writing():
            if not store.change("remove_contents_of_job", job=job, limit=20_000):
                break
    shutil.rmtree(store.home.cache / str(job), ignore_errors=True)
    with store.writing():
        for query in ("outside_to_purge", "delete_outside_locations", "delete_outside_transfers"):
            store.change(query, job=job)
        store.change("delete_outside_files", job=job)
        store.change("delete_job", job=job)


_REMOVALS = (
    "selected_attempts_to_purge",
    "selected_brought_to_purge",
    "delete_inputs_of_selected_files",
    "delete_selected_inputs",
    "delete_selected_locations",
    "delete_selected_transfers",
    "delete_selected_files",
    "delete_selected_binaries",
    "delete_selected_binary_attempts",
    "delete_selected_notes",
    "delete_selected_progress",
    "delete_selected_attempts",
    "delete_selected_events",
    "lower_news_mark",
    "lower_task_cursor",
    "delete_selected_packages",
)
