"""Activity: the latest events, how many packages end, how fast a job progresses."""

import json
from collections.abc import Iterable, Mapping

from msgspec import Struct

from d0ctl.store.connection import Store
from d0ctl.store.nodes.holder import any_driver, unheard
from d0ctl.store.nodes.standstill import node_views
from d0ctl.store.rows import make, make_all
from d0ctl.store.views.shapes import JobSummary

PAST = 20_000
"""How many past events the rates are computed from."""


LATELY_S = 600.0
"""How far back the rates of stages look."""

MOST_COMPARED = 5_000
"""How many failed packages are compared with others by their inputs."""

MOVING_ALONG = frozenset({"running", "suspended", "unreachable"})
"""Phases in which a package reports progress."""


class Event(Struct, frozen=True):
    """A change of phase, with the path of the package."""

    id: int
    at: float
    path: str
    old: str
    new: str
    node: str | None
    reason: str | None
    message: str | None
    actor: str | None
    note: str | None


class Failed(Struct, frozen=True):
    """A failed package, by the properties that failures can be grouped by."""

    id: int
    reason: str | None
    node: str | None
    software: str
    input: str | None
    ended: float | None
    message: str | None
    acknowledged: bool = False
    job: str = ""
    tries: int = 1


class FailureGroup(Struct, frozen=True):
    """Packages of a job that failed for one reason, with the latest of them."""

    job: str
    reason: str | None
    n: int
    nodes: int
    node: str | None
    ended: float | None
    message: str | None
    path: str


class NodeUse(Struct, frozen=True):
    """Slots of a node that run packages; packages there that wait for a slot, or for inputs.

    In `suspended` ones of the slots packages are suspended.
    While a node does not answer, it runs none: its launched packages are `unreachable`.
    """

    used: float = 0
    ahead: int = 0
    staging: int = 0
    unreachable: int = 0
    suspended: float = 0


def node_use(store: Store) -> dict[int, NodeUse]:
    """Return how much of each node is in use; nodes without live packages are omitted."""
    rows = store.rows("outline_node_use")
    return {
        row["node_id"]: NodeUse(
            row["used"], row["ahead"], row["staging"], row["unreachable"], row["suspended"]
        )
        for row in rows
    }


class RunningProgress(Struct, frozen=True):
    """The progress of running packages: how many, the sum of their percentages, the last end.

    `with_eta` is how many of them have reported when they end.
    """

    live: int = 0
    percents: float = 0.0
    eta: float | None = None
    with_eta: int = 0

    def __add__(self, other: "RunningProgress") -> "RunningProgress":
        etas = [eta for eta in (self.eta, other.eta) if eta is not None]
        return RunningProgress(self.live + other.live, self.percents + other.percents,
                       max(etas, default=None), self.with_eta + other.with_eta)  # fmt: skip


NO_PROGRESS = RunningProgress()
"""The progress when no package is running."""


class JobRunningProgress(Struct, frozen=True):
    """The progress of running packages of a job, of each stage, and of each line, by their ids."""

    job: RunningProgress
    stages: Mapping[int, RunningProgress]
    lines: Mapping[int, RunningProgress]


def running_progress(store: Store, job: int) -> JobRunningProgress:
    """Return the progress of the running packages of a job; others are not read."""
    whole, stages, lines = (
        RunningProgress(),
        dict[int, RunningProgress](),
        dict[int, RunningProgress](),
    )
    known = unheard(store)
    for row in store.rows("outline_running_progress", job=job):
        progress = make(RunningProgress, row, **known)
        whole, lines[row["line_id"]] = whole + progress, progress
        stages[row["stage_id"]] = stages.get(row["stage_id"], RunningProgress()) + progress
    return JobRunningProgress(whole, stages, lines)


def last_event(store: Store) -> int:
    """Return the number of the latest event."""
    return int(store.value("last_event"))


def last_event_by(store: Store, at: float) -> int:
    """Return the last event at or before a moment; 0 if there is none. Events are in order."""
    low, high = 0, last_event(store)
    while low < high:
        middle = (low + high + 1) // 2
        event = store.row("event_at_or_before", id=middle)
        if event is None or event["at"] <= at:
            low = middle
        else:
            high = event["id"] - 1
    return low


class StageRate(Struct, frozen=True):
    """How many packages of a stage have succeeded and failed lately, and in how many seconds."""

    done: int
    failed: int
    seconds: float

    @property
    def ended(self) -> int:
        """How many have ended in any way."""
        return self.done + self.failed


