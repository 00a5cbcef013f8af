"""When jobs end: from the remaining work, the CPUs, and the longest chains."""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import dropwhile, groupby, takewhile

from msgspec import Struct, field
from msgspec.structs import replace

from d0ctl.schedule.estimates import NOTHING, JobLeft, Range, StageLeft
from d0ctl.schedule.quota import Capacity, Free, Limit, Load

AT_ONCE_S = 120.0
"""An end that is estimated sooner is unknown while stragglers run, which may take any time."""


class Horizon(Struct, frozen=True):
    """All jobs that have not ended, in the order of the scheduler, and the nodes."""

    capacity: Capacity
    jobs: Mapping[int, JobLeft] = field(default_factory=dict)
    next_free: float = 0.0
    """Seconds until CPUs are free for one more package, or infinite."""
    begins: Mapping[int, float] = field(default_factory=dict)
    """The same for packages that are queued on nodes, by id."""
    startable: Mapping[int, JobLeft] = field(default_factory=dict)
    """Jobs without their packages that do not start before a person acts, if they have any."""
    frees: dict[tuple[tuple[float, float], ...], tuple[list[JobLeft], list[Free]]] = field(
        default_factory=dict
    )
    """What first jobs leave, after each of them, by what is occupied: the next job begins there."""

    def before(self, job: int) -> float:
        """Return the CPU seconds of the jobs that come before one, if it waits for them."""
        job_left = self.jobs.get(job)
        if job_left is None or not job_left.waits_for_nodes:
            return 0.0
        return sum(other.work.middle for other in self._ahead(job))

    def _ahead(self, job: int) -> list[JobLeft]:
        """Return what comes before a job: jobs that go on, with packages that can start."""
        ahead = takewhile(lambda item: item[0] != job, self.jobs.items())
        return [self.startable.get(id, left) for id, left in ahead if not left.is_halted]

    def unknown_ahead(self, job: int) -> JobLeft | None:
        """Return a job whose packages of unknown run time take all CPUs before one can go on."""
        blind = [left for left in self._ahead(job) if left.unknown_packages]
        many = sum(left.unknown_packages for left in blind) >= self.capacity.cpus
        return blind[0] if blind and many and self.jobs[job].waits_for_nodes else None

    def _is_known(self, job: int, rank: float = 0.0) -> bool:
        """Return whether run times that matter for chains of a job of this length are known."""
        return self.jobs[job].is_known(rank) and self.unknown_ahead(job) is None

    def stragglers(self, job: int, stage: int | None = None) -> int:
        """Return how many packages of a job or stage take much longer than expected."""
        job_left = self.jobs.get(job)
        late = {} if job_left is None else job_left.stragglers
        return sum(late.values()) if stage is None else late.get(stage, 0)

    def is_late(self, job: int, stage: int | None = None) -> bool:
        """Return whether a job that goes on has stragglers, and an end that nobody knows."""
        job_left = self.jobs.get(job)
        if job_left is None or job_left.is_halted or not self.stragglers(job, stage):
            return False
        return (self.end(job) if stage is None else self.stage_end(job, stage)) is None

    def end(self, job: int) -> Range | None:
        """Return in how many seconds a job ends; None if unknown, or if nothing is left of it.

        It is unknown if packages are held, if no node takes some, or if not much more than
        stragglers is left.
        """
        job_left = self._going(job)
        if job_left is None or job_left.held or job_left.unfit or not self._is_known(job):
            return None
        return _unless_late(self._whole(job, job_left), self.stragglers(job))

    def _going(self, job: int) -> JobLeft | None:
        """Return what is left of a job that goes on; None if it has ended or nobody knows when."""
        job_left = self.jobs.get(job)
        if job_left is None or job_left.is_halted or not job_left.has_any:
            return None
        if job_left.suspended or job_left.nodes_down:
            return None
        return job_left if self.capacity.power or not job_left.needs_nodes else None

    def _whole(self, job: int, job_left: JobLeft) -> Range:
        """Return in how many seconds all known work of a job is done.

        A job takes at least as long as its longest chain on the fastest node. It also takes at
        least as long as all work up to it on all CPUs. By a list schedule it takes at most the sum
        of both (Graham, 1969). If all its packages are on nodes, it ends with the last of them.
        """
        whole = self._busy(job, job_left, job_left.stages, job_left.longest_chain)
        soonest = (self._soonest(job_left, of) for of in job_left.stages)
        queue = max(0.0, job_left.queue - job_left.stuck_chain / self.capacity.fastest)
        return whole.at_least(job_left.cooling).no_earlier(job_left.work.around(queue), *soonest)

    def _soonest(self, job_left: JobLeft, of: StageLeft) -> Range:
        """Return in how many seconds a stage ends at the soonest, however many CPUs there are."""
        end = of.last_end.no_earlier(of.after)
        if of.seconds is None or not of.packages:
            return end
        each = of.seconds.times(1.0 / of.cpus / self.capacity.fastest)
        first = job_left.work.around(self._first(job_left) + each.middle)
        return end.no_earlier(first, of.made + each if of.made.high else NOTHING)

    def in_order(self, reads_of: Mapping[int, Mapping[int, Collection[int]]]) -> "Horizon":
        """Return the same, where no stage ends before those of its job whose files it reads.

        `reads_of` has their numbers by job and stage.
        """
        jobs = dict(self.jobs)
        for job, of_job in reads_of.items():
            jobs[job] = _ranked(jobs[job], of_job)
            for stage in sorted(jobs[job].stages, key=lambda stage: stage.rank, reverse=True):
                reads = of_job.get(stage.seq, ())
                makers = [of for of in jobs[job].stages if of.seq in reads]
                made = NOTHING.no_earlier(*(self._soonest(jobs[job], of) for of in makers))
                most = min((of.rest for of in makers if of.packages), default=math.inf)
                stages = [replace(of, made=made, most_rest=most) if of.seq == stage.seq else of
                          for of in jobs[job].stages]  # fmt: skip
                jobs[job] = replace(jobs[job], stages=stages)
        return replace(self, jobs=jobs)

    def stage_end(self, job: int, stage: int) -> Range | None:
        """Return in how many seconds a stage of a job ends.

        Stages with longer chains come before it. Later ones do not matter, so their run times may
        be unknown.
        """
        job_left = self._going(job)
        own = next((of for of in job_left.stages if of.seq == stage), None) if job_left else None
        if job_left is None or own is None or own.held or own.seconds is None:
            return None
        if not (self._is_known(job, own.rank) if own.packages else own.last_end.high):
            return None
        if any(of.unfit for of in job_left.stages if of.rank >= own.rank):
            return None
        end = self._soonest(job_left, own)
        if own.packages:
            is_last = not any(of.packages for of in job_left.stages if of.rank < own.rank)
            after = 0.0 if is_last else own.rest
            until = [of for of in job_left.stages if of.rank >= own.rank]
            chain = max(0.0, job_left.longest_chain - after)
            end = end.no_earlier(self._busy(job, job_left, until, chain))
        return _unless_late(end.at_least(own.cooling), self.stragglers(job, stage))

    def _busy(
        self, job: int, job_left: JobLeft, stages: Iterable[StageLeft], chain: float
    ) -> Range:
        """Return in how many seconds some stages of a job are done, with a chain of them."""
        total = job_left.work
        if not total.middle:
            return NOTHING
        low, high = total.low / total.middle, total.high / total.middle
        alone = chain / self.capacity.fastest
        if not job_left.waits_for_nodes:
            return total.around(alone)
        shared = self._shared(job, job_left, stages)
        return Range(low * max(alone, shared), math.hypot(alone, shared), high * (alone + shared))

    def _shared(self, job: int, job_left: JobLeft, stages: Iterable[StageLeft]) -> float:
        """Return in how many seconds all work up to some stages is done on all CPUs.

        Jobs before it leave what their limits keep from them. Packages on nodes keep their CPUs,
        also those of jobs that come later or are halted.
        """
        return self._free(job).after(self._loads(job_left, stages))

    def _free(self, job: int) -> Free:
        """Return what the jobs before one leave it, if it waits for them."""
        occupied = tuple(sorted(self._occupied(job)))
        ahead = self._ahead(job) if self.jobs[job].waits_for_nodes else []
        known, frees = self.frees.get(occupied, ([], []))
        same = min(len(known), len(ahead))
        if not frees or known[:same] != ahead[:same]:
            free, same = Free(), 0
            for until, power in occupied:
                free.take({None: power / self.capacity.power}, until)
            known, frees = self.frees[occupied] = [], [free]
        for other in ahead[same:]:
            known.append(other)
            frees.append(Free(frees[-1].times))
            frees[-1].beside(self._loads(other, other.stages))
        return Free(frees[len(ahead)].times)

    def _loads(self, job_left: JobLeft, stages: Iterable[StageLeft]) -> list[Load]:
        """Return what a job takes of what is free: its begun packages, and stages one by one.

        Those with longer chains come first; those without limits of their own are one load.
        """
        first_ones = sorted(stages, key=lambda of: of.rank, reverse=True)
        groups = [[*group] for _, group in groupby(first_ones, lambda of: of.limits and of.seq)]
        within: dict[Limit | None, Sequence[Limit]] = {None: ()}
        within |= {limit: (limit,) for limit in job_left.limits}
        loads = list[Load]()
        for group in groups or [[]]:
            if seconds := self._needs(job_left, group):
                loads.append(Load({of: self._needs(job_left, group, limits) / seconds
                                   for of, limits in within.items()}, seconds))  # fmt: skip
            if len(groups) > 1:
                job_left = replace(job_left, begun=NOTHING, alone=0.0)
        return loads

    def _occupied(self, job: int) -> list[tuple[float, float]]:
        """Return until when packages of jobs that do not come before one keep which power."""
        later = dropwhile(lambda id: id != job, self.jobs)
        ids = {*later, *(id for id, left in self.jobs.items() if left.is_halted)} - {job}
        return [self.jobs[id].occupied for id in ids if self.jobs[id].begun.middle]

    def _needs(
        self,
        job_left: JobLeft,
        stages: Iterable[StageLeft],
        limits: Collection[Limit] | None = None,
    ) -> float:
        """Return how many seconds stages and begun packages take, within some or all limits."""
        shared = job_left.limits if limits is None else limits
        widest = max((of.cpus for of in job_left.stages), default=1.0)
        seconds = job_left.begun.middle / self.capacity.usable(widest, math.inf, shared)
        stages = list(stages)
        for of in stages:
            if of.seconds is not None and (work := of.work.middle):
                each = (*shared, *of.limits) if limits is None else shared
                seconds += work / self.capacity.usable(of.cpus, of.seconds.middle, each)
        # on nodes that take no more they count only for how many may be on nodes at once
        least = min((of.power(widest, math.inf, self.capacity.mean_speed) for of in shared),
                    default=math.inf)  # fmt: skip
        work = job_left.begun.middle + job_left.alone + sum(of.work.middle for of in stages)
        return max(seconds, work / least)

    def nodes_down(self, job: int) -> Sequence[str]:
        """Return the nodes that have to come back before anybody knows when a job ends."""
        job_left = self.jobs.get(job)
        return () if job_left is None or job_left.is_halted else job_left.nodes_down

    def start(self, job: int, stage: int, rank: float, before: int | None = None) -> Range | None:
        """Return in how many seconds a package begins that is not on a node; `rank` is its own.

        Those of the job with longer chains come first, and as many of its own stage as are ready
        `before` it; if that is unknown, a part of them.
        """
        job_left = self._going(job)
        if job_left is None or not (self.capacity.power and self._is_known(job, rank)):
            return None
        whole = self._whole(job, job_left)
        longer = [of for of in job_left.stages if of.seq != stage and of.rank > rank]
        own = [of for of in job_left.stages if of.seq == stage]
        wait = self._free(job).after([])
        first = self._shared(job, job_left, longer)
        if before is not None:
            own = [replace(of, packages=min(of.packages, before)) for of in own]
        last = self._shared(job, job_left, [*longer, *own])
        first = first if before is None else last
        chain = max(0.0, job_left.longest_chain - rank) / self.capacity.fastest
        late = min(whole.high, chain + last)
        soonest = min(max(chain, _work_before(job_left, first - wait)), late)
        start = Range(soonest, min(math.hypot(chain, (first + last) / 2), late), late)
        return start.no_earlier(job_left.work.around(self._first(job_left))).known

    def _first(self, job_left: JobLeft) -> float:
        """Return the seconds until CPUs are free for a package; 0 if unknown and none is ready."""
        is_known = self.next_free < math.inf
        return self.next_free if is_known or job_left.queue == math.inf else 0.0


def _ranked(job_left: JobLeft, reads: Mapping[int, Collection[int]]) -> JobLeft:
    """Return the same job with makers before readers, as chains are rounded."""
    ranks = {of.seq: of.rank for of in job_left.stages}
    for seq in sorted(ranks, key=lambda seq: ranks[seq], reverse=True):
        for maker in ranks.keys() & set(reads.get(seq, ())):
            ranks[maker] = max(ranks[maker], ranks[seq])
    return replace(job_left, stages=[replace(of, rank=ranks[of.seq]) for of in job_left.stages])


def _work_before(job_left: JobLeft, seconds: float) -> float:
    """Return when a package begins at the soonest: the last work before it has only begun then."""
    total = job_left.work
    last = max((max(of.running, of.seconds.middle if of.packages and of.seconds else 0.0)
                for of in job_left.stages), default=0.0)  # fmt: skip
    return total.low / total.middle * max(0.0, seconds - last) if total.middle else 0.0


def _unless_late(end: Range, stragglers: int) -> Range | None:
    return None if stragglers and end.middle <= AT_ONCE_S else end.known


NO_HORIZON = Horizon(Capacity(0, 0.0, 1.0))
