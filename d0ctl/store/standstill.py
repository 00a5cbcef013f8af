"""Read what decides whether jobs move: who drives, the nodes, the counts and what is ready."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from d0ctl.model import Counts
from d0ctl.schedule.place import NodeRoom
from d0ctl.schedule.standstill import Cause, NodeState, Standing, Work, standing
from d0ctl.store.catalogue import Catalogue, services_of
from d0ctl.store.connection import Row, Store
from d0ctl.store.holder import is_dead
from d0ctl.store.schedule import demand_of


@dataclass(frozen=True, slots=True)
class NodeView:
    """A node, with what people are told of it where it takes nothing."""

    node: NodeState
    since: float | None
    trouble: str | None
    drain_note: str | None
    contact: float | None
    is_local: bool = False

    @property
    def name(self) -> str:
        """Its name."""
        return self.node.room.name


@dataclass(frozen=True, slots=True)
class JobStanding:
    """How a job that has not ended stands."""

    id: int
    name: str
    work: Work
    standing: Standing


@dataclass(frozen=True, slots=True)
class Production:
    """All jobs that have not ended, the nodes, and the number of failed packages by job."""

    driven: bool
    nodes: list[NodeView]
    jobs: list[JobStanding]
    failures: dict[str, int] = field(default_factory=dict)

    @property
    def stopped(self) -> list[JobStanding]:
        """The jobs that something stops."""
        return [job for job in self.jobs if job.standing.stands_still]

    @property
    def moves(self) -> bool:
        """Whether any job moves."""
        return any(job.standing.moves for job in self.jobs)

    @property
    def cause(self) -> Cause | None:
        """What stops all that could move, the weightiest cause; None where something moves."""
        if self.moves:
            return None
        found = {job.standing.cause for job in self.jobs}
        return next((cause for cause in Cause if cause in found), None)

    @property
    def unfit(self) -> int:
        """How many ready packages no node can ever take."""
        return sum(job.standing.unfit for job in self.jobs)


def any_driver(store: Store) -> bool:
    """Whether some process drives packages now: a daemon, or a `run`."""
    return any(not is_dead(row["holder"]) for row in store.rows("leases"))


def production(store: Store, *, driven: bool | None = None) -> Production:
    """How all jobs stand; a process that drives them itself says so."""
    nodes = node_views(store)
    driven = any_driver(store) if driven is None else driven
    jobs = _jobs(store, None, nodes, driven=driven)
    failures = {row["name"]: row["failed"] for row in store.rows("jobs_with_failures")}
    return Production(driven, nodes, jobs, failures)


def job_standing(store: Store, job: int) -> Standing:
    """How one job stands; one that has ended does not move, and nothing stops it."""
    found = _jobs(store, job, node_views(store), driven=any_driver(store))
    return found[0].standing if found else Standing(False)


def node_views(store: Store) -> list[NodeView]:
    """All nodes."""
    return [
        NodeView(
            _node(row),
            row["since"],
            row["trouble"],
            row["drain_note"],
            row["contact"],
            row["kind"] == "local",
        )
        for row in store.rows("standing_nodes")
    ]


def _node(row: Row) -> NodeState:
    room = NodeRoom(
        id=row["id"], name=row["name"], cluster=row["cluster"], cpus=row["cpus"], used=0,
        memory=row["memory"], platform=row["platform"], services=services_of(row),
        disk=row["disk"],
    )  # fmt: skip
    return NodeState(
        room, row["state"], bool(row["drained"]), row["bad"] is not None,
        reached=row["contact"] is not None,
        sized=row["kind"] == "local" or row["cpus_asked"] is not None,
    )  # fmt: skip


def _jobs(
    store: Store, job: int | None, views: list[NodeView], *, driven: bool
) -> list[JobStanding]:
    counts: dict[int, dict[str, int]] = {}
    for row in store.rows("standing_counts", job=job):
        counts.setdefault(row["job_id"], {})[row["phase"]] = row["n"]
    demands: dict[int, list[Row]] = {}
    for row in store.rows("standing_demands", job=job):
        demands.setdefault(row["job_id"], []).append(row)
    nodes = [view.node for view in views]
    catalogue = Catalogue(store)
    found = []
    for row in store.rows("standing_jobs", job=job):
        of_job: Counts = counts.get(row["id"], {})
        work = _work(store, row, of_job, demands.get(row["id"], []), catalogue)
        found.append(
            JobStanding(row["id"], row["name"], work, standing(work, nodes, driven=driven))
        )
    return found


def _work(
    store: Store, job: Row, counts: Mapping[str, int], demands: list[Row], catalogue: Catalogue
) -> Work:
    releases = bool(counts.get("held")) and store.row("releases_to_come", job=job["id"]) is not None
    return Work(
        counts, [demand_of(row, catalogue) for row in demands], bool(job["hold"]),
        bool(job["pause"]), releases,
    )  # fmt: skip