def stage_rates(store: Store, job: int, *, now: float) -> dict[int, StageRate]:
    """Return how fast the packages of each stage of a job end; stages without ends are omitted.

    It looks back `LATELY_S`, or as far as `PAST` events of all jobs reach, but not beyond an end of
    the job after which it went on, and not beyond the time at which the package that ended first
    began: else the ends of the first ones, which come together, would look like a high rate.
    """
    last = last_event(store)
    after = max(last_event_by(store, now - LATELY_S), last - PAST)
    before = store.row("event_at_or_before", id=after) if after == last - PAST else None
    longest = LATELY_S if before is None else max(1.0, now - before["at"])
    if last_end := store.value("outline_last_end", job=job):
        after = max(after, last_event_by(store, last_end))
    rates = {}
    for row in store.rows("outline_stage_ends", after=after, job=job, since=now - LATELY_S):
        seconds = min(longest, max(1.0, now - row["began"]))
        rates[row["stage_id"]] = StageRate(row["done"], row["failed"], seconds)
    return rates


def rates_of_job(store: Store, job: JobSummary, *, now: float) -> dict[int, StageRate]:
    """Return how fast the packages of each stage of a job end; nothing if the job has ended."""
    return {} if job.ended is not None else stage_rates(store, job.id, now=now)


def events(store: Store, after: int, limit: int) -> list[Event]:
    """Return the latest events after a known one, the latest first."""
    return [make(Event, row) for row in store.rows("outline_events", after=after, limit=limit)]


class EventRow(Struct, frozen=True, gc=False):
    """A change of the phase of a package."""

    id: int
    at: float
    path: str
    old: str | None
    new: str
    attempt: int | None
    reason: str | None
    node: str | None
    actor: str | None
    note: str | None


def events_after(
    store: Store, after: int, last: int, limit: int, job: int | None = None
) -> list[EventRow]:
    """Return the events after a known one up to the `last`, the oldest first; perhaps of a job."""
    rows = store.rows("outline_events_after", after=after, last=last, limit=limit, job=job)
    return make_all(EventRow, rows)


def totals(store: Store) -> tuple[int, int, int]:
    """Return how many packages of all jobs are done, have failed, and run."""
    row = store.row("outline_totals")
    return (int(row["done"]), int(row["failed"]), int(row["running"])) if row else (0, 0, 0)


def recent_ends(store: Store, *, since: float, period_s: int) -> list[tuple[float, int]]:
    """Return the beginnings of periods since a time, with how many packages ended in each.

    A million events take 0.15 s.
    """
    after = last_event_by(store, since)
    rows = store.rows("outline_recent_ends", after=after, period=period_s)
    return [(float(row["number"] * period_s), row["ended"]) for row in rows]


def needing_a_person(store: Store) -> dict[int, dict[str, int]]:
    """Return how many packages of each job need a person, by phase."""
    found: dict[int, dict[str, int]] = {}
    for row in store.rows("outline_needing_a_person"):
        found.setdefault(row["job_id"], {})[row["phase"]] = row["n"]
    return found


def failed(store: Store, jobs: Iterable[int], limit: int) -> list[Failed]:
    """Return the failed packages of some jobs."""
    from d0ctl.store.files import suspects  # most readers of activities do not list failures

    wanted = json.dumps(list(jobs))
    store.empty("failing")
    store.change("report_failed_packages", jobs=wanted, limit=MOST_COMPARED)
    suspects.collect(store)
    rows = store.rows("outline_failed_packages", jobs=wanted, limit=limit)
    return [make(Failed, row) for row in rows]


def failure_groups(
    store: Store, jobs: Iterable[int], window: int, limit: int
) -> list[FailureGroup]:
    """Return the failed packages of some jobs in groups, the largest first; of the first ones."""
    wanted = json.dumps(list(jobs))
    rows = store.rows("outline_failure_groups", jobs=wanted, window=window, limit=limit)
    return [make(FailureGroup, row) for row in rows]


def has_work(store: Store) -> bool:
    """Return whether any job has packages that run or could run."""
    return store.row("some_work_left") is not None


def standing_signature(store: Store, *, now: float) -> tuple[object, ...]:
    """Return what decides whether jobs stand still, but for files that move (0.3 ms, 300 jobs)."""
    nodes = [(view.node.room, view.node.takes, view.node.returns, view.node.cache_left,
              view.node.cache_spare, view.is_lost)
             for view in node_views(store, now=now)]  # fmt: skip
    jobs = [tuple(row) for row in store.rows("standing_jobs", job=None)]
    return nodes, jobs, any_driver(store), store.value("last_event"), store.value("last_action")


def tried_elsewhere(store: Store, job: int) -> dict[str, int]:
    """Return how many packages of a job are tried on other nodes than that of their last failure,
    by the name of the latter.
    """
    return {row["node"]: row["packages"] for row in store.rows("tried_elsewhere", job=job)}
