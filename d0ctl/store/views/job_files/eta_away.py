"""Nodes that are down and without which jobs do not end."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from d0ctl.schedule.estimates import StageLeft
from d0ctl.store.connection import Row, Store

NONE: Mapping[int, Sequence[StageLeft]] = {}


def by_job(
    rows: Iterable[Row], stages: Mapping[int, Sequence[StageLeft]] = NONE
) -> dict[int, list[str]]:
    """Return the nodes that are down and on which jobs have packages or inputs, by job.

    Without those for packages that wait also for failed ones: they do not delay what can end.
    """
    stuck = {(job, of.seq) for job, left in stages.items() for of in left
             if of.stuck and not of.packages}  # fmt: skip
    found: dict[int, dict[str, None]] = defaultdict(dict)
    for row in rows:
        if not row["is_waiting"] or (row["job_id"], row["seq"]) not in stuck:
            found[row["job_id"]][row["node"]] = None
    return {job: [*names] for job, names in found.items()}


def nodes_down(store: Store) -> dict[int, list[str]]:
    """Return the same for all packages."""
    return by_job(store.rows("eta_nodes_down"))
