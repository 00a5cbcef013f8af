"""Jobs of batch systems: pilots, each of them a node, and those of single packages."""

import json
from collections.abc import Sequence

from msgspec import Struct, convert
from msgspec.structs import asdict, replace

from d0ctl.model import Node
from d0ctl.schedule.resources import NodeRoom, Requirement, misfit
from d0ctl.sitefile.spec import Pilots
from d0ctl.store.connection import Row, Store
from d0ctl.store.nodes.catalogue import services_of
from d0ctl.store.nodes.site import Fault, fault_of
from d0ctl.store.rows import make

CLOSE_S = 5.0
"""A time limit that the queue shows this close to the known one is the same."""


class BatchSystem(Struct, frozen=True):
    """A cluster whose nodes are pilots; `room` is the capacity of one of them."""

    id: int
    name: str
    pilots: Pilots
    room: NodeRoom
    fault: Fault | None = None

    def brings(self, requirement: Requirement) -> bool:
        """Return whether a pilot may come for such packages, instead of jobs of their own.

        With `mode: auto` a job file chooses by naming the batch system among its nodes, or among
        those that it excludes.
        """
        mode = self.pilots.mode
        if mode == "auto":
            if self.name in requirement.exclude_nodes:
                requirement = replace(requirement, exclude_nodes=())
            elif requirement.is_long or self.name in requirement.nodes:
                return False
        return mode != "direct" and misfit(requirement, self.room) is None

    def share(self, requirement: Requirement) -> float:
        """Return how many CPUs of a pilot a package keeps from others, by itself or its GPUs."""
        if not requirement.gpus:
            return requirement.load
        return max(requirement.load, self.pilots.cpus * requirement.gpus / self.pilots.gpus)


class BatchJob(Struct, frozen=True):
    """A job of a batch system that has not ended: a pilot, or the job of one attempt.

    A pilot has a node once its allocation has begun. The job of an attempt is over in the state
    `ending`; `is_live` is whether its attempt is. `priority` is that of its package as the batch
    system knows it, `wanted` the present one. Times are those of this machine.
    """

    id: int
    batch: str
    seq: int
    job: str | None
    state: str
    reason: str | None
    submitted: float
    attempt: int | None = None
    is_live: bool = False
    priority: int | None = None
    wanted: int | None = None
    ends: float | None = None
    node_id: int | None = None
    node: str | None = None
    node_state: str | None = None
    contact: float | None = None
    drained: int | None = None
    packages: int = 0

    @property
    def has_run(self) -> bool:
        """Whether the allocation of a pilot has begun."""
        return self.node_id is not None


class Due(Struct, frozen=True):
    """A launched attempt that has no job yet; `title` is the name of its job and stage."""

    attempt: int
    cpus: int
    gpus: int
    memory: int | None
    wall_time: float | None
    title: str
    priority: int


def batch_systems(store: Store) -> list[BatchSystem]:
    """Return the clusters whose nodes are pilots."""
    return [_batch_system(row) for row in store.rows("batch_systems")]


def _batch_system(row: Row) -> BatchSystem:
    pilots = convert(json.loads(row["pilots"]), Pilots)
    room = NodeRoom(
        -row["id"], row["name"], row["id"], pilots.cpus, 0, pilots.memory, row["platform"],
        services_of(row), left_s=pilots.wall_time, gpus=pilots.gpus,
    )  # fmt: skip
    return BatchSystem(row["id"], row["name"], pilots, room, fault_of(row))


def named(store: Store, name: str) -> BatchSystem | None:
    """Return the batch system of that name, if there is one."""
    return next((system for system in batch_systems(store) if system.name == name), None)


class EndedPilot(Struct, frozen=True):
    """A pilot that has ended, when and how."""

    id: int
    job: str | None
    seq: int
    reason: str
    ended: float


def latest_ended(store: Store, cluster: int, most: int) -> list[EndedPilot]:
    """Return the latest pilots of a cluster that have ended."""
    return [make(EndedPilot, row) for row in store.rows("ended_pilots", cluster=cluster, most=most)]


def alive(store: Store, cluster: int) -> list[BatchJob]:
    """Return the pilots of a cluster that have not ended, the oldest first."""
    return [make(BatchJob, row) for row in store.rows("live_pilots", cluster=cluster)]


def submitted_since(store: Store, cluster: int, since: float) -> int:
    """Return how many pilots of a cluster were submitted after a time."""
    return int(store.value("submitted_since", cluster=cluster, since=since))


def submit(store: Store, cluster: int, site: str, count: int, *, now: float) -> str:
    """Record pilots that are about to be submitted; return the name that their jobs will have."""
    number = store.value("next_pilot")
    batch = f"d0ctl-{site}-{number}"
    for seq in range(count):
        store.change("add_pilot", cluster=cluster, batch=batch, seq=seq, now=now)
    return batch


