"""Failures, counted by a common property."""

from collections.abc import Mapping

from msgspec import Struct
from msgspec.structs import replace

from d0ctl.policy.blame import Blame, Share, blame
from d0ctl.select import Selector
from d0ctl.store.connection import Row, Store
from d0ctl.store.rows import make
from d0ctl.store.views import browse, selection
from d0ctl.store.views.shapes import FailureView
from d0ctl.store.views.shapes.of_package import Acknowledgement

GROUPS = ("reason", "node", "software", "input")
"""Properties that failures may share, the most significant first."""

_QUERIES = {
    "reason": "failures_by_reason", "node": "failures_by_node",
    "software": "failures_by_software", "input": "failures_by_input",
}  # fmt: skip


_SHARES = {"node": "shares_of_nodes", "software": "shares_of_software", "input": "shares_of_inputs"}

NEAR = 10_000
"""How many attempts before and after the last failure the failures are compared with."""

MOST_BLAMED = 5
"""How many inputs are considered as a cause."""


class Sample(Struct, frozen=True):
    """One failure as an example."""

    path: str
    attempt: int
    reason: str | None
    message: str | None
    node: str
    acknowledged: Acknowledgement | None


class Alike(Struct, frozen=True):
    """Failures that have something in common; `wasted` is CPU seconds."""

    name: str
    count: int
    packages: int
    wasted: float
    last: float
    acknowledged: int
    sample: Sample


class Report(Struct, frozen=True):
    """All selected failures: how many, of how many packages, and how many of these failed now."""

    count: int
    packages: int
    wasted: float
    failed: int
    again: int
    acknowledged: int
    groups: dict[str, list[Alike]]
    blamed: list[Blame]


def failures(store: Store, wanted: Selector | None, *, now: float, limit: int) -> Report:
    """Count failures of a selection, or all; of each group the most frequent."""
    store.change("clear_failing")
    scope: dict[str, int | None] = {"job": None, "chosen": 0, "window": NEAR}
    if wanted is None:
        store.change("report_all")
    else:
        _take_in(store, wanted, scope, now)
    blamed = _blamed(store, scope)
    if wanted is not None and wanted.node is not None:
        store.change("leave_other_nodes", node=wanted.node)
    whole = store.row("failures_in_all")
    assert whole is not None
    if not whole["count"] and wanted is not None and wanted.node is not None:
        selection.check_node(store, wanted.node)
    groups = {
        group: [_alike(store, row) for row in store.rows(_QUERIES[group], limit=limit)]
        for group in GROUPS
    }
    return Report(whole["count"], whole["packages"], whole["wasted"], whole["failed"],
                  whole["again"], whole["acknowledged"], groups, blamed)  # fmt: skip


def _take_in(store: Store, wanted: Selector, scope: dict[str, int | None], now: float) -> None:
    """Collect the failures of a selection; reason and node are those of attempts."""
    place = replace(wanted, reason=None, node=None)
    if place.is_one and place.level == "job":
        scope["job"] = browse.job(store, place.job).id
        store.change("report_job", job=scope["job"])
    elif place == Selector():
        store.change("report_all")
    else:
        selection.choose(store, place, now=now, lenient=True)
        store.change("report_chosen")
        scope["chosen"] = _choose_around(store, place, now)
    if wanted.reason is not None:
        store.change("leave_other_reasons", reason=wanted.reason)


def _choose_around(store: Store, wanted: Selector, now: float) -> int:
    """Choose all packages around the selection, whatever their result; 0 for all."""
    if wanted.depth == 1 and wanted.job == "*":
        return 0
    place = replace(wanted, states=(), older_than=None)
    return min(1, selection.choose(store, place, now=now, lenient=True))


def _blamed(store: Store, scope: Mapping[str, int | None]) -> list[Blame]:
    """Return what stands out among the attempts near the last failure, at most one of each kind."""
    shares = {kind: _shares(store, kind, scope) for kind in _SHARES}
    failed = sum(share.failed for share in shares["node"])
    number = sum(share.number for share in shares["node"])
    found = [blame(kind, shares[kind], failed, number) for kind in _SHARES]
    return [one for one in found if one is not None]


def _shares(store: Store, kind: str, scope: Mapping[str, int | None]) -> list[Share]:
    more = {"limit": MOST_BLAMED} if kind == "input" else {}
    rows = store.rows(_SHARES[kind], **scope, **more)
    return [Share(row["name"], row["failed"], row["number"]) for row in rows]


def _alike(store: Store, row: Row) -> Alike:
    one = store.row("failure_sample", attempt=row["sample"])
    assert one is not None
    seen = Acknowledgement(one["at"], one["actor"], one["note"]) if one["actor"] else None
    sample = Sample(one["path"], one["number"], one["reason"], one["message"], one["node_name"],
                    seen)  # fmt: skip
    return make(Alike, row, sample=sample)


def reasons_of_job(store: Store, job: int) -> list[Row]:
    """Return the failed attempts of a job by reason."""
    return store.rows("job_failure_summary", job=job)


def reasons_of_chosen(store: Store) -> list[Row]:
    """Return the failed attempts of the chosen packages by reason."""
    return store.rows("failure_summary")


def attempts_of_job(store: Store, job: int, limit: int) -> list[Row]:
    """Return the failed attempts of a job, the latest first."""
    return store.rows("job_failed_attempts", job=job, limit=limit)


def attempts_of_chosen(store: Store, limit: int) -> list[Row]:
    """Return the failed attempts of the chosen packages, the latest first."""
    return store.rows("failed_attempts", limit=limit)


def last_of_chosen(store: Store, limit: int) -> list[FailureView]:
    """Return the last attempts of chosen packages that have failed, the latest first."""
    return [make(FailureView, row) for row in store.rows("chosen_failures", limit=limit)]
