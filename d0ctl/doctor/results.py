"""Whether results/ and cache/ agree with the database."""

import os
import shlex
import stat
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

from d0ctl.doctor.finding import Finding, repaired_at_start
from d0ctl.dropbox import LEFT_BEHIND_S
from d0ctl.nodes.inventory import is_another
from d0ctl.select.condense import condense
from d0ctl.store import Store
from d0ctl.store.checks.belongings import KnownCopy, KnownResult, copies, makers, results
from d0ctl.store.jobs import removal
from d0ctl.store.jobs.unneeded_files import STRAY_S, unrecorded_files
from d0ctl.store.nodes.site import other_home
from d0ctl.units import count
from d0ctl_wrapper.host import packing
from d0ctl_wrapper.protocol import stamp
from d0ctl_wrapper.protocol.checksum import digest_by

MISSED = "it is copied or made again when a package needs it"

OUTSIDE = "it came from outside"

GONE, RESIZED, REWRITTEN = "does not exist", "has another size now", "has other contents now"
"""How a result can differ from the one that was delivered."""

OF_SEVERAL = {
    GONE: "do not exist", RESIZED: "have other sizes now", REWRITTEN: "have other contents now",
}  # fmt: skip
"""The same of several results."""

COST = "--dry-run counts the packages"
"""What to look at first: packages whose outputs were removed run again, too."""

MOST_SELECTORS = 10
"""How many selectors a command names."""

MOST_READ = 1_000_000_000
"""How many bytes of results are read that were written after their delivery."""

MOST = 20
"""How many files are listed one by one."""


def deliveries(store: Store, now: float, *, checksums: bool = False) -> Iterator[Finding]:
    """Missing and changed files in results/, and files there that belong to no job."""
    known: dict[str, set[str]] = defaultdict(set)
    folder = store.home.results
    jobs = _jobs(folder)
    comparison = _Comparison(checksums)
    faulty: dict[tuple[str, str], list[KnownResult]] = defaultdict(list)
    for row in results(store):
        # of a million files few may be results: only these are worth a path
        if row.job in jobs:
            known[row.job].add(row.name)
        path = store.home.result(row.job, row.name)
        if (row.is_copy or row.is_due) and (fault := comparison.fault(path, row)):
            faulty[row.job, fault].append(row)
    files = sum(map(len, faulty.values()))
    source = _source(store) if files and not jobs else None
    if source or not folder.is_dir():
        yield _no_folder(store, files, source)
        return
    for (job, fault), rows in faulty.items():
        yield _not_as_delivered(store, job, fault, rows)
    for job, names in known.items():
        yield from _unknown(store.home.results / job, names, now)


def _source(store: Store) -> Path | None:
    """Return the results of the home of which this is a copy; None if there are none."""
    other = other_home(store)
    source = None if other is None else Path(other.root, store.home.results.name)
    return source if source and _jobs(source) else None


def _jobs(folder: Path) -> set[str]:
    """Return the jobs that have results in a folder; none if there is no such folder."""
    paths = folder.iterdir() if folder.is_dir() else ()
    return {path.name for path in paths if not path.name.startswith(".")}


def _no_folder(store: Store, files: int, source: Path | None) -> Finding:
    """Say that the folder of all results is missing or empty, and how many of them it had."""
    folder = store.home.results
    make = shlex.join(["mkdir", "-m", "700", str(folder)])
    if not files:
        return Finding("results", str(folder), "is missing", make)
    them, were = ("it", "was") if files == 1 else ("them", "were")
    lacks = "is empty, but" if folder.is_dir() else "is missing, and"
    detail = f"{lacks} {count(files, 'file')} {were} delivered there"
    if source:
        return Finding("results", str(folder), detail,
                       shlex.join(["cp", "-a", str(source), str(folder.parent)]))  # fmt: skip
    return Finding("results", str(folder), detail,
                   f"put it back, or mount its disk; if it is lost: {make}, then `d0ctl doctor` "
                   f"says how to make {them} again")  # fmt: skip


class _Comparison:
    """Compares results with those that were delivered.

    Those written after their delivery are read, too, until MOST_READ bytes; with `checksums` all.
    """

    def __init__(self, checksums: bool) -> None:
        self._checksums = checksums
        self._left = MOST_READ

    def fault(self, path: Path, row: KnownResult) -> str:
        """Return how a file differs from the one that was delivered; empty if it does not."""
        try:
            status = path.lstat()
            if stat.S_ISDIR(status.st_mode) and row.checksum:
                return REWRITTEN if self._is_other_folder(os.fsencode(path), row) else ""
            if not stat.S_ISREG(status.st_mode):
                return ""
            if row.size not in (None, status.st_size):
                return RESIZED
            is_other = row.checksum and self._is_read(status.st_size, status.st_mtime, row) and (
                _digest(str(path), row.checksum) != row.checksum)  # fmt: skip
        except OSError:
            return GONE
        return REWRITTEN if is_other else ""

    def _is_other_folder(self, folder: bytes, row: KnownResult) -> bool:
        if not self._is_read(packing.size(folder), packing.changed(folder), row):
            return False
        try:
            return packing.is_other(folder, row.checksum or "")
        except packing.NotPackable:
            return True

    def _is_read(self, size: int, written: float, row: KnownResult) -> bool:
        if self._checksums:
            return True
        if row.delivered is None or written <= row.delivered:
            return False
        self._left -= size
        return self._left >= 0


