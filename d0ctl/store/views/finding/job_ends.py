"""When jobs and stages end, from the pace of their packages and the number of slots."""

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from d0ctl.store.connection import Store
from d0ctl.store.views import activity
from d0ctl.store.views.shapes import JobSummary


class Share(Struct, frozen=True):
    """A stage: how many packages can still run, how long one takes, and its CPUs."""

    left: int
    pace: float | None
    cpus: int = 1


class Estimate(Struct, frozen=True):
    """Seconds left; a lower bound if some stage's pace is unknown."""

    seconds: float
    at_least: bool = False


def shares(store: Store, jobs: Sequence[int]) -> dict[int, dict[int, Share]]:
    """Return the stages of jobs that have something left, by the ids of both.

    Jobs with files that only nodes have that are down are omitted: their ends are unknown.
    """
    found: dict[int, dict[int, Share]] = defaultdict(dict)
    unknown = {row["job_id"] for row in store.rows("eta_nodes_down")}
    known = [job for job in jobs if job not in unknown]
    for row in store.rows("finding_shares", jobs=json.dumps(known)):
        found[row["job_id"]][row["stage_id"]] = Share(row["left"], row["pace"], row["cpus"])
    return found


def remaining(shares: Iterable[Share], slots: int) -> Estimate | None:
    """Return the time left if all slots work on it; None if nothing is known or left."""
    work, longest, unknown, known = 0.0, 0.0, False, False
    for share in shares:
        if not share.left:
            continue
        if share.pace is None:
            unknown = True
            continue
        known = True
        work += share.left * share.pace * share.cpus
        longest = max(longest, share.pace)
    if not known or slots <= 0:
        return None
    return Estimate(max(work / slots, longest), unknown)


def with_estimates(store: Store, jobs: Sequence[JobSummary], now: float) -> list[JobSummary]:
    """Return jobs, those that go on with their estimated end, as the tree shows it."""
    going_on = [job.id for job in jobs if job.ended is None and not job.blocked]
    slots, of = activity.slots(store), shares(store, going_on)
    rows = store.rows("finding_last_etas", jobs=json.dumps(going_on), now=now)
    ends = {row["job_id"]: row["eta"] for row in rows}
    for job, stages in of.items():
        if (estimate := remaining(stages.values(), slots)) is not None:
            ends[job] = max(now + estimate.seconds, ends.get(job, 0.0))
    return [replace(job, ended=ends[job.id]) if job.id in ends else job for job in jobs]
