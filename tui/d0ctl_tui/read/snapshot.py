"""The data around the tree, read at one moment: nodes, events, totals, needs of a person."""

from collections import Counter
from collections.abc import Collection, Mapping
from typing import TypeVar

from msgspec import Struct, field
from msgspec.structs import replace

from d0ctl.access import is_full
from d0ctl.model import Node, Phase
from d0ctl.schedule.standstill import DELIBERATE, Cause
from d0ctl.show.drawing import signs
from d0ctl.show.drawing.remark_texts import drain_note
from d0ctl.show.why.common import scarce_disk
from d0ctl.show.why.production import stop_of_all
from d0ctl.show.why.stopped_job import own_obstacle
from d0ctl.store.connection import Store
from d0ctl.store.history import notable
from d0ctl.store.history.notable import Notable
from d0ctl.store.nodes import registry, site, standstill
from d0ctl.store.nodes.holder import is_daemon_outdated
from d0ctl.store.nodes.standstill import JobStanding
from d0ctl.store.views import activity
from d0ctl_tui.read import stragglers
from d0ctl_tui.read.stragglers import Stragglers

Value = TypeVar("Value")

MOST_EVENTS = 60
MOST_NOTABLE = 30

MOST_AGE_S = 5.0
"""The age at which the jobs that stand still are read again, as files move without an event."""


class NodeLine(Struct, frozen=True):
    """A node in the strip.

    `used` slots run packages; `ahead` counts packages that wait there for a slot, `staging` those
    that wait for their inputs. Those of a node that does not answer are `unreachable`. In
    `suspended` ones of the slots packages are suspended.
    """

    name: str
    state: str
    used: float
    cpus: int
    ahead: int
    staging: int
    load: float | None
    contact: float | None
    note: str
    is_up: bool = True
    unreachable: int = 0
    suspended: float = 0


class Stopped(Struct, frozen=True):
    """The jobs that stand still although a daemon runs and no person stopped them, by id."""

    jobs: Mapping[int, tuple[JobStanding, str]] = field(default_factory=dict)
    """With what stops them."""

    signature: tuple[object, ...] = ()
    at: float = 0.0
    causes: Mapping[int, Cause] = field(default_factory=dict)
    """What stops jobs, whether alone, by the site or by a person."""

    blocked: Collection[str] = ()
    """The names of ended jobs for which other jobs do not make files."""


class Snapshot(Struct, frozen=True):
    """A snapshot of the whole site."""

    at: float = 0.0
    nodes: tuple[NodeLine, ...] = ()
    events: tuple[activity.Event, ...] = ()
    notable: tuple[Notable, ...] = ()
    done: int = 0
    failed: int = 0
    needing: Mapping[int, Mapping[str, int]] = field(default_factory=dict)

    tasks: Mapping[int, str] = field(default_factory=dict)
    """The statuses of tasks that need a person, by the ids of their jobs."""

    untransferred: Mapping[int, int] = field(default_factory=dict)
    """How many files several tries could not transfer, by the ids of their jobs."""

    stopped_jobs: Stopped = field(default_factory=Stopped)

    stragglers: Stragglers = field(default_factory=Stragglers)

    has_old_daemon: bool = False
    """Whether the daemon runs older code than is installed."""

    has_full_home: bool = False
    """Whether the disk of the home is full, so that nothing can be recorded."""

    other_home: site.CopiedHome | None = None
    """The home that has taken over from this one, or of which this is a copy."""

    running: int = 0
    """How many packages of all jobs run."""

    file: int = 0
    """The file of the database that was read: a restore puts another one in its place."""

    @property
    def stopped(self) -> dict[int, str]:
        """What stops jobs, by their ids, if neither a person nor a missing daemon does."""
        return {id: text for id, (_, text) in self.stopped_jobs.jobs.items()}

    def needing_a_person(self, state: str) -> int:
        """Return how many packages of all jobs are in a state that needs a person.

        Those that wait for others are `blocked`, unless their job stands still and counts itself.
        """
        if state != "blocked":
            return sum(counts.get(state, 0) for counts in self.needing.values())
        return sum(self.needing[job].get(Phase.WAITING, 0)
                   for job, phases in self.needing_phases.items()
                   if phases == (Phase.WAITING,) and job not in self.stopped_jobs.jobs)  # fmt: skip

    @property
    def needing_phases(self) -> dict[int, tuple[Phase, ...]]:
        """The phases in which packages of a job need a person, by job.

        Packages that wait for others count only if nothing else in the job needs a person.
        """
        found = {job: tuple(Phase(phase) for phase in counts if phase != Phase.WAITING)
                 for job, counts in self.needing.items()}  # fmt: skip
        return {job: phases or (Phase.WAITING,) for job, phases in found.items()}

    def of_jobs(self, jobs: Collection[int] | None) -> "Snapshot":
        """Return it with the needs of these jobs only; None stands for all."""
        if jobs is None:
            return self
        stopped = replace(self.stopped_jobs, jobs=_only(jobs, self.stopped_jobs.jobs))
        late = Stragglers([package for job in jobs for package in self.stragglers.of(job)])
        return replace(
            self, needing=_only(jobs, self.needing), tasks=_only(jobs, self.tasks),
            untransferred=_only(jobs, self.untransferred), stopped_jobs=stopped, stragglers=late,
        )  # fmt: skip

    @property
    def short_names(self) -> dict[str, str]:
        """The first part of each name of a node with a domain, if no other begins with it."""
        first = {node.name: node.name.partition(".")[0] for node in self.nodes}
        number = Counter(first.values())
        return {name: part for name, part in first.items()
                if part != name and number[part] == 1 and not part.isdigit()}  # fmt: skip

    @property
    def takers(self) -> list[NodeLine]:
        """The nodes that take packages."""
        return [node for node in self.nodes if node.state == "up"]


