"""Whether the database keeps its own rules; each query of check.sql lists what breaks one."""

from dataclasses import dataclass

from d0ctl.store.connection import Store

CHECKS = (
    "check_integrity",
    "check_foreign_keys",
    "check_counts",
    "check_ready",
    "check_missing",
    "check_early",
    "check_feed",
    "check_attempts",
    "check_copies",
    "check_released",
    "check_bad_nodes",
    "check_conduct",
    "check_transferring",
    "check_progress",
    "check_hidden",
)
"""The queries, in the order in which they are run."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is wrong, by the name of the rule it breaks."""

    check: str
    subject: str
    detail: str


def faults(store: Store) -> list[Fault]:
    """Everything that is wrong, all of it seen at one moment; a few of each kind."""
    with store.reading():
        return [
            Fault(name.removeprefix("check_"), str(row["subject"]), str(row["detail"]))
            for name in CHECKS
            for row in store.rows(name)
        ]
