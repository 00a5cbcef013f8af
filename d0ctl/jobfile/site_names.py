"""Names of nodes, software and other jobs that a job file may use."""

from collections.abc import Callable, Collection, Mapping

from msgspec import Struct


class KnownNames(Struct, frozen=True):
    """Names that the site knows; names of a kind that is None are not checked.

    `software` has the titles of the catalogue, and whether they have a script; `transfer` has
    the schemes for which the site has commands, and whether these fetch or store.
    `merge` has the commands that merge files, by the end of their names.
    `produced(job, name)` tells whether a job makes a file, None if there is no such job.
    """

    nodes: Collection[str] | None = None
    software: Mapping[str, bool] | None = None
    transfer: Mapping[str, Collection[str]] | None = None
    merge: Mapping[str, str] | None = None
    produced: Callable[[str, str], bool | None] | None = None


NOTHING_KNOWN = KnownNames()
"""Only the job file and the files beside it are checked."""
