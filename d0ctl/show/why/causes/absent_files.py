"""Files of a package that should be on this machine, and whether they exist now.

Those that a running package has read are not looked up, and only some of the others: a page must
not wait for many files of a slow disk.
"""

import json
import os
from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from d0ctl.store.connection import Store
from d0ctl.store.files import archived_results
from d0ctl.store.views import browse, file_locations, one_package
from d0ctl.store.views.shapes.of_package import InputView, OutputView, PackageView

MOST = 50
"""How many files are looked up."""

NOT_HERE, NOT_IN_RESULTS = "does not exist", "missing from results/"
"""How a file from outside, or of results/, is absent."""

_RESULT = "control:"
"""How the place of a copy in results/ begins."""


def marked(
    store: Store, package: PackageView, files: Sequence[InputView], message: str
) -> list[InputView]:
    """Return inputs, missing ones first; those from here that do not exist now are missing.

    `message` is that of the attempt that did not find one of them; without one, a copy on a node
    is enough.
    """
    exist = _looked_up(store, package, files, message)
    gone = {
        name
        for name in exist
        if not exist[name] and (message or not _is_copied(store, package.job, name))
    }
    marked = [
        replace(file, present=0, absence=NOT_HERE)
        if _is_from_here(file) and file.name in gone
        else file
        for file in files
    ]
    marked[:MOST] = map(_in_results, marked[:MOST])
    return sorted(marked, key=lambda file: file.present)


def marked_outputs(
    store: Store, package: PackageView, files: Sequence[OutputView]
) -> list[OutputView]:
    """Return outputs; those that were delivered to results/, and are not there now, are absent."""
    return [
        replace(file, absence=NOT_IN_RESULTS, places=_others(file))
        if number < MOST
        and not file.late
        and (_is_missing(store, package, file) if store.home.archive else _is_removed(file))
        else file
        for number, file in enumerate(files)
    ]


def _in_results(file: InputView) -> InputView:
    """Return an input; it is absent if its only copy was in results/, and is not there now."""
    is_only = len(_copies(file)) == 1 and bool(file.maker_path)
    return replace(file, absence=NOT_IN_RESULTS) if is_only and _is_removed(file) else file


def _is_missing(store: Store, package: PackageView, file: OutputView) -> bool:
    """Return whether a result of an archive, which has no record of copies, is not there now."""
    is_delivered = bool(file.result and file.present) and not file.stored_at
    recorded = package.job, file.name, file.size, file.checksum
    return is_delivered and archived_results.path(store.home, *recorded) is None


def _others(file: OutputView) -> str:
    return json.dumps([path for path in _copies(file) if not path.startswith(_RESULT)])


def _copies(file: InputView | OutputView) -> list[str]:
    return list(json.loads(file.places))


def _is_removed(file: InputView | OutputView) -> bool:
    delivered = [path for path in _copies(file) if path.startswith(_RESULT)]
    return bool(delivered) and not os.path.lexists(delivered[0].removeprefix(_RESULT))


def found_again(store: Store, package: PackageView, message: str) -> list[str]:
    """Return the names of the files that an attempt did not find, if all exist now."""
    exist = _looked_up(store, package, one_package.inputs(store, package.id), message)
    return [name for name in exist if _is_named(name, message)] if all(exist.values()) else []


def _looked_up(
    store: Store, package: PackageView, files: Sequence[InputView], message: str
) -> dict[str, bool]:
    """Return whether files exist, those first that the message names."""
    names = dict.fromkeys(file.name for file in files if _is_from_here(file))
    first = sorted(names, key=lambda name: not _is_named(name, message))[:MOST]
    directory = browse.directory(store, package.job_id)
    return {name: Path(directory, name).exists() for name in first}


def _is_from_here(file: InputView) -> bool:
    """Return whether d0ctl copies a file from this machine."""
    is_made = bool(file.maker_path or file.own or file.dropped or file.file_dropped)
    return not is_made and file.acquire == "pre-fetch" and file.locator is None


def _is_copied(store: Store, job: str, name: str) -> bool:
    found = file_locations.find(store, name, job=job)
    return any(file_locations.copies(store, file.id) for file in found)


def _is_named(name: str, message: str) -> bool:
    return f"{name}`" in message
