"""Read everything that decides whether jobs move: daemon, nodes, counts and ready packages."""

from collections.abc import Collection, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from d0ctl import access
from d0ctl.errors import DatabaseUnavailable
from d0ctl.model import LIVE, Counts, Phase
from d0ctl.schedule.node_state import NodeState
from d0ctl.schedule.resources import Requirement
from d0ctl.schedule.standstill import UNDRIVEN, Cause, NextTry, Standing, Work, standing, until
from d0ctl.store import stage_order
from d0ctl.store.connection import Row, Selection, Store, as_json
from d0ctl.store.nodes import registry, site
from d0ctl.store.nodes.catalogue import Catalogue, requirement_of, room_of
from d0ctl.store.nodes.holder import abandoned, any_driver, drives, is_daemon_outdated
from d0ctl.store.rows import make
from d0ctl.units import duration

STRANDED = {Phase.ASSIGNED: "stranded", Phase.TRANSFERRING: "stranded_results"}
"""Queries for packages that wait for files of which only nodes that are down have copies."""

IDLE = (Phase.SUSPENDED, Phase.TRANSFERRING)
"""The phases of launched packages of which nothing runs."""

LOCAL_PATIENCE_S = 60.0
"""How long this machine may fail as a node: no network is involved that could recover."""


class NodeView(Struct, frozen=True):
    """A node, and why it takes no packages: `is_lost` if nobody waits for its files any more."""

    node: NodeState
    since: float | None
    last_error: str | None
    drain_note: str | None
    contact: float | None
    is_local: bool = False
    is_lost: bool = False
    is_doubted: bool = False
    disk: registry.DiskSpace | None = None  # if it is nearly full, or has less than its reserve

    @property
    def name(self) -> str:
        """Its name."""
        return self.node.room.name


class JobStanding(Struct, frozen=True):
    """The standing of a job, or of a part of it.

    If it waits for files of other jobs that do not move, `halted` names those that are held or
    paused, and `others` all of them. With only tries after failures left, `next_try` is the first.
    """

    id: int
    name: str
    work: Work
    standing: Standing
    halted: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    next_try: NextTry | None = None


class Production(Struct, frozen=True):
    """All jobs that have not ended, the nodes, and failed packages, not acknowledged, by job.

    `faults` are of batch systems, `outdated` a daemon that began before d0ctl was installed again;
    `wrong_tokens` counts messages rejected lately because another key has signed them, and
    `full_home` says that the disk of the home is full. `tasks` and transfers need a person.
    """

    driven: bool
    nodes: list[NodeView]
    jobs: list[JobStanding]
    failures: dict[str, int] = field(default_factory=dict)
    acknowledged: dict[str, int] = field(default_factory=dict)  # other failed packages, by job
    overflows: list[site.Overflow] = field(default_factory=list)
    faults: dict[str, site.Fault] = field(default_factory=dict)
    wrong_tokens: int = 0
    outdated: bool = False
    full_home: DatabaseUnavailable | None = None
    tasks: Sequence[site.TaskInVain | site.FailingTransfers] = ()
    suspected: Collection[str] = ()  # drained by d0ctl for packages that other nodes try now
    copied: site.CopiedHome | None = None  # if nobody has driven this home since it was copied
    blocked: Sequence[str] = ()  # jobs that lack only files of other jobs, not to be made

    @property
    def stopped(self) -> list[JobStanding]:
        """The jobs that something stops."""
        return [job for job in self.jobs if job.standing.stands_still]

    @property
    def moves(self) -> bool:
        """Whether any job moves, or will at the next try of a package."""
        return any(job.standing.moves or job.next_try is not None for job in self.jobs)

    @property
    def cause(self) -> Cause | None:
        """What stops everything that could move, the main cause; None if something moves."""
        if self.moves:
            return None
        causes = {job.standing.cause for job in self.jobs}
        return next((cause for cause in Cause if cause in causes), None)


def production(
    store: Store, *, now: float, driven: bool | None = None, jobs: list[JobStanding] | None = None
) -> Production:
    """Return the standing of all jobs, or of those; a process that drives them itself says so."""
    nodes = node_views(store, now=now)
    jobs = _jobs(store, None, nodes, driven=driven) if jobs is None else jobs
    driven = any_driver(store) if driven is None else driven
    moving = {job.id for job in jobs if job.standing.moves}
    return Production(
        driven, nodes, jobs, *site.failures_by_job(store), site.overflows(store, now),
        site.faults(store), site.wrong_tokens(store, now), is_daemon_outdated(store),
        access.full(store.home.root) if access.is_full(store.home.root) else None,
        site.needing_a_person(store),
        site.suspected(store, moving) if any(view.node.takes for view in nodes) else (),
        None if driven else site.other_home(store), site.blocked_by_others(store))  # fmt: skip


