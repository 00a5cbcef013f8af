"""How a job file reads files of a job that was moved to an archive: by their paths in results/."""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from functools import cache
from glob import escape
from pathlib import Path

from d0ctl.config import Home
from d0ctl.jobfile.language.file_names import path_below
from d0ctl.jobfile.local_files import Globs
from d0ctl.jobfile.site_names import OtherInput
from d0ctl.store.connection import Row, Store
from d0ctl.store.files import archived_results
from d0ctl.store.opening import open_store
from d0ctl.store.views import names
from d0ctl.units import listed

MOST_GLOBS = 3
"""How many patterns are advised for the files of a stage."""


def lookup(store: Store) -> Callable[[OtherInput], str | None]:
    """Return what says where a job is that was archived, and how such an input of it is read."""
    archive_of = cache(lambda job: names.archived(store, job))
    stage_files = cache(lambda home, job, stage: _stage_files(home, job, stage))

    def answer(wanted: OtherInput) -> str | None:
        if (error := archive_of(wanted.job)) is None:
            return None
        home = Home(store.home.root, archive=error.archive)
        what = f"file `{wanted.file}`" if wanted.file else f"stage `{wanted.stage}`"
        rows = stage_files(home, wanted.job, wanted.stage) if wanted.stage else _file(home, wanted)
        if rows is None:
            return f"{error}: it has no {what}"
        if match := _wide(wanted.match or "") if wanted.is_varying else wanted.match:
            rows = [row for row in rows if fnmatchcase(row["name"], match)]
        folders = {row["name"]: _folder(home, wanted.job, row) for row in rows}
        counted = Counter(filter(None, folders.values()))
        if not counted:
            return f"{error}, but results/ does not have {'' if wanted.file else 'files of '}{what}"
        folder = max(counted, key=counted.__getitem__)
        there = [name for name in folders if folders[name] == folder]
        lacking = len(rows) - len(there)
        without = f"; {lacking:,} more of its files are not in {folder}" if lacking else ""
        return f"{error}: {_advice(folder, wanted, there)}{without}"

    return answer


def _wide(text: str) -> str:
    """Return a pattern of all files that a text takes in any line of its loop."""
    return re.sub(r"\{[^{}]*\}", "*", text)


def _stage_files(home: Home, job: str, stage: str) -> Sequence[Row] | None:
    with open_store(home, read_only=True) as archive:
        stages = archive.rows("stages_named", job=job)
        ids = [row["id"] for row in stages if stage in (row["name"], str(row["seq"]))]
        if not ids:
            return None
        rows = archive.rows("stage_outputs", stage=ids[0], job=None)
    return [row for row in rows if not row["late"]]


def _file(home: Home, wanted: OtherInput) -> Sequence[Row] | None:
    with open_store(home, read_only=True) as archive:
        row = archive.row("file_of_job", job=wanted.job, name=wanted.file)
    return None if row is None else [row]


def _folder(home: Home, job: str, row: Row) -> Path | None:
    """Return the folder that has a file; None if it is no result, or not there."""
    if not (row["result"] and row["present"]):
        return None
    return archived_results.folder_with(home, job, row["name"], row["size"], row["checksum"])


def _advice(folder: Path, wanted: OtherInput, there: Sequence[str]) -> str:
    """Return the narrowest text that reads these files."""
    below = {path_below(name) for name in there}
    renamed = f", as: {below.pop()}" if len(below) == 1 and below != {None} else ""
    if wanted.file:
        path = _quoted(f"{folder}/{wanted.file}")
        return f"write `{{file: {path}{renamed}}}`" if renamed else f"write `{path}`"
    patterns = _patterns(folder, wanted, there)
    if not patterns:
        return f"name its files in {folder}, as no pattern matches only these"
    order = ", sorted by name" if len(patterns) == 1 and sorted(there) != there else ""
    return f"write {listed(f'`glob: {_quoted(glob)}{renamed}`' for glob in patterns)}{order}"


def _quoted(text: str) -> str:
    """Return a text for a list or mapping of YAML."""
    return (
        text if re.fullmatch(r"/[\w./*?+=-]+", text) else f"'{text.replace(chr(39), chr(39) * 2)}'"
    )


def _patterns(folder: Path, wanted: OtherInput, there: Sequence[str]) -> Sequence[str]:
    """Return patterns that match exactly these results; none if that takes too many."""
    globs, prefix = Globs(""), f"{escape(str(folder))}/"
    exact = {f"{folder}/{name}" for name in there}
    names = [escape(name) for name in there]
    shapes = list(dict.fromkeys(re.sub(r"[0-9]+", "*", name) for name in names))
    candidates = [names[:1], shapes[:1], ["*"], shapes[:MOST_GLOBS], names[:MOST_GLOBS]]
    if wanted.match:
        in_folder = f"{there[0].rpartition('/')[0]}/{wanted.match}".lstrip("/")
        candidates = [[wanted.match], [in_folder], *([] if wanted.is_varying else candidates)]
    for candidate in candidates:
        patterns = [prefix + pattern for pattern in candidate]
        wide = [_wide(pattern) if wanted.is_varying else pattern for pattern in patterns]
        if exact == {name for pattern in wide for name in globs.matching(pattern)}:
            return patterns
    return []
