"""Failures, counted by a common property."""

from msgspec import Struct
from msgspec.structs import replace

from d0ctl.policy.blame import Blame, Share, blame
from d0ctl.select import Selector
from d0ctl.store.connection import Row, Selection, Store
from d0ctl.store.files import suspects
from d0ctl.store.rows import make, make_all
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
    """Failures that have something in common; `wasted` is CPU seconds.

    `messages` counts messages that are not alike; the sample has that of the last failure of a
    package that is failed now, if any.
    """

    name: str
    count: int
    packages: int
    wasted: float
    last: float
    acknowledged: int
    messages: int
    sample: Sample


class Report(Struct, frozen=True):
    """All selected failures: how many, of how many packages, and how many of these failed now, or
    are cooling off.
    """

    count: int
    packages: int
    wasted: float
    failed: int
    cooling: int
    again: int
    acknowledged: int
    groups: dict[str, list[Alike]]
    blamed: list[Blame]


class _Scope(Struct, frozen=True):
    """The attempts that failures are compared with: of a job, of packages, or else all."""

    job: int | None = None
    packages: Selection | None = None


def failures(
    store: Store, wanted: Selector | None, *, now: float, limit: int, apart: bool = False,
    since: float = 0.0,
) -> Report:  # fmt: skip
    """Count failures of a selection, or all, since a time; of each group the most frequent.

    What stands out is found among all of the selection, but a node only if failures on it are
    counted. `apart` leaves out inputs that do not set failed packages apart from others.
    """
    store.empty("failing")
    if wanted is None:
        scope = _Scope()
        store.change("report_all")
    else:
        scope = _collect(store, wanted, now)
    suspects.collect(store)
    blamed = _blamed(store, scope)
    if wanted is not None and wanted.node is not None:
        store.change("leave_other_nodes", node=wanted.node)
    if since:
        store.change("leave_older_failures", since=since)
    whole = store.row("failures_in_all")
    assert whole is not None
    if not whole["count"] and wanted is not None and wanted.node is not None:
        selection.check_node(store, wanted.node)
    groups = {
        group: [_alike(store, row) for row in store.rows(
            _QUERIES[group], limit=limit, **({"apart": apart} if group == "input" else {}))]
        for group in GROUPS
    }  # fmt: skip
    shown = {alike.name for alike in groups["node"]} if len(groups["node"]) < limit else None
    blamed = [found for found in blamed
              if found.kind != "node" or shown is None or found.share.name in shown]  # fmt: skip
    return Report(**dict(whole), groups=groups, blamed=blamed)


def _collect(store: Store, wanted: Selector, now: float) -> _Scope:
    """Collect the failures of a selection; reason and node are those of attempts."""
    part = replace(wanted, reason=None, node=None)
    scope = _Scope()
    if part.is_one and part.level == "job":
        scope = _Scope(job=browse.job(store, part.job).id)
        store.change("report_job", job=scope.job)
    elif part == Selector():
        store.change("report_all")
    else:
        selection.choose(store, part, now=now, lenient=True).change("report_selected")
        if part.depth > 1 or part.job != "*":
            around = replace(part, states=(), older_than=None)
            scope = _Scope(packages=selection.choose(store, around, now=now, lenient=True))
    if wanted.reason is not None:
        store.change("leave_other_reasons", reason=wanted.reason)
    return scope


def _blamed(store: Store, scope: _Scope) -> list[Blame]:
    """Return what stands out among the attempts near the last failure, at most one of each kind."""
    near = suspects.near(store)
    rows = {kind: _shares(store, kind, scope, near) for kind in _SHARES}
    failed, number, apart = (
        sum(row[name] for row in rows["node"]) for name in ("failed", "number", "apart")
    )
    nodes = [
        Share(row["name"], row["failed"] - row["apart"], row["number"] - row["apart"])
        for row in rows["node"]
    ]
    found = [blame("node", nodes, failed - apart, number - apart)]
    for kind in ("software", "input"):
        shares = [
            Share(
                row["name"], row["failed"], row["number"], row["job"] if kind == "input" else None
            )
            for row in rows[kind]
        ]
        found.append(blame(kind, shares, failed, number))
    return [blamed for blamed in found if blamed is not None]


def _shares(store: Store, kind: str, scope: _Scope, near: dict[str, int]) -> list[Row]:
    more = {"limit": MOST_BLAMED} if kind == "input" else {}
    selected = scope.packages or store.select()
    return selected.rows(_SHARES[kind], job=scope.job, selected=scope.packages is not None,
                         **near, **more)  # fmt: skip


def _alike(store: Store, row: Row) -> Alike:
    failure = store.row("failure_sample", attempt=row["sample"])
    assert failure is not None
    seen = (
        Acknowledgement(failure["at"], failure["actor"], failure["note"])
        if failure["actor"]
        else None
    )
    sample = Sample(
        failure["path"],
        failure["number"],
        failure["reason"],
        failure["message"],
        failure["node_name"],
        seen,
    )
    return make(Alike, row, sample=sample)


class ReasonCount(Struct, frozen=True):
    """Failed attempts with the same reason, on a number of nodes, and the last of them."""

    reason: str | None
    count: int
    last: float
    message: str | None
    nodes: int


def reasons_of_job(store: Store, job: int) -> list[ReasonCount]:
    """Return the failed attempts of a job by reason."""
    return [make(ReasonCount, row) for row in store.rows("job_failure_summary", job=job)]


def reasons_of_selected(selected: Selection) -> list[ReasonCount]:
    """Return the failed attempts of the selected packages by reason."""
    return [make(ReasonCount, row) for row in selected.rows("failure_summary")]


class FailedAttempt(Struct, frozen=True):
    """An attempt that failed or was lost, with the path of its package.

    `recorded` is when d0ctl learned of it: later than the end if its node was down.
    """

    ended: float
    number: int
    reason: str | None
    message: str | None
    exit_code: int | None
    signal: int | None
    node_name: str
    outcome: str
    stderr: str | None
    binary: int | None
    recorded: float | None
    path: str


def attempts_of_job(store: Store, job: int, limit: int) -> list[FailedAttempt]:
    """Return the failed attempts of a job, the latest first."""
    return make_all(FailedAttempt, store.rows("job_failed_attempts", job=job, limit=limit))


def attempts_of_selected(selected: Selection, limit: int) -> list[FailedAttempt]:
    """Return the failed attempts of the selected packages, the latest first."""
    return make_all(FailedAttempt, selected.rows("failed_attempts", limit=limit))


def last_of_selected(selected: Selection, limit: int) -> list[FailureView]:
    """Return the last attempts of selected packages that have failed, the latest first."""
    return [make(FailureView, row) for row in selected.rows("selected_failures", limit=limit)]
