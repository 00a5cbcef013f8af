"""Estimates of when packages and jobs begin and end."""

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from functools import partial

from msgspec import Struct
from msgspec.structs import replace

from d0ctl.schedule.estimates import NO_SIZES, NOTHING, JobLeft, Range, Sizes, StageLeft, sizes_of
from d0ctl.schedule.horizon import Horizon
from d0ctl.schedule.quota import Capacity
from d0ctl.store.connection import Row, Store
from d0ctl.store.due_times import PackageTimes, begin_by, doubt, left_s, times_of_running, waits
from d0ctl.store.nodes.holder import known_until
from d0ctl.store.nodes.site import throttle_rules
from d0ctl.store.rows import make

STRAGGLING = 1.5
"""A straggler runs for more than this multiple of the upper end of the expected range."""

LEAST_STRAGGLING_S = 60.0
"""A straggler exceeds the range by at least this many seconds."""

SUSPENDED_S = 30.0
"""A package that a guard of its node has suspended for longer has no known end."""

MOST_MARKED = 10_000
"""How many stragglers lists mark."""

MOST_BEFORE = 100
"""From how many packages before it the begin of a package is found."""

MOST_MAKERS = 10
"""At so many packages of a stage the begin of one that needs them looks, and else at the stage."""


class Straggler(Struct, frozen=True):
    """A package that runs much longer than expected; the times are in seconds.

    Job, stage and line are ids, as is its own.
    """

    path: str
    id: int
    job: int
    stage: int
    line: int
    node: str
    started: float
    suspended: float
    expected: float
    high: float

    def ran(self, now: float) -> float:
        """Return how long it has been running, without the time for which it was suspended."""
        return now - self.started - self.suspended


def horizon(store: Store, *, now: float) -> Horizon:
    """Return the remaining work of all jobs that have not ended, in the order of the scheduler."""
    stages: dict[int, list[StageLeft]] = defaultdict(list)
    unmeasured = {
        (counted["job_id"], counted["seq"]): counted["sample"] or ""
        for counted in store.rows("eta_unmeasured")
    }
    counts = store.rows("eta_stages")
    stuck: dict[tuple[int, int], int] = {}
    if any(counted["waiting"] for counted in counts):
        stuck = {(found["job_id"], found["seq"]): found["n"] for found in store.rows("eta_stuck")}
    begun: dict[int, Range] = defaultdict(lambda: NOTHING)
    chains: dict[int, float] = defaultdict(float)
    queue: dict[int, float] = defaultdict(float)
    slow = straggler_ids(store, None, now=now)
    late: dict[int, Counter[int]] = defaultdict(Counter)
    running: dict[tuple[int, int], float] = defaultdict(float)
    blind: Counter[tuple[int, int]] = Counter()
    suspended: Counter[int] = Counter()
    on_nodes = set[int]()
    nodes = store.rows("eta_nodes", now=now)
    capacity, takers = _capacity(nodes), {node["id"] for node in nodes}
    closed: list[Row] = []
    live = store.rows("eta_live", now=now, long=SUSPENDED_S)
    free = waits(live, nodes, now)
    for counted in live:
        on_nodes.add(counted["job_id"])
        if counted["is_stopped"]:
            suspended[counted["job_id"]] += 1
            continue
        if counted["id"] in slow:
            late[counted["job_id"]][counted["stage"]] += 1
            if (counted["eta"] or 0.0) <= now:
                continue
        if counted["node_id"] not in takers:
            closed.append(counted)
            continue
        key, seconds = (counted["job_id"], counted["stage"]), left_s(counted, now)
        end = free.begins.get(counted["id"], 0.0) + seconds
        running[key] = max(running[key], end)
        blind[key] += not counted["queued"] and counted["seconds"] is counted["eta"] is None
        rest = seconds * counted["speed"]
        factor = 1.0
        if counted["eta"] is not None:
            factor = doubt(counted["since"], counted["eta"], now)
        begun[counted["job_id"]] += Range(rest / factor, rest, rest * factor).times(counted["cpus"])
        after = max(0.0, counted["rank"] - (counted["seconds"] or 0.0))
        chains[counted["job_id"]] = max(chains[counted["job_id"]], rest + after)
        if counted["queued"]:
            end += after / capacity.fastest
            queue[counted["job_id"]] = max(queue[counted["job_id"]], end)
    cooling: dict[tuple[int, int], float] = defaultdict(float)
    cools_until: dict[int, float] = defaultdict(float)
    for late_stage in store.rows("eta_cooling", now=now, speed=capacity.mean_speed):
        id = late_stage["job_id"]
        cooling[id, late_stage["seq"]] = late_stage["stage_left"]
        cools_until[id] = max(cools_until[id], late_stage["job_left"])
    for counted in counts:
        key = (counted["job_id"], counted["seq"])
        stage = _stage(counted, stuck.get(key, 0), running[key], unmeasured.get(key))
        queued = free.queued.get(key, 0)
        stage = replace(stage, cooling=cooling[key], queued=queued, blind=blind[key])
        stages[counted["job_id"]].append(stage)
    for counted in store.rows("eta_ready"):
        id, rank = counted["job_id"], counted["rank"]
        chains[id] = max(chains[id], rank)
        queue[id] = max(queue[id], free.next_free + rank / capacity.fastest)
    down: Mapping[int, Sequence[str]] = {}
    if away := store.rows("eta_nodes_down"):
        from d0ctl.store.views.job_files import eta_away  # late: mostly, all nodes are up

        down = eta_away.by_job(away, stages)
    of_jobs = store.rows("eta_jobs")
    jobs = {
        row["id"]: JobLeft(
            row["name"], stages[row["id"]], begun[row["id"]], chains[row["id"]],
            bool(row["hold"] or row["pause"]), down.get(row["id"], ()), cools_until[row["id"]],
            late[row["id"]], suspended=suspended[row["id"]], is_on_nodes=row["id"] in on_nodes,
            queue=queue[row["id"]],
        )
        for row in of_jobs
    }  # fmt: skip
    found = Horizon(capacity, jobs, free.next_free, free.begins)
    if requests := store.rows("eta_requests"):
        from d0ctl.store.views.job_files import eta_unfit  # late: most packages fit any node

        found = eta_unfit.within(store, found, requests, now)
    if closed:
        from d0ctl.store.views.job_files import eta_closed  # late: most nodes take packages

        found = eta_closed.with_ends(found, closed, counts, now)
    if throttle_rules(store) or any(row["max_running"] for row in (*of_jobs, *counts)):
        from d0ctl.store.views.job_files import eta_limits  # late: most sites have no limits

        found = eta_limits.within(store, found, of_jobs, counts, nodes)
    reads: dict[int, dict[int, set[int]]] = defaultdict(lambda: defaultdict(set))
    for row in store.rows("eta_reads"):
        reads[row["job_id"]][row["stage"]].add(row["maker_stage"])
    idle, awaited = store.rows("eta_idle_jobs"), store.rows("eta_awaited")
    if not (idle or awaited or any(left.unfit for left in found.jobs.values())):
        return found.in_order(reads)
    from d0ctl.store.views.job_files import eta_idle, eta_readers  # late: most packages can begin

    found = eta_idle.apart(store, found, idle).in_order(reads)
    return eta_readers.within(found, awaited, reads, partial(_end_s, store, now))