def is_settled(store: Store, job: int, *, now: float = 0.0) -> bool:
    """Return whether nothing of a job can move without a person, if it is driven."""
    counts = counts_of(store, job)  # first, as `run` asks after each turn
    active = sum(counts.get(phase, 0) for phase in LIVE if phase not in IDLE)
    if active > sum(_awaiting(store, job, counts).values()):
        return False
    views = node_views(store, now=now)
    if any(counts.get(phase) for phase in STRANDED) and not _lost_clusters(views):
        return False
    return of_job(store, job, views).standing.is_settled


def job_standing(store: Store, job: int, *, now: float, driven: bool | None = True) -> JobStanding:
    """Return the standing of one job, by default if it is driven; one that has ended is idle."""
    return of_job(store, job, node_views(store, now=now), driven=driven)


def of_job(
    store: Store, job: int, views: list[NodeView], *, driven: bool | None = True
) -> JobStanding:
    """Return the same; the nodes have been read."""
    standings = _jobs(store, job, views, driven=driven)
    return standings[0] if standings else JobStanding(job, "", Work({}), Standing(False))


def node_views(store: Store, *, now: float = 0.0) -> list[NodeView]:
    """Return all nodes; with the time also which have been gone for too long."""
    patience_s = float(site.default(store, "unreachable-after"))
    rows = store.rows("standing_nodes", abandoned=as_json(sorted(abandoned(store))))
    return [_view(row, patience_s, now) for row in rows]


def _view(row: Row, patience_s: float, now: float) -> NodeView:
    is_local = row["kind"] == "local"
    return NodeView(
        _node(row, patience_s, now), row["since"], row["last_error"], row["drain_note"],
        row["contact"], is_local, not is_local and _down_s(row, now) >= patience_s,
        row["doubted"] is not None, registry.scarce(row))  # fmt: skip


def _node(row: Row, patience_s: float, now: float) -> NodeState:
    return NodeState(
        room_of(row, used=0), row["state"], bool(row["drained"]), row["bad"] is not None,
        reached=row["contact"] is not None,
        sized=row["kind"] == "local" or row["cpus_asked"] is not None,
        gone=_gone(row, patience_s, now), full=row["reserve"] is not None, suspended=row["taken"],
        cache_left=row["cache_left"], cache_spare=row["cache_spare"] or 0,
    )  # fmt: skip


def _gone(row: Row, patience_s: float, now: float) -> str | None:
    """Return why a node takes nothing until a person helps; None if it does, or may by itself."""
    if row["drained"] and row["bad"] is None:
        return "is drained" + (f" ({row['drain_note']})" if row["drain_note"] else "")
    silent_s = _down_s(row, now)
    if row["kind"] == "local":
        patience_s = min(patience_s, LOCAL_PATIENCE_S)
    if not silent_s or silent_s < patience_s:
        return None
    return f"has been down for {duration(silent_s)} ({row['last_error'] or 'no answer'})"


def _down_s(row: Row, now: float) -> float:
    """Return for how long a node has been down; 0 if it is not."""
    return 0.0 if row["state"] != "down" or row["since"] is None else now - row["since"]


def _lost_clusters(views: Sequence[NodeView]) -> set[int]:
    """Return the clusters of which all nodes have been down for too long."""
    present = {view.node.room.cluster for view in views if not view.is_lost}
    return {view.node.room.cluster for view in views} - present