def accepted(store: Store, batch: str, job: str) -> None:
    """Record the id of a batch that was submitted."""
    store.change("pilots_accepted", batch=batch, job=job)


def keep(
    store: Store, pilot: BatchJob, *, job: str, state: str, reason: str, ends: float | None = None
) -> None:
    """Record the queue's state of a job; the time limit of a pilot may have been changed."""
    has_moved = ends is not None and abs(ends - (pilot.ends or 0.0)) > CLOSE_S
    if (pilot.job, pilot.state, pilot.reason) != (job, state, reason) or has_moved:
        store.change("keep_pilot", pilot=pilot.id, job=job, state=state, reason=reason, ends=ends)


def has_ended(store: Store, cluster: int, batch: str, seq: int) -> bool:
    """Return whether the job of that name and index is of a pilot that has ended."""
    return store.row("pilot_has_ended", cluster=cluster, batch=batch, seq=seq) is not None


def ending(store: Store, jobs: Sequence[BatchJob], reason: str) -> None:
    """Record that pilots were ordered to end, or that jobs of attempts are over."""
    for job in jobs:
        store.change("pilot_ending", pilot=job.id, reason=reason)


def ended(store: Store, pilot: BatchJob, reason: str, *, now: float) -> None:
    """Record that a pilot has ended."""
    store.change("pilot_ended", pilot=pilot.id, reason=reason, now=now)


def close(store: Store, node: int, note: str, *, now: float) -> None:
    """Let a pilot take no more packages; a node of another kind stays as it is."""
    store.change("close_pilot", node=node, note=note, now=now)


def add_node(store: Store, system: BatchSystem, pilot: BatchJob, job: str) -> None:
    """Let packages run in the allocation of a pilot."""
    name = f"{system.name}-{pilot.id}"
    cluster = store.value("add_pilot_cluster", name=name, cluster=system.id)
    pilots = system.pilots
    node = store.value(
        "add_pilot_node", **asdict(pilots.address(name, job)), cluster=cluster, cpus=pilots.cpus,
        memory=pilots.memory, gpus=pilots.gpus,
    )  # fmt: skip
    store.change("pilot_has_node", pilot=pilot.id, node=node)


def keeps_needed_file(store: Store, node: int) -> bool:
    """Return whether a pilot has the only copy of a file that is read or copied yet."""
    return store.row("keeps_needed_file", node=node) is not None


def has_idle(store: Store, cluster: int) -> bool:
    """Return whether a pilot has no packages, and no file that is needed elsewhere."""
    return any(
        pilot.packages == 0
        and (pilot.node_id is None or not keeps_needed_file(store, pilot.node_id))
        for pilot in alive(store, cluster)
    )


def direct_node(store: Store, cluster: int) -> Node | None:
    """Return the node that stands for a batch system, if packages may have jobs of their own."""
    row = store.row("direct_node", cluster=cluster)
    return None if row is None else make(Node, row)


def direct_jobs(store: Store, cluster: int, state: str | None = None) -> list[BatchJob]:
    """Return the jobs of single attempts that are not settled, or those in one state."""
    return [make(BatchJob, row) for row in store.rows("direct_jobs", cluster=cluster, state=state)]


def any_direct(store: Store, cluster: int) -> bool:
    """Return whether a batch system has jobs of single attempts that are not settled."""
    return store.row("any_direct_job", cluster=cluster) is not None


class DirectJob(Struct, frozen=True):
    """The job of one attempt in the queue of a batch system, and why it waits."""

    job: str | None
    seq: int
    state: str
    reason: str
    cluster: str
    kind: str


def direct_job_of(store: Store, attempt: int) -> DirectJob | None:
    """Return the job of an attempt, if it has one of its own."""
    row = store.row("direct_job_of", attempt=attempt)
    return None if row is None else make(DirectJob, row)


def direct_due(store: Store, node: int, most: int) -> list[Due]:
    """Return launched attempts of a node that wait for a job of their own, the oldest first."""
    return [make(Due, row) for row in store.rows("direct_due", node=node, most=most)]


def submit_direct(
    store: Store, cluster: int, site: str, title: str, due: Sequence[Due], *, now: float
) -> str:
    """Record jobs that are about to be submitted; return the name that they will have."""
    batch = f"d0ctl-{site}-{store.value('next_pilot')}-{title}"
    rows = (
        (cluster, batch, seq, package.attempt, package.priority, now)
        for seq, package in enumerate(due)
    )
    store.change_many("add_direct_jobs", rows)
    return batch


def keep_priorities(store: Store, jobs: Sequence[BatchJob]) -> None:
    """Record that the batch system knows the present priorities of packages."""
    store.change_many("keep_direct_priority", ((job.wanted, job.id) for job in jobs))


def drop_direct(store: Store, jobs: Sequence[BatchJob]) -> None:
    """Forget jobs that are settled, or were never accepted."""
    store.change_many("drop_direct_jobs", ((job.id,) for job in jobs))