def _capacity(nodes: Sequence[Row]) -> Capacity:
    """Return what nodes have together, without CPUs of packages that a person suspended."""
    return Capacity(
        math.ceil(sum(node["cpus"] for node in nodes)),
        sum(node["cpus"] * node["speed"] for node in nodes),
        max((node["speed"] for node in nodes), default=1.0),
        suspended=sum(node["suspended"] for node in nodes),
    )


def _stage(row: Row, stuck: int, running: float, unmeasured: str | None) -> StageLeft:
    mean = row["work"] / max(1, row["total"])
    known = bool(row["is_timed"]) and unmeasured is None
    seconds = Range(row["drift_low"], row["drift"], row["drift_high"]).times(mean)
    return StageLeft(
        row["seq"], row["left"] - stuck, seconds if known else None, row["runs"],
        row["rank"] or 0.0, sizes_of(row["sizes"]), unmeasured, stuck, row["held"],
        running, row["cpus"] or 1.0,
    )  # fmt: skip


def sizes_of_package(store: Store, package: int) -> Sizes:
    """Return the memory and disk of a package that has not ended, as far as known."""
    row = store.row("eta_package", package=package, now=0.0, long=SUSPENDED_S)
    return NO_SIZES if row is None else sizes_of(row["sizes"])


def end_of(store: Store, job: int, *, now: float) -> Range | None:
    """Return when a job ends; None if unknown."""
    return at(horizon(store, now=now).end(job), now)


def stages_of(store: Store, job: int, *, now: float) -> Sequence[StageLeft]:
    """Return the remaining work of the stages of a job; none if it has ended."""
    left = horizon(store, now=now).jobs.get(job)
    return () if left is None else left.stages


