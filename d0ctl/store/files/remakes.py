"""Packages of other jobs that run again because packages are to read their files."""

import json
import os
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from shlex import quote

from msgspec import Struct

from d0ctl.errors import Refused
from d0ctl.jobfile.language.file_names import foreign
from d0ctl.store.connection import Row, Selection, Store
from d0ctl.store.rows import make_all
from d0ctl_wrapper.protocol.checksum import is_rewritten


class Remade(Struct, frozen=True):
    """How many packages of a job run again, and whether the job has ended."""

    job: str
    packages: int
    has_ended: int


class Remakes(Struct, frozen=True):
    """Files of which no good copy is left, and the packages that run again to make them.

    Those that are `resized`, `rewritten` or `missing` on this machine were changed or removed by
    hand, and have paths; of the others, `JOB:NAME`, no copy is recorded.
    """

    resized: Sequence[str]
    rewritten: Sequence[str]
    missing: Sequence[str]
    unrecorded: Sequence[str]
    packages: Sequence[Remade]


def remakes(store: Store, files: Iterable[str]) -> Remakes | None:
    """Return what reading these files, `JOB:NAME`, runs again; None if nothing.

    Contents are compared only of files that were written after their delivery.
    """
    lost: dict[str, list[str]] = {"resized": [], "rewritten": [], "missing": [], "unrecorded": []}
    ids = []
    for row in store.rows("made_files", files=json.dumps([*map(foreign, files)])):
        if (how := _how_lost(row)) is not None:
            ids.append(row["id"])
            lost[how].append(row["here"] or f"{row['job']}:{row['name']}")
    if not ids:
        return None
    return Remakes(packages=_remade(store, ids), **lost)


def remakes_for(selected: Selection) -> Remakes | None:
    """Return what the selected packages run again in other jobs, once they are to run; None if
    nothing: the makers of removed files that they read, or that packages read which run for them.
    """
    rows = selected.rows("removed_of_other_jobs")
    if not rows:
        return None
    names = [f"{row['job']}:{row['name']}" for row in rows]
    return Remakes((), (), (), names, _remade(selected.store, [row["id"] for row in rows]))


def _remade(store: Store, files: Sequence[int]) -> list[Remade]:
    """Count the packages that run again to make files."""
    return make_all(Remade, store.rows("packages_to_remake", files=json.dumps(files)))


def _how_lost(row: Row) -> str | None:
    """Return in which way the last copy of a file is lost; None if there is a good one."""
    if not row["present"]:
        return "unrecorded"
    if row["here"] is None or row["is_elsewhere"]:
        return None
    path, checksum = row["here"], row["checksum"]
    try:
        length = Path(path).stat().st_size
        if path.endswith("/"):
            return None
        if row["size"] not in (None, length):
            return "resized"
        is_other = checksum is not None and is_rewritten(os.fsencode(path), row["made"], checksum)
    except OSError:
        return "missing"
    return "rewritten" if is_other else None


def check_inputs(selected: Selection, back: Collection[int]) -> None:
    """Raise Refused if a successful package that is selected, or has made removed inputs of these,
    needs a dropped file of a package that is not `back`.
    """
    if row := selected.row("running_without", back=json.dumps([*back])):
        raise would_lack(row["path"], f"{row['job']}:{row['file']}", is_dropped=row["is_dropped"])


def would_lack(path: str, file: str, *, is_dropped: bool = False) -> Refused:
    """Refuse to run a successful package again without a file that it needs."""
    drop = f"d0ctl kill-line {path.rpartition('/')[0]} --drop-outputs"
    return Refused(f"`{path}` would run again without `{file}`, which is dropped",
                   hint=f"d0ctl why {quote(file)}" if is_dropped else drop)  # fmt: skip
