"""Packages on whose files others depend, and that failed since then or are out of date."""

import json
from typing import NamedTuple

from d0ctl.store.connection import Store
from d0ctl.store.files.edited_files import MOST_LOOKED_AT, MOST_READ, present_checksums

MOST_FAILED = 1000
"""How many failed packages of a job, and of those that it reads, are looked at."""

MOST_FOLLOWED = 10_000
"""How many packages are looked at that depend on these."""

MOST_ABOVE = 2000
"""How many of the packages on whose files a package depends are looked at."""


class FailedMakers(NamedTuple):
    """How many successful packages depend on files of how many that did not succeed again."""

    readers: int
    makers: int
    first: str
    """One of the latter."""
    has_failed: bool
    """Whether all of these have failed; else some were canceled."""


def failed_makers(store: Store, job: int, package: int | None = None) -> FailedMakers | None:
    """Return on which failed packages successful ones of a job depend, or one of these.

    None if there are none.
    """
    row = store.row("failed_makers", job=job, package=package, most_failed=MOST_FAILED,
                    limit=MOST_FOLLOWED)  # fmt: skip
    if row is None or not row["readers"]:
        return None
    first = store.value("path_of", package=row["first"])
    return FailedMakers(row["readers"], row["makers"], str(first), bool(row["has_failed"]))


class StaleMakers(NamedTuple):
    """The first of the packages that are out of date, and how many there are."""

    first: str
    number: int


def stale_makers(store: Store, package: int) -> StaleMakers | None:
    """Return the packages on whose files a package depends, also by others, and that are out of
    date or have read earlier contents of files; None if there are none.
    """
    above = store.select([])
    above.change("choose_makers_above", package=package, limit=MOST_ABOVE)
    edited = present_checksums(above.rows("sources_of_selected", limit=MOST_LOOKED_AT), MOST_READ)
    row = above.row("stale_of_selected", edited=json.dumps(edited))
    return StaleMakers(*row) if row else None
