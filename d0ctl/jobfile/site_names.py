"""What a job file may name that lies outside of it."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class KnownNames:
    """Names that the site knows; None stands for a kind that is not checked.

    `software` has the titles of the catalogue, and whether they bring a script of their own;
    `transfer` has the schemes for which the site has commands, and whether to fetch or to store.
    `produced(job, name)` tells whether a job makes a file, and None where there is no such job.
    """

    nodes: Collection[str] | None = None
    software: Mapping[str, bool] | None = None
    transfer: Mapping[str, Collection[str]] | None = None
    produced: Callable[[str, str], bool | None] | None = None


NOTHING_KNOWN = KnownNames()
"""Checks what lies in the job file and beside it, and nothing else."""
