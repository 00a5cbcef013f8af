"""Packages that do not start until a person acts: they take no CPUs from later jobs."""

from collections import Counter, defaultdict
from collections.abc import Iterable

from msgspec.structs import replace

from d0ctl.schedule.estimates import JobLeft
from d0ctl.schedule.horizon import Horizon
from d0ctl.store.connection import Row, Store, as_json


def apart(store: Store, found: Horizon, rows: Iterable[Row]) -> Horizon:
    """Return what is left of jobs, with what comes before others, without such packages.

    They wait for files of jobs that are held, paused or blocked, or no node takes them. The `rows`
    are of jobs of which nothing starts if this holds of all that make their files.
    """
    idle = _idle_jobs(rows)
    halted = idle | {id for id, left in found.jobs.items() if left.is_halted}
    idle_packages = Counter[tuple[int, int]]()
    if halted:
        waiting = store.rows("eta_idle", jobs=as_json(sorted(halted)))
        idle_packages.update({(row["job_id"], row["seq"]): row["n"] for row in waiting})
    jobs = {job for job, _ in idle_packages} | idle

    def startable(id: int, left: JobLeft) -> JobLeft:
        stages = [
            replace(of, packages=max(0, of.packages - of.unfit - idle_packages[id, of.seq])
                    if id not in idle else 0)
            for of in left.stages
        ]  # fmt: skip
        return replace(left, stages=stages)

    return replace(found, startable={
        id: startable(id, left) for id, left in found.jobs.items() if id in jobs or left.unfit
    })  # fmt: skip


def _idle_jobs(rows: Iterable[Row]) -> set[int]:
    """Return the jobs of which nothing starts, as all that could make their files is idle, too."""
    makers: dict[int, set[int]] = defaultdict(set)
    for row in rows:
        makers[row["id"]] |= {row["maker_id"]} - {None}
    while moving := [id for id, of in makers.items() if not of <= makers.keys()]:
        for id in moving:
            del makers[id]
    return {*makers}