def _jobs(
    store: Store, job: int | None, views: list[NodeView], *, driven: bool | None
) -> list[JobStanding]:
    counts: dict[int, dict[str, int]] = {}
    for row in store.rows("standing_counts", job=job):
        counts.setdefault(row["job_id"], {})[row["phase"]] = row["n"]
    requirements: dict[int, list[Requirement]] = {}
    catalogue, jobs = Catalogue(store), []
    for row in store.rows("standing_requirements", job=job):
        requirements.setdefault(row["job_id"], []).append(requirement_of(row, catalogue))
    nodes, lost = [view.node for view in views], _lost_clusters(views)
    if any(node.cache_left is not None for node in nodes):
        from d0ctl.store.nodes import full_caches  # late: most caches have no capacity

        requirements = {id: full_caches.with_inputs(store, of_job, nodes)
                        for id, of_job in requirements.items()}  # fmt: skip
    for row in store.rows("standing_jobs", job=job):
        of_job: Counts = counts.get(row["id"], {})
        work = _work(store, row, of_job, requirements.get(row["id"], []), nodes)
        if lost and any(of_job.get(phase) for phase in (*STRANDED, Phase.READY)):
            from d0ctl.store.nodes import makers  # late: nodes seldom stay down

            work = makers.with_stranded(store, row["id"], work, STRANDED, lost)
        is_driven = drives(store, row["id"]) if driven is None else driven
        jobs.append(_judge(store, row, work, nodes, driven=is_driven))
    if any(found.standing.cause is Cause.NO_SPACE for found in jobs):
        from d0ctl.store.nodes import full_caches

        others = jobs if job is None else _jobs(store, None, views, driven=None)
        going = {other.id for other in others if not other.standing.is_settled}
        return [replace(found, standing=full_caches.unless_freed(
                    store, found.standing, nodes, going - {found.id}))
                for found in jobs]  # fmt: skip
    return jobs


def _work(
    store: Store, job: Row, counts: Counts, found: list[Requirement], nodes: Sequence[NodeState]
) -> Work:
    behind = 0
    if job["asked"] or (counts.get(Phase.STARTING) and any(node.suspended for node in nodes)):
        from d0ctl.store.nodes import placement  # late: people seldom suspend packages

        behind = placement.queued_behind(store, job["id"], None, nodes)
    releases = bool(counts.get("held")) and store.row("releases_to_come", job=job["id"]) is not None
    return Work(counts, found, bool(job["hold"]), bool(job["pause"]), releases,
                _awaiting(store, job["id"], counts), resumes=job["pause_until"] is not None,
                suspended=job["suspended"], behind=behind)  # fmt: skip


def _awaiting(store: Store, job: int, counts: Counts) -> Counts:
    """Return how many launched packages of a job only wait for inputs, by phase."""
    if not any(counts.get(phase) for phase in LIVE):
        return {}
    return {row["phase"]: row["n"] for row in store.rows("awaiting_phases", job=job)}


def _judge(
    store: Store, job: Row, work: Work, nodes: Sequence[NodeState], *, driven: bool
) -> JobStanding:
    """Decide the standing of a job; read other jobs only if it depends on them."""
    is_beside = not driven and any_driver(store)  # a `run` of another job
    state = standing(work, nodes, driven=driven or is_beside)
    if is_beside and not state.is_settled:
        state = replace(state, moves=False, returns=False, cause=Cause.OTHER_RUN)
    alone = JobStanding(job["id"], job["name"], work, state)
    if state.is_settled and store.value("open_task_of_job", job=job["id"]):
        return replace(alone, standing=replace(state, returns=True))
    if state.cause is Cause.NEXT_TRY and (first := next_try(store, job["id"])):
        return replace(alone, standing=until(first, state), next_try=first)
    waits = work.counts.get(Phase.WAITING) or any(work.awaiting.values())
    if not waits or not state.is_settled or state.cause in UNDRIVEN:
        return alone
    begins_final = stage_order.begins_final(store, job["id"], work.counts)
    if begins_final or stage_order.jobs_with_open_lines(store, job["id"]):
        cause = None if driven or is_beside else Cause.NO_DAEMON
        return replace(alone, standing=replace(state, cause=cause, returns=cause is None))
    if not site.reads_other_jobs(store, job["id"]):
        return alone
    from d0ctl.store.nodes import makers  # late: few jobs read files of others

    makers.find(store, job["id"])
    if not (rows := store.rows("needed_phases")):
        return alone
    work = replace(work, outside=makers.outside(store, rows))
    return replace(
        alone, work=work, standing=standing(work, nodes, driven=driven),
        halted=tuple(sorted({row["job"] for row in rows if row["is_held"]})),
        others=tuple(sorted({row["job"] for row in rows})),
    )  # fmt: skip


def next_try(store: Store, job: int, part: int | Selection | None = None) -> NextTry | None:
    """Return the first try to come of a job, or of a part of it: a stage, or selected packages."""
    row = (part.row("next_try_selected") if isinstance(part, Selection)
           else store.row("next_try", job=job, stage=part))  # fmt: skip
    return None if row is None else make(NextTry, row)


def counts_of(store: Store, job: int) -> Counts:
    """Return how many packages of a job are in each phase."""
    return {row["phase"]: row["n"] for row in store.rows("job_counts", job=job)}