def straggler_ids(store: Store, job: int | None, *, now: float) -> frozenset[int]:
    """Return the ids of these packages, for lists that mark them."""
    return frozenset(each.id for each in stragglers(store, job, MOST_MARKED, now=now))


def stragglers(store: Store, job: int | None, limit: int, *, now: float) -> list[Straggler]:
    """Return packages known to run much longer than expected, of a job or of all."""
    rows = store.rows("stragglers", job=job, now=known_until(store, now), factor=STRAGGLING,
                      least=LEAST_STRAGGLING_S, limit=limit)  # fmt: skip
    return [make(Straggler, row) for row in rows]


def at(found: Range | None, now: float) -> Range | None:
    """Return a point in time for a number of seconds from now."""
    return None if found is None else found + Range(now, now, now)


def package_times(
    store: Store, package: int, *, now: float, ahead: Horizon | None = None
) -> PackageTimes | None:
    """Return when a package begins and ends; None if that is unknown, or it has ended.

    One that is held, or needs a file of a held, failed or canceled one, begins only when a person
    has acted, and one that is suspended ends only then, or when its node has room again: unknown.
    """
    return _times(store, package, now, ahead, {})


def _times(
    store: Store,
    package: int,
    now: float,
    ahead: Horizon | None,
    known: dict[int, PackageTimes | None],
) -> PackageTimes | None:
    """Return when a package begins and ends, with those of its job before it that are `known`."""
    is_first, known[package] = not known, None
    row = store.row("eta_package", package=package, now=now, long=SUSPENDED_S)
    if row is None or row["seconds"] is None or row["is_stopped"]:
        return None
    whole = Range(row["low"], row["seconds"], row["high"])
    if row["began"] is not None:
        return times_of_running(row, whole.times(1.0 / row["speed"]), now)
    if is_first and store.row("needs_person", package=package):  # it looks at the others, too
        return None
    ahead = ahead or horizon(store, now=now)
    before = store.value("count_ready_before", package=package, limit=MOST_MARKED)
    start = ahead.start(row["job_id"], row["stage"], row["rank"], before)
    if start is not None and package in ahead.begins:
        start = ahead.jobs[row["job_id"]].work.around(ahead.begins[package]).known
    if (start := at(start, now)) is None:
        return None
    speed = ahead.capacity.mean_speed
    start = start.at_least(store.value("begins_after_cooling", package=package, speed=speed) or 0.0)
    (stage,) = (of for of in ahead.jobs[row["job_id"]].stages if of.seq == row["stage"])
    takes = whole.times(1.0 / (speed if row["speed"] is None else row["speed"]))
    is_last = row["missing"] and stage.is_one
    if end := at(ahead.stage_end(row["job_id"], row["stage"]), now):
        start = begin_by(end, takes, start).at_least(now)
    awaited = store.rows("package_awaits", package=package, most=MOST_MAKERS)
    own = [maker["maker"] for maker in awaited if maker["maker_job"] == row["job_id"]]
    for maker in own if len(known) < MOST_BEFORE else ():
        if maker not in known:
            known[maker] = _times(store, maker, now, ahead, known)
        if (times := known[maker]) is None:
            return None
        start = start.no_earlier(times.end)
    if row["missing"] and (not awaited or len(own) >= MOST_MAKERS):
        start = start.no_earlier(stage.made + Range(now, now, now))
    for of in awaited:
        reads_all = of["makers"] == of["unended"] or (is_last and of["makers"] >= MOST_MAKERS)
        if reads_all and of["maker_job"] == row["job_id"]:
            made = at(ahead.stage_end(row["job_id"], of["maker_stage"]), now)
            start = start.no_earlier(made or start)
    if others := [maker for maker in awaited if maker["maker_job"] != row["job_id"]]:
        from d0ctl.store.views.job_files import eta_readers  # late: most jobs wait for no others

        made = at(eta_readers.made(ahead, others, partial(_end_s, store, now)), now)
        start = start.no_earlier(made or eta_readers.NEVER)
    if start.known is None:
        return None
    end = end if end and is_last else (start + takes).no_later(end or start + takes)
    return PackageTimes(start, end.no_earlier(start))


def _end_s(store: Store, now: float, ahead: Horizon, package: int) -> Range | None:
    """Return in how many seconds a package ends; None if unknown."""
    times = package_times(store, package, now=now, ahead=ahead)
    return None if times is None else at(times.end, -now)


def keep_first(store: Store, job: int, *, now: float) -> None:
    """Record when a job that is being submitted is estimated to end, for the audit."""
    if end := end_of(store, job, now=now):
        store.change("keep_first_end", job=job, end=end.middle, low=end.low, high=end.high)
