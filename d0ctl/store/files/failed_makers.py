"""Packages that failed after others had succeeded with files which they made before."""

from typing import NamedTuple

from d0ctl.store.connection import Store

MOST_FAILED = 1000
"""How many failed packages of a job, and of those that it reads, are looked at."""

MOST_FOLLOWED = 10_000
"""How many packages are looked at that depend on these."""


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
