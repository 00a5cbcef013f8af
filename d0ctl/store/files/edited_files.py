"""Files from outside that were changed after d0ctl had copied them to packages."""

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from d0ctl.store.connection import Row, Selection, Store
from d0ctl.store.files import copies, mixed_inputs
from d0ctl.store.files.archived_results import later_job
from d0ctl.store.files.earlier_readers import EarlierReaders

MOST_READ = 1_000_000
"""The largest touched file whose checksum commands calculate that do not ask for it, in bytes."""

MOST_LOOKED_AT = 1000
"""How many of the files that a package has read are looked at."""

MOST_COMPARED = 50
"""How many files that a package has read are compared with what it has read: a page is drawn anew
every second.
"""

Edited = Mapping[int, str | None]
"""Files that have other contents than the known ones, by their ids, and their present checksums."""


class OutdatedCopy(NamedTuple):
    """A copy of an earlier version of a file."""

    file: int
    cluster: int
    name: str


def outdated_copies(selected: Selection) -> list[OutdatedCopy]:
    """Return outdated copies of files that the selected packages read; ask the disk for each."""
    earlier = []
    for row in selected.rows("copies_of_sources"):
        state = _state(row["name"])
        if state and (_has_other_size(state, row) or state.changed > row["made"]):
            earlier.append(OutdatedCopy(row["file_id"], row["cluster_id"], row["name"]))
    return earlier


def changed_sources(selected: Selection, outdated: Iterable[OutdatedCopy]) -> list[str]:
    """Return the files from outside that were changed since they were copied for the selected
    packages, as these `outdated` copies, or read in their place.
    """
    rows = selected.rows("sources_of_selected", limit=MOST_LOOKED_AT)
    read = {row["name"] for row in rows if _is_edited(row["name"], row, MOST_READ)}
    return sorted(read.union(copy.name for copy in outdated))


def copy_anew(store: Store, outdated: Sequence[OutdatedCopy], *, now: float) -> None:
    """Forget outdated copies: packages that start later get the files as they are.

    All packages that read them do, not only the selected ones; running ones keep what they have.
    """
    if outdated:
        store.empty("lost_copy")
        lost = [(copy.file, copy.cluster) for copy in outdated]
        store.change_many("suspect_copy", lost)
        store.change_many("lose_copy", lost)
        copies.remake(store, now=now)


def renew_copies(selected: Selection, *, now: float) -> None:
    """Let packages that start later get the files that the selected ones read as they are now."""
    copy_anew(selected.store, outdated_copies(selected), now=now)


def readers_of_earlier(store: Store, job: int) -> dict[int, tuple[str, ...]]:
    """Return the packages that have read earlier contents of files, and the names of these."""
    edited = present_checksums(store.rows("sources_of_job", job=job), None)
    rows = store.rows("readers_of_earlier", job=job, edited=json.dumps(edited))
    found = dict[int, tuple[str, ...]]()
    for row in rows:
        found[row["package_id"]] = (*found.get(row["package_id"], ()), row["name"])
    return found


class Contents(NamedTuple):
    """A file from outside as it is now."""

    file: int
    size: int
    checksum: str


def present_contents(store: Store, job: int) -> list[Contents]:
    """Return the files from outside that were changed since packages of a job read them."""
    return [
        Contents(row["id"], *contents)
        for row in store.rows("sources_of_job", job=job)
        if _is_edited(row["name"], row) and (contents := _contents(row["name"]))
    ]


def take(readers: Selection, contents: Sequence[Contents], *, now: float) -> None:
    """Let the present contents of files that the selected packages have read be the known ones.

    The others have read earlier contents from now on.
    """
    renew_copies(readers, now=now)
    for of in contents:
        readers.change("take_contents", file=of.file, size=of.size, checksum=of.checksum, now=now)


def done_with_earlier(store: Store, job: int) -> dict[str, EarlierReaders]:
    """Return the packages that have succeeded with earlier contents of each file.

    Files from outside are looked at. Packages that an update left as they are, are not counted
    again, unless a file that they have read was made again with other contents.
    """
    return _done_with(store, job, edited_sources(store, job))


def selected_with_earlier(selected: Selection, edited: Edited) -> dict[str, int]:
    """Return how many selected packages have succeeded with earlier contents of `edited` files."""
    rows = selected.rows("selected_with_earlier", edited=json.dumps(edited))
    return {row["name"]: row["packages"] for row in rows}


def excuse_readers(store: Store, returned: Sequence[int]) -> None:
    """Forget that packages are out of date that read the contents that files have again."""
    store.empty("excused_package")
    if returned and store.change("choose_excused", returned=json.dumps(returned)):
        sources = store.rows("sources_of_excused", limit=MOST_LOOKED_AT + 1)
        if len(sources) <= MOST_LOOKED_AT:
            edited = [row["id"] for row in sources
                      if _is_edited(row["name"], row, MOST_READ, if_large=True)]  # fmt: skip
            store.change("excuse", edited=json.dumps(edited))


def excuse_readers_of_put_back(store: Store, known: Mapping[int, float]) -> dict[int, float]:
    """Forget the same of readers of files that had other contents meanwhile, read by no package.

    Returns when each file was touched that has the contents read; `known` is the last answer.
    """
    found = dict[int, float]()
    for row in store.rows("sources_of_outdated", limit=MOST_LOOKED_AT):
        state = _state(row["name"])
        if state is not None and state.changed > row["submitted"] and (
            known.get(row["id"]) == state.changed
            or not _is_edited(row["name"], row, MOST_READ, if_large=True)
        ):  # fmt: skip
            found[row["id"]] = state.changed
    excuse_readers(store, [file for file in found if found[file] != known.get(file)])
    return found