def _only(jobs: Collection[int], known: Mapping[int, Value]) -> dict[int, Value]:
    return {job: value for job, value in known.items() if job in jobs}


def read(store: Store, before: Snapshot, now: float, until: float | None = None) -> Snapshot:
    """Read the site, perhaps as of a moment; known events of the same file are not read again."""
    file, _ = store.version()
    if file != before.file:
        before = Snapshot()
    known = before.events[0].id if before.events else 0
    fresh = activity.events(store, known, MOST_EVENTS)
    done, failed, running = activity.totals(store)
    stopped = _stopped(store, before.stopped_jobs, now) if until is None else Stopped()
    return Snapshot(
        now,
        tuple(nodes(store, is_past=until is not None)),
        tuple([*fresh, *before.events][:MOST_EVENTS]),
        tuple(notable.latest(store, MOST_NOTABLE, until=now if until is None else until)),
        done,
        failed,
        _with_stopped(activity.needing_a_person(store), stopped.jobs),
        {task.job_id: task.status for task in site.tasks_in_vain(store)},
        {failing.job_id: failing.files for failing in site.failing_transfers(store)}
        if until is None
        else {},
        stopped,
        stragglers.read(store, now) if until is None else Stragglers(),
        until is None and is_daemon_outdated(store),
        until is None and is_full(store.home.root),
        site.other_home(store) if until is None else None,
        running,
        file,
    )


def _stopped(store: Store, before: Stopped, now: float) -> Stopped:
    """Read the jobs that stand still; those before, if nothing has changed that stops jobs."""
    signature = activity.standing_signature(store, now=now)
    if signature == before.signature and 0 <= now - before.at < MOST_AGE_S:
        return before
    production = standstill.production(store, now=now)
    stopped = production.stopped
    causes = {job.id: job.standing.cause for job in stopped if job.standing.cause}
    unexpected = [job for job in stopped
                  if causes.get(job.id) not in DELIBERATE | {Cause.NO_DAEMON}]  # fmt: skip
    of_all = stop_of_all(production, now) if unexpected else None
    why = of_all.text if of_all else ""
    jobs = {job.id: (job, own_obstacle(job, now) or why) for job in unexpected}
    return Stopped(jobs, signature, now, causes, production.blocked)


def _with_stopped(
    needing: Mapping[int, Mapping[str, int]], stopped: Mapping[int, tuple[JobStanding, str]]
) -> dict[int, Mapping[str, int]]:
    """Add the packages that can't move in jobs that stand still to those that need a person."""
    return {**needing, **{id: {**_motionless(job), **needing.get(id, {})}
                          for id, (job, _) in stopped.items()}}  # fmt: skip


def _motionless(job: JobStanding) -> dict[str, int]:
    """Return the packages of a job that could move if nothing stopped it, else the waiting ones."""
    work = job.work
    stuck = [Phase.READY] + [Phase.COOLOFF, Phase.HELD] * (job.next_try is not None)
    stopped = {str(phase): work.counts[phase] for phase in stuck if work.counts.get(phase)}
    queued = {str(Phase.STARTING): work.behind} if work.behind else {}
    motionless = dict(work.awaiting) | stopped | queued
    return motionless or {Phase.WAITING: work.counts.get(Phase.WAITING, 0)}


def nodes(store: Store, *, is_past: bool = False) -> list[NodeLine]:
    """Return each node: how much is in use, its load, its last contact; its disk only now."""
    use = activity.node_use(store)
    disks = {} if is_past else {view.name: view.disk for view in standstill.node_views(store)}
    lines = []
    for row in registry.nodes(store):
        state, note = _state(row, disks.get(row.name))
        use_of_node = use.get(row.id, activity.NodeUse())
        lines.append(
            NodeLine(
                row.name,
                state,
                use_of_node.used,
                row.cpus,
                use_of_node.ahead,
                use_of_node.staging,
                row.load if row.state == "up" else None,
                row.contact,
                note,
                row.state == "up",
                use_of_node.unreachable,
                use_of_node.suspended,
            )
        )
    return lines


def _state(row: Node, disk: registry.DiskSpace | None) -> tuple[str, str]:
    """Return the state of a node, and the reason."""
    if row.drained and row.state != "down":
        return "drained", row.last_error or drain_note(row.drain_note) or ""
    if disk is not None and disk.reserve is not None:
        return signs.TAKES_NONE, scarce_disk(disk).removeprefix(f"{signs.TAKES_NONE}: ")
    notes = ["drained" if row.drained else "", row.last_error, scarce_disk(disk) if disk else ""]
    return row.state, "; ".join(note for note in notes if note)
