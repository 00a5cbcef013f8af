"""Packages on nodes that take no more: they go on there, and use no CPUs of the others."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from d0ctl.schedule.estimates import NOTHING, JobLeft, Range
from d0ctl.schedule.horizon import Horizon
from d0ctl.store.connection import Row
from d0ctl.store.due_times import FreeCpus, doubt, in_order, left_s


def with_ends(found: Horizon, rows: Sequence[Row], stages: Iterable[Row], now: float) -> Horizon:
    """Return what is left of jobs, with the ends of these packages.

    Packages that need their outputs begin after them: these chains count as those of others.
    """
    ranges = {(of["job_id"], of["seq"]): _range(of) for of in stages}
    alone: dict[tuple[int, int], Range] = defaultdict(lambda: NOTHING)
    work: dict[int, float] = defaultdict(float)
    chains: dict[int, float] = defaultdict(float)
    for row, seconds in _ends(rows, now):
        job, stage = row["job_id"], row["stage"]
        spread = ranges.get((job, stage), Range(1.0, 1.0, 1.0))
        if row["eta"] is not None:
            factor = doubt(row["since"], row["eta"], now)
            spread = Range(1 / factor, 1.0, factor)
        alone[job, stage] = alone[job, stage].no_earlier(spread.times(seconds))
        work[job] += left_s(row, now) * row["speed"] * row["cpus"]
        if after := max(0.0, row["rank"] - (row["seconds"] or 0.0)):
            chains[job] = max(chains[job], seconds * found.capacity.fastest + after)

    def ended(id: int, left: JobLeft) -> JobLeft:
        stages = [replace(stage, alone=alone[id, stage.seq]) for stage in left.stages]
        return replace(left, stages=stages, alone=work[id], chain=max(left.chain, chains[id]))

    return replace(found, jobs={id: ended(id, left) for id, left in found.jobs.items()})


def _range(stage: Row) -> Range:
    """Return the range of run times of a stage, as multiples of the middle one."""
    return Range(stage["drift_low"], stage["drift"], stage["drift_high"]).times(1 / stage["drift"])


def _ends(rows: Sequence[Row], now: float) -> Iterable[tuple[Row, float]]:
    """Yield packages with the seconds until they end; queued ones wait for CPUs of their nodes."""
    by_node: dict[int, list[Row]] = defaultdict(list)
    for row in rows:
        by_node[row["node_id"]].append(row)
    for of_node in by_node.values():
        cpus = FreeCpus(of_node[0]["node_cpus"])
        for row in in_order(of_node):
            end = (cpus.wait(row["cpus"]) if row["queued"] else 0.0) + left_s(row, now)
            cpus.take(row["cpus"], end)
            yield row, end