def edited_sources(store: Store, job: int) -> Edited:
    """Return the files from outside that were changed since packages of a job read them."""
    return present_checksums(store.rows("sources_of_job", job=job), MOST_READ)


def done_before_replaced(
    store: Store, job: int, stage: int | None = None, line: int | None = None
) -> dict[str, EarlierReaders]:
    """Return the same of a job, or of a part, for the changes that the database knows of; no other
    files are looked at.
    """
    rows = [row for row in store.rows("sources_of_job", job=job) if row["replaced"]]
    return _done_with(store, job, present_checksums(rows, MOST_READ), stage, line)


def _done_with(
    store: Store, job: int, edited: Edited, stage: int | None = None, line: int | None = None
) -> dict[str, EarlierReaders]:
    rows = store.rows("done_with_earlier", job=job, edited=json.dumps(edited), stage=stage,
                      line=line)  # fmt: skip
    return {
        row["name"]: EarlierReaders(
            row["packages"],
            mixed_inputs.part_to_rerun(store, row["part"]),
            may_read_others(store, row["first"]),
            later_job(store, row["name"], row["last_ended"]),
        )
        for row in rows
    }


def may_read_others(store: Store, package: int) -> bool:
    """Return whether a package may read other files once its job is updated, as another job from
    which it reads has got or lost lines since; so that update has to come first.
    """
    return store.row("may_read_others", package=package) is not None


def earlier_read_by(store: Store, package: int) -> list[str]:
    """Return the files of which a package has succeeded with earlier contents, likewise."""
    sources = store.rows("sources_of_package", package=package, limit=MOST_LOOKED_AT)
    edited = present_checksums(sources, MOST_READ)
    rows = store.rows("earlier_read_by", package=package, edited=json.dumps(edited))
    return [row["name"] for row in rows]


class Present(NamedTuple):
    """A file from outside that has other contents now than the known ones."""

    size: int | None
    """None for a directory."""
    is_read: bool
    """Whether the last attempt at a package has read these contents."""


def edited_since_read(store: Store, package: int) -> dict[str, Present]:
    """Return the first files from outside that a package reads and that were changed, by name."""
    sources = store.rows("sources_of_package", package=package, limit=MOST_COMPARED)
    edited = {} if store.home.archive else present_checksums(sources, MOST_READ)
    if not edited:
        return {}
    rows = store.rows("edited_since_read", package=package, edited=json.dumps(edited))
    others = {row["file_id"] for row in rows}
    states = {row["name"]: (row["id"], _state(row["name"])) for row in sources}
    return {name: Present(None if state.is_folder else state.size, file not in others)
            for name, (file, state) in states.items() if state and file in edited}  # fmt: skip


def present_checksums(rows: Iterable[Row], most: int | None) -> dict[int, str | None]:
    """Return which files have other contents than the known ones, and their checksums.

    A checksum is None if it is not needed, as the file had no other contents before: then no
    package has read the present ones.
    """
    found = {}
    for row in rows:
        if _is_edited(row["name"], row, most):
            state = _state(row["name"])
            is_read = row["has_former"] and state and (most is None or state.size <= most)
            found[row["id"]] = _checksum(row["name"]) if is_read else None
    return found


def _is_edited(path: str, known: Row, most: int | None = None, *, if_large: bool = False) -> bool:
    """Return whether a file has other contents.

    It is read only if it was touched, and not if it has more than `most` bytes: that is `if_large`.
    """
    state = _state(path)
    if state is None or _has_other_size(state, known):
        return state is not None
    if state.changed <= known["submitted"]:
        return False
    if most is not None and state.size > most:
        return if_large
    return _checksum(path) not in (None, known["checksum"])


class _State(NamedTuple):
    """The bytes of a file, or of the files in a directory, and when they were changed last.

    The known size of a directory is that of the file into which it is packed.
    """

    size: int
    changed: float
    is_folder: bool = False


def _has_other_size(state: _State, known: Row) -> bool:
    return not state.is_folder and state.size != known["size"]


def _state(path: str) -> _State | None:
    try:
        if path.endswith("/"):
            from d0ctl_wrapper.host import packing  # late: few inputs are directories

            folder = os.fsencode(path)
            return _State(packing.size(folder), packing.changed(folder), is_folder=True)
        status = Path(path).stat()
        return _State(status.st_size, status.st_ctime)
    except OSError:
        return None


def _contents(path: str) -> tuple[int, str] | None:
    """Return the size and the checksum of a file; of a directory those of its packed file."""
    try:
        if path.endswith("/"):
            from d0ctl_wrapper.host import packing

            return packing.digest(os.fsencode(path))
        from d0ctl_wrapper.protocol.checksum import digest_by  # late: hashlib takes 2 ms to import

        return Path(path).stat().st_size, digest_by(os.fsencode(path), None, lambda: None)[1]
    except (OSError, ValueError):  # a directory that can't be packed
        return None


def _checksum(path: str) -> str | None:
    contents = _contents(path)
    return contents[1] if contents else None
