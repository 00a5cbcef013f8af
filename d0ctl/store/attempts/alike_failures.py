"""Hold a job if a stage only fails, and always in the same way, or if too many packages fail."""

from collections import Counter
from collections.abc import Iterable

from msgspec import Struct

from d0ctl.model import ACTOR
from d0ctl.policy.remarks import FailedAlike, RuleHolds, TooManyFailed, Valued, Verdict, noted
from d0ctl.store import lifecycle
from d0ctl.store.connection import Selection, Store
from d0ctl.store.nodes.site import default
from d0ctl.store.rows import make


def weigh(store: Store, failures: Iterable[tuple[int, int, str]], *, now: float) -> list[Verdict]:
    """Count packages that failed for good, and hold jobs with a stage that has only failures, too
    many of them alike.

    `failures` are job, stage and reason of each. Return a verdict for each job that is held.
    """
    held: list[Verdict] = []
    counted = Counter(failures)
    for (job, stage, reason), number in counted.items():
        failed = store.value("add_alike", stage=stage, reason=reason, failed=number)
        held += _judge(store, job, stage, reason, failed, now)
    for job in dict.fromkeys(job for job, _, _ in counted):
        held += _count_all(store, job, now)
    return held


def stop(store: Store, failures: Iterable[tuple[int, int]], *, now: float) -> list[Verdict]:
    """Hold the jobs of failures whose rule says `hold: job`; return a verdict for each."""
    held: list[Verdict] = []
    for job, attempt in failures:
        row = store.row("failed_attempt", attempt=attempt)
        assert row is not None
        remark = RuleHolds(row["path"], row["reason"])
        held += _hold(store, job, row["path"].partition("/")[0], remark, now)
    return held


def _count_all(store: Store, job: int, now: float) -> list[Verdict]:
    """Hold a job when the number of its failed packages reaches its limit."""
    row = store.row("failures_of_job", job=job)
    if row is None or row["failed"] < row["most"]:
        return []
    remark = TooManyFailed(row["name"], row["failed"], row["most"])
    return _hold(store, job, row["name"], remark, now)


def _judge(
    store: Store, job: int, stage: int, reason: str, failed: int, now: float
) -> list[Verdict]:
    row = store.row("stage_on_trial", stage=stage)
    if row is None:
        return []
    most = default(store, "max-alike-failures") if row["most_alike"] is None else row["most_alike"]
    if not most or failed < most or store.row("unproven_elsewhere", stage=stage):
        return []
    remark = FailedAlike(row["path"], reason, failed)
    return _hold(store, job, row["path"].rpartition("/")[0], remark, now)


def _hold(store: Store, job: int, name: str, remark: Valued, now: float) -> list[Verdict]:
    note = noted(remark)
    lifecycle.hold_job(store, job, actor=ACTOR, note=note, now=now)
    lifecycle.keep_action(store, verb="hold", target=name, actor=ACTOR, note=note, packages=0,
                          now=now, undo=f"d0ctl release {name}")  # fmt: skip
    return [Verdict("job-held", name, note)]


class StoppedJob(Struct, frozen=True):
    """A job that is held or paused; a retry releases it if d0ctl holds it."""

    id: int
    name: str
    is_held: bool
    is_paused: bool
    is_held_by_d0ctl: bool


def stopped_jobs(selected: Selection) -> list[StoppedJob]:
    """Return the jobs of the selected packages that are held or paused."""
    rows = selected.rows("stopped_jobs_of_selected", actor=ACTOR)
    return [make(StoppedJob, row) for row in rows]


def forget_jobs(selected: Selection, *, now: float) -> None:
    """Account for a retry by a person of packages of these jobs: they are released if d0ctl
    holds them, and their similar failures count from zero.
    """
    for job in stopped_jobs(selected):
        if job.is_held_by_d0ctl:
            lifecycle.release_job(selected.store, job.id, now=now)
    selected.change("forget_alike_of_selected")
    selected.change("excuse_failures_of_selected")
