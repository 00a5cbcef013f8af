"""What failed, counted by what it has in common; only failures are looked at."""

from dataclasses import dataclass

from d0ctl.select import Selector
from d0ctl.store import browse
from d0ctl.store.connection import Row, Store

GROUPS = ("reason", "node", "software", "input")
"""What failures may have in common, the most telling first."""

_QUERIES = {
    "reason": "failures_by_reason", "node": "failures_by_node",
    "software": "failures_by_software", "input": "failures_by_input",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Sample:
    """One failure as an example."""

    path: str
    attempt: int
    reason: str | None
    message: str | None
    node: str


@dataclass(frozen=True, slots=True)
class Alike:
    """Failures that have something in common; `wasted` is CPU seconds."""

    name: str
    count: int
    packages: int
    wasted: float
    last: float
    sample: Sample


@dataclass(frozen=True, slots=True)
class Report:
    """All failures that are meant: how many, of how many packages, of which are failed now."""

    count: int
    packages: int
    wasted: float
    failed: int
    again: int
    groups: dict[str, list[Alike]]


def failures(store: Store, wanted: Selector | None, *, now: float, limit: int) -> Report:
    """Count what failed in what is meant, or in all; of each group the most frequent."""
    store.change("clear_failing")
    if wanted is None:
        store.change("report_all")
    elif wanted.is_one and wanted.level == "job":
        store.change("report_job", job=browse.job(store, wanted.job).id)
    else:
        browse.choose(store, wanted, now=now, lenient=True)
        store.change("report_chosen")
    whole = store.row("failures_in_all")
    assert whole is not None
    groups = {
        group: [_alike(store, row) for row in store.rows(_QUERIES[group], limit=limit)]
        for group in GROUPS
    }
    return Report(whole["count"], whole["packages"], whole["wasted"], whole["failed"],
                  whole["again"], groups)  # fmt: skip


def _alike(store: Store, row: Row) -> Alike:
    one = store.row("failure_sample", attempt=row["sample"])
    assert one is not None
    sample = Sample(one["path"], one["number"], one["reason"], one["message"], one["node_name"])
    return Alike(row["name"], row["count"], row["packages"], row["wasted"], row["last"], sample)