def _not_as_delivered(store: Store, job: str, fault: str, rows: Sequence[KnownResult]) -> Finding:
    """Say which results of a job are gone or changed, and how its packages make them again."""
    first = store.home.result(job, rows[0].name)
    selectors = [str(part) for part in condense(makers(store, [row.id for row in rows]))]
    more = " # and others" if len(selectors) > MOST_SELECTORS else ""
    again = f"d0ctl set-status {' '.join(selectors[:MOST_SELECTORS])} unscheduled{more}"
    if len(rows) == 1:
        put_back = f"put it back, or make it again ({COST})"
        return Finding("results", str(first), f"was delivered, but {fault}", f"{put_back}: {again}")
    files = count(len(rows), "file")
    detail = f"{files} were delivered, but {OF_SEVERAL[fault]}, such as `{rows[0].name}`"
    return Finding("results", str(store.home.results / job), detail,
                   f"put them back, or make them again ({COST}): {again}")  # fmt: skip


def _unknown(folder: Path, names: set[str], now: float) -> Iterator[Finding]:
    """Unknown files in the folder of a job that still exists; a removed job left its own."""
    inside = tuple(name for name in names if name.endswith("/"))
    paths = ((path, str(path.relative_to(folder))) for path in _walk(folder, now))
    found = [path for path, name in paths if name not in names and not name.startswith(inside)]
    if found:
        detail = f"{count(len(found), 'file')} that the job did not deliver, such as "
        detail += f"`{found[0].relative_to(folder)}`"
        yield Finding("results", str(folder), detail, f"mv it elsewhere, out of {folder}")


def _walk(folder: Path, now: float) -> Iterator[Path]:
    for directory, _, names in os.walk(folder):
        for path in (Path(directory, name) for name in sorted(names)):
            if not (path.name.startswith(".") and _is_young(path, now)):
                yield path


def _is_young(path: Path, now: float) -> bool:
    """Return whether a file may still be on its way to its final name."""
    try:
        return path.lstat().st_mtime > now - LEFT_BEHIND_S
    except OSError:
        return True


def in_transit(store: Store) -> Iterator[Finding]:
    """Yield folders of files in transit for jobs that are gone."""
    jobs = removal.job_ids(store)
    for path in store.home.cache.glob("[0-9]*"):
        if path.name.isdigit() and int(path.name) not in jobs:
            yield repaired_at_start("transit", str(path), "belongs to a job that was removed")


def copies_here(store: Store, *, checksums: bool) -> Iterator[Finding]:
    """Yield copies in cache/ that differ from their records, and unknown files there."""
    findings = []
    for row in copies(store, None):
        if store.home.is_in_cache(row.path) and (fault := _against(row, checksums)):
            findings.append(fault)
    yield from findings[:MOST]
    if len(findings) > MOST:
        more = count(len(findings) - MOST, "more copy is not as it was recorded",
                     "more copies are not as they were recorded")  # fmt: skip
        yield Finding("copy", str(store.home.cache), more, MISSED)
    strays = unrecorded_files(store, before=time.time() - STRAY_S)
    for path in strays[:MOST]:
        yield repaired_at_start("orphan", path, "is not a copy that the database knows")
    if len(strays) > MOST:
        more = f"{count(len(strays) - MOST, 'more file')} that the database does not know"
        yield repaired_at_start("orphan", str(store.home.cache), more)


def _against(row: KnownCopy, checksums: bool) -> Finding | None:
    """Return what is wrong with a copy on this machine; None if it is as recorded."""
    path = row.path
    try:
        status = os.lstat(path)
        if is_another(row, {"size": status.st_size, **stamp.of(status)}):
            return Finding("copy", path, "was changed since it was copied there", MISSED)
        if checksums and row.checksum and _digest(path, row.checksum) != row.checksum:
            advice = f"d0ctl set-status {row.maker} unscheduled" if row.maker else OUTSIDE
            return Finding("contents", path, "has changed: its checksum differs", advice)
    except OSError:
        return Finding("copy", path, "is recorded as a copy, but does not exist", MISSED)
    return None


def _digest(path: str, asked: str) -> str:
    return digest_by(os.fsencode(path), asked, lambda: None)[0]
