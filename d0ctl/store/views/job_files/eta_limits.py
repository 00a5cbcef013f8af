"""The limits that estimates count: `max-running` of job files, and throttles."""

import json
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase

from msgspec.structs import replace

from d0ctl.schedule.estimates import JobLeft
from d0ctl.schedule.horizon import Horizon
from d0ctl.schedule.quota import Capacity, Limit, LimitedNode, Throttle
from d0ctl.store.connection import Row, Store
from d0ctl.store.nodes.catalogue import owner_of
from d0ctl.store.nodes.site import setting, throttle_rules


def within(
    store: Store,
    found: Horizon,
    jobs: Sequence[Row],
    stages: Iterable[Row],
    nodes: Iterable[Row],
) -> Horizon:
    """Return what is left of jobs, with the limits of their packages."""
    throttles = throttle_rules(store)
    of_jobs = _of_jobs(store, jobs, throttles)
    of_stages = {(row["job_id"], row["seq"]): [Limit("stage", row["max_running"])]
                 for row in stages if row["max_running"]}  # fmt: skip

    def limited(id: int, left: JobLeft) -> JobLeft:
        stages = [
            replace(stage, limits=of_stages.get((id, stage.seq), ())) for stage in left.stages
        ]
        return replace(left, stages=stages, limits=of_jobs[id])

    return replace(
        found,
        capacity=_capacity(nodes, found.capacity, throttles),
        jobs={id: limited(id, left) for id, left in found.jobs.items()},
    )


def _capacity(nodes: Iterable[Row], capacity: Capacity, throttles: Sequence[Throttle]) -> Capacity:
    """Return the nodes that take packages, with their throttles."""
    if all(throttle.kind != "node" for throttle in throttles):
        return capacity
    limited = [
        LimitedNode(row["cpus"], row["speed"], limits)
        for row in nodes
        if (limits := _matching(throttles, "node", row["name"]))
    ]
    return replace(capacity, limited=limited)


def _of_jobs(
    store: Store, jobs: Sequence[Row], throttles: Sequence[Throttle]
) -> dict[int, list[Limit]]:
    """Return the limits of jobs, by their ids."""
    found = {
        job["id"]: [Limit(f"job {job['id']}", job["max_running"])] if job["max_running"] else []
        for job in jobs
    }
    if any(throttle.kind != "node" for throttle in throttles):
        said = setting(store, "researchers") or {}
        for row in store.rows("originators_of_jobs", jobs=json.dumps(sorted(found))):
            who = owner_of(row["originator"], said)
            found[row["id"]] += _matching(throttles, "job", row["name"])
            found[row["id"]] += _matching(throttles, "researcher", who)
    return found


def _matching(throttles: Iterable[Throttle], kind: str, name: str) -> list[Limit]:
    """Return the limits of a node, researcher or job."""
    return [
        Limit(
            f"{throttle.name} {name}", throttle.max_running,
            None if throttle.launches is None else throttle.launches / throttle.per_s,
        )
        for throttle in throttles
        if throttle.kind == kind and fnmatchcase(name, throttle.pattern)
    ]  # fmt: skip
