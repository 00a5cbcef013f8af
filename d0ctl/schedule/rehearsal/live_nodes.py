"""The nodes of a rehearsal: what each has at a moment, and what is left of it."""

from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from d0ctl.schedule.node_capacity import Busy, NodeCapacity
from d0ctl.schedule.rehearsal.caches import Caches
from d0ctl.schedule.rehearsal.ready_tasks import ReadyTasks
from d0ctl.schedule.rehearsal.records import Task
from d0ctl.schedule.resources import NodeRoom, misfit


class LiveNode(Struct):
    """The tasks that a node has at a moment."""

    running: dict[int, float] = field(default_factory=dict)
    """When each task ends."""
    queue: deque[int] = field(default_factory=deque)
    """Tasks whose inputs are there, and that wait for CPUs."""
    bringing: set[int] = field(default_factory=set)
    cpus: float = 0
    """CPUs of running tasks."""

    @property
    def tasks(self) -> list[int]:
        """All its tasks, in whichever state."""
        return [*self.running, *self.queue, *self.bringing]


class LiveNodes:
    """All nodes with their tasks."""

    def __init__(
        self, nodes: Sequence[NodeRoom], ready: ReadyTasks, tasks: Sequence[Task], caches: Caches
    ) -> None:
        self.ready, self.tasks, self.caches = ready, tasks, caches
        self.rooms = {node.id: node for node in nodes}
        self.disks = {node.id: node.disk_free for node in nodes}
        self.live = {node.id: LiveNode() for node in nodes}
        self.promised: Counter[int] = Counter()
        """Bytes that packages there may yet use, by cluster."""
        self.powers: defaultdict[int, float] = defaultdict(float)
        """CPUs times speed of each cluster."""
        for node in nodes:
            self.powers[node.cluster] += node.cpus * node.speed

    def room(self, node: int) -> NodeRoom:
        """Return a node as the scheduler sees it."""
        live, room = self.live[node], self.rooms[node]
        used = live.cpus + sum(self.ready.cpus(task) for task in live.queue)
        bringing = sum(self.ready.cpus(task) for task in live.bringing)
        disk_free = self.disks[node]
        if disk_free is not None:
            disk_free -= self.caches.cached_bytes[room.cluster]
        promised = self.promised[room.cluster]
        if (room.used, room.bringing, room.disk_free, room.disk_used) != (
            used, bringing, disk_free, promised
        ):  # fmt: skip
            wanted = [self.ready.requirement(task) for task in live.tasks]
            room = self.rooms[node] = replace(
                room,
                used=used,
                bringing=bringing,
                disk_free=disk_free,
                memory_used=sum(
                    requirement.memory or requirement.memory_expected or 0 for requirement in wanted
                ),
                gpus_used=sum(requirement.gpus for requirement in wanted),
                disk_used=promised,
            )
        return room

    def busy(self, now: float) -> Mapping[int, Sequence[Busy]]:
        """Return what the CPUs of each node do, and for how long."""
        return {node: list(self._busy_on(node, now)) for node in self.live}

    def _busy_on(self, node: int, now: float) -> Iterable[Busy]:
        live, speed = self.live[node], self.rooms[node].speed
        for task, end in live.running.items():
            yield self._takes(task, end - now)
        for task in (*live.queue, *live.bringing):
            yield self._takes(task, self.tasks[task].seconds / speed, queued=True)

    def _takes(self, task: int, left_s: float, *, queued: bool = False) -> Busy:
        requirement = self.ready.requirement(task)
        after = requirement.rank - (requirement.seconds or 0.0)
        return Busy(
            requirement.cpus, left_s * requirement.cpu / 100, queued, requirement.job, after
        )

    def in_hand(self, stage: int, node: int) -> int:
        """Return how many packages of a stage a node has."""
        return sum(self.ready.requirement(task).stage == stage for task in self.live[node].tasks)

    def without_room(self) -> int:
        """Return how many ready packages no node can take, as no cache has room for their files."""
        nodes = [NodeCapacity(self.room(node), 0, 0, {}) for node in self.live]
        return sum(
            wanted.ready
            for wanted in self.ready.demand()
            if not any(node.holds(wanted) for node in nodes if misfit(wanted, node.node) is None)
        )
