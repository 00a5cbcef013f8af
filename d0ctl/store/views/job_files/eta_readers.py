"""Packages that wait for files of other jobs: they begin when these are made."""

import json
import math
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from msgspec.structs import replace

from d0ctl.schedule.estimates import NOTHING, JobLeft, Range
from d0ctl.schedule.horizon import Horizon
from d0ctl.store.connection import Row

End = Callable[[Horizon, int], Range | None]
"""In how many seconds a package ends; None if unknown."""

NEVER = Range(math.inf, math.inf, math.inf)
"""Said of files of which nobody knows when they are made."""


def within(
    found: Horizon,
    rows: Sequence[Row],
    reads: Mapping[int, Mapping[int, Collection[int]]],
    end: End,
) -> Horizon:
    """Return what is left of jobs, with when packages end that wait for files of other jobs.

    Those that were submitted first come first, as the others may wait for their files.
    """
    if not found.capacity.power:
        return found
    jobs = dict(found.jobs)
    of = replace(found, jobs=jobs)
    for job, awaited in groupby(rows, lambda row: int(row["job_id"])):
        left = jobs[job]
        after: dict[int, Range] = defaultdict(lambda: NOTHING)
        endless: dict[int, None] = {}
        for row in awaited:
            if (made := _made(of, row, end)) is None:
                endless[row["maker_job"]] = None
            for stage, seconds in _own(of, left, row):
                ended = (made or NEVER) + left.work.around(seconds)
                after[stage] = after[stage].no_earlier(ended)
        stages = [replace(of, after=after[of.seq]) if of.packages else of for of in left.stages]
        jobs[job] = replace(left, stages=stages, endless_makers=[*endless])
        jobs[job] = of.in_order({job: reads.get(job, {})}).jobs[job]
    return of


def made(of: Horizon, rows: Iterable[Row], end: End) -> Range | None:
    """Return in how many seconds all these files are made; None if unknown."""
    latest = NOTHING
    for row in rows:
        if (seconds := _made(of, row, end)) is None:
            return None
        latest = latest.no_earlier(seconds)
    return latest


def _made(of: Horizon, row: Row, end: End) -> Range | None:
    """Return in how many seconds files are made: by one package, or by many of its stage."""
    job, stage = row["maker_job"], row["maker_stage"]
    left = of.jobs[job]
    waits = any(other.after.high for other in left.stages if other.seq == stage)
    is_alone = row["makers"] == 1 and not waits and not of.stragglers(job, stage)
    if is_alone and (seconds := end(of, row["maker"])) is not None:
        return seconds
    # Readers of files of held packages are not counted; the others don't wait for a release.
    if left.held:
        released = replace(left, stages=[replace(other, held=0) for other in left.stages])
        of = replace(of, jobs={**of.jobs, job: released})
    return of.stage_end(job, stage)


def _own(of: Horizon, left: JobLeft, row: Row) -> Iterator[tuple[int, float]]:
    """Yield the stages of the longest chain of readers, with the seconds from a file to their ends.

    As many packages as wait for one file begin at once, so their work counts, too.
    """
    stage = next(other for other in left.stages if other.seq == row["stage"])
    at_once = 0.0
    if stage.seconds is not None and stage.packages:
        part = min(1.0, row["waiting"] / stage.packages) / row["makers"]
        limits = (*left.limits, *stage.limits)
        usable = of.capacity.usable(stage.cpus, stage.seconds.middle, limits)
        at_once = part * stage.work.middle / usable
    chain: dict[str, float] = json.loads(row["chain"]) or {str(stage.seq): 1.0}
    whole, until = sum(chain.values()), 0.0
    for seq, seconds in chain.items():
        until += seconds
        alone = row["rank"] * (until / whole if whole else 1.0) / of.capacity.fastest
        yield int(seq), math.hypot(alone, at_once)
