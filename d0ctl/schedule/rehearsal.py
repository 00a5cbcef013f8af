"""The run of a job on a virtual clock, with the scheduler that also places real packages."""

import heapq
from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice

from msgspec import Struct, field
from msgspec.structs import replace

from d0ctl.schedule.costs import Links
from d0ctl.schedule.hand import EPSILON, Busy
from d0ctl.schedule.place import Decision, place
from d0ctl.schedule.quota import Quota
from d0ctl.schedule.resources import Brought, NodeRoom, Requirement

LAUNCH_S = 0.02
"""From the decision to the start of the first binary, in seconds."""

EXACT = 30_000
"""Packages times nodes up to which each end of a package is followed by a pass of its own."""

PULSES = 1_000
"""Otherwise there are about so many passes in the least time that the whole may take."""


class File(Struct, frozen=True):
    """A file: its size, and in which cluster it is before all else; None if a package makes it."""

    size: int
    cluster: int | None = None
    stays: bool = False
    """Whether it stays when its last reader has ended."""


class Task(Struct, frozen=True):
    """A package: the requirement it has, its run time on a standard node, and its files.

    Files, and the tasks that it comes after, are positions in lists. One without a requirement is
    a mark that only comes between others.
    """

    requirement: int
    seconds: float
    inputs: Sequence[int] = ()
    outputs: Sequence[int] = ()
    after: Sequence[int] = ()


class Outcome(Struct):
    """What a rehearsal found; times in seconds from its begin."""

    makespan_s: float = 0.0
    starts: list[float] = field(default_factory=list)
    ends: list[float] = field(default_factory=list)
    nodes: list[int] = field(default_factory=list)
    """The node of each task, by its id; 0: none could take it; -1: it is a mark."""
    busy_s: dict[int, float] = field(default_factory=dict)
    """CPU seconds in use, by node."""
    peaks: Counter[int] = field(default_factory=Counter)
    """The most bytes of files at a time, by cluster."""
    carried: int = 0
    """Bytes that went from one cluster to another."""

    @property
    def stuck(self) -> int:
        """How many tasks never ran."""
        return sum(node == 0 for node in self.nodes)


class _Live(Struct):
    """What a node has at a moment."""

    running: dict[int, float] = field(default_factory=dict)
    """When each task ends."""
    queue: deque[int] = field(default_factory=deque)
    """Tasks whose inputs are there, and that wait for CPUs."""
    bringing: set[int] = field(default_factory=set)
    cpus: float = 0
    """CPUs of running tasks."""


def rehearse(
    nodes: Sequence[NodeRoom],
    requirements: Sequence[Requirement],
    tasks: Sequence[Task],
    files: Sequence[File],
    links: Links | None = None,
    limits: Mapping[int, int] | None = None,
) -> Outcome:
    """Run all tasks; `requirements` come in the order in which the scheduler takes them.

    `limits` is how many packages of stages may run at once; that of stage 0 holds for all.
    """
    return _Rehearsal(nodes, requirements, tasks, files, links or Links(), limits or {}).run()


class _Rehearsal:
    def __init__(
        self,
        nodes: Sequence[NodeRoom],
        requirements: Sequence[Requirement],
        tasks: Sequence[Task],
        files: Sequence[File],
        links: Links,
        limits: Mapping[int, int],
    ) -> None:
        self.rooms = {node.id: node for node in nodes}
        self.live = {node.id: _Live() for node in nodes}
        self.requirements = requirements
        self.by_id = {one.id: one for one in requirements}
        self.tasks, self.files, self.links, self.limits = tasks, files, links, limits
        self.placed: Counter[int] = Counter()
        self.ready: dict[int, deque[int]] = {one.id: deque() for one in requirements}
        self.waiting: dict[int, int] = dict.fromkeys(self.ready, 0)
        self.is_ready = bytearray(len(tasks))
        self.missing = [0] * len(tasks)
        self.readers: list[list[int]] = [[] for _ in files]
        self.followers: list[list[int]] = [[] for _ in tasks]
        self.unread = [0] * len(files)
        self.copies: list[set[int]] = [set() for _ in files]
        self.kept: Counter[int] = Counter()
        self.link_free: dict[tuple[str, int], float] = {}
        self.events: list[tuple[float, int, int]] = []
        self.marks: list[int] = []
        self.now = 0.0
        self.outcome = Outcome(
            starts=[0.0] * len(tasks), ends=[0.0] * len(tasks), nodes=[0] * len(tasks)
        )
        self._connect()

    def _connect(self) -> None:
        for number, file in enumerate(self.files):
            if file.cluster is not None:
                self.copies[number].add(file.cluster)
        for number, task in enumerate(self.tasks):
            for one in task.inputs:
                self.unread[one] += 1
                if self.files[one].cluster is None:
                    self.readers[one].append(number)
                    self.missing[number] += 1
            for before in task.after:
                self.followers[before].append(number)
                self.missing[number] += 1
        for number in range(len(self.tasks)):
            if not self.missing[number]:
                self._release(number)
        self._pass_marks()

    def run(self) -> Outcome:
        """Take passes until nothing happens any more."""
        pulse = self._pulse()
        self._schedule()
        while self.events:
            until, has_ended = self.events[0][0] + pulse, False
            while self.events and self.events[0][0] <= until:
                self.now, kind, task = heapq.heappop(self.events)
                if kind:
                    self._arrive(task)
                else:
                    self._end(task)
                    has_ended = True
            if has_ended:
                self._schedule()
        self.outcome.makespan_s = max(self.outcome.ends, default=0.0)
        return self.outcome

    def _pulse(self) -> float:
        """Return for how long what happens shares a pass."""
        if len(self.tasks) * len(self.rooms) <= EXACT or not self.tasks:
            return 0.0
        least = min(task.seconds for task in self.tasks if task.requirement)
        capacity = sum(node.cpus * node.speed for node in self.rooms.values())
        bound = sum(task.seconds for task in self.tasks) / max(capacity, 1e-9)
        return max(min(bound / PULSES, least / 20), bound / (20 * PULSES))

    def _release(self, task: int) -> None:
        one = self.tasks[task].requirement
        if not one:
            self.marks.append(task)
            return
        self.ready[one].append(task)
        self.waiting[one] += 1
        self.is_ready[task] = 1

    def _schedule(self) -> None:
        wanted = [
            replace(one, ready=self.waiting[one.id])
            for one in self.requirements
            if self.waiting[one.id]
        ]
        if not wanted:
            return
        decisions = place(
            [self._room(node) for node in self.live], wanted, self._oldest, self._local_bytes,
            self._brought, quota=self._quota(), busy=self._busy, links=self._links,
        )  # fmt: skip
        for decision in decisions:
            self._assign(decision)

    def _quota(self) -> Quota:
        left = {stage: most - self.placed[stage] for stage, most in self.limits.items()}
        return Quota(
            {stage: most for stage, most in left.items() if stage},
            {0: left[0]} if 0 in left else {},
        )

    def _pass_marks(self) -> None:
        while self.marks:
            mark = self.marks.pop()
            self.outcome.nodes[mark] = -1
            self.outcome.starts[mark] = self.outcome.ends[mark] = self.now
            for follower in self.followers[mark]:
                self._lack_less(follower)

    def _room(self, node: int) -> NodeRoom:
        live, room = self.live[node], self.rooms[node]
        used = live.cpus + sum(self._cpus(task) for task in live.queue)
        bringing = sum(self._cpus(task) for task in live.bringing)
        if room.used != used or room.bringing != bringing:
            here = [*live.running, *live.queue, *live.bringing]
            wanted = [self.by_id[self.tasks[task].requirement] for task in here]
            room = self.rooms[node] = replace(
                room, used=used, bringing=bringing,
                memory_used=sum(one.memory or 0 for one in wanted),
                disk_used=sum(one.space or 0 for one in wanted),
            )  # fmt: skip
        return room

    def _cpus(self, task: int) -> float:
        return self.by_id[self.tasks[task].requirement].load

    def _oldest(self, requirement: int, limit: int) -> list[int]:
        queue = self.ready[requirement]
        while queue and not self.is_ready[queue[0]]:
            queue.popleft()
        return list(islice((task for task in queue if self.is_ready[task]), limit))

    def _local_bytes(self, packages: Sequence[int]) -> Mapping[int, Mapping[int, int]]:
        found: dict[int, dict[int, int]] = {}
        for package in packages:
            places = found.setdefault(package, {})
            for one in self.tasks[package].inputs:
                size = self.files[one].size
                places[0] = places.get(0, 0) + size
                for cluster in self.copies[one]:
                    places[cluster] = places.get(cluster, 0) + size
        return found

    def _brought(self, packages: Sequence[int]) -> Mapping[int, Brought]:
        found: dict[int, Brought] = {}
        for package in packages:
            inputs = self.tasks[package].inputs
            there: Counter[int] = Counter()
            for one in inputs:
                there.update(self.copies[one])
            found[package] = Brought(len(inputs), there)
        return found

    def _busy(self) -> Mapping[int, Sequence[Busy]]:
        return {node: list(self._busy_on(node)) for node in self.live}

    def _busy_on(self, node: int) -> Iterable[Busy]:
        live, speed = self.live[node], self.rooms[node].speed
        for task, end in live.running.items():
            yield self._takes(task, end - self.now)
        for task in (*live.queue, *live.bringing):
            yield self._takes(task, self.tasks[task].seconds / speed, queued=True)

    def _takes(self, task: int, left_s: float, *, queued: bool = False) -> Busy:
        one = self.by_id[self.tasks[task].requirement]
        return Busy(one.cpus, left_s * one.cpu / 100, queued)

    def _links(self) -> Links:
        backlog = {
            cluster: max(0.0, free - self.now) * self.links.rate
            for (way, cluster), free in self.link_free.items()
            if way == "to" and free > self.now
        }
        return replace(self.links, backlog=backlog)

    def _assign(self, decision: Decision) -> None:
        task, node = decision.package, decision.node
        one = self.tasks[task]
        self.is_ready[task] = 0
        self.waiting[one.requirement] -= 1
        self._count(one.requirement, 1)
        self.outcome.nodes[task] = node
        arrival = self._carry(one, self.rooms[node].cluster)
        self.live[node].bringing.add(task)
        heapq.heappush(self.events, (max(arrival, self.now + LAUNCH_S), 1, task))

    def _count(self, requirement: int, more: int) -> None:
        self.placed[0] += more
        self.placed[self.by_id[requirement].stage] += more

    def _carry(self, task: Task, cluster: int) -> float:
        """Have the inputs that a cluster lacks brought; return when the last is there."""
        arrival = self.now
        for one in task.inputs:
            if cluster in self.copies[one] or not self.copies[one]:
                continue
            size = self.files[one].size
            source = min(self.copies[one], key=lambda at: self.link_free.get(("from", at), 0.0))
            begins = max(self.now, self.link_free.get(("from", source), 0.0),
                         self.link_free.get(("to", cluster), 0.0))  # fmt: skip
            ends = begins + size / self.links.rate
            self.link_free["from", source] = self.link_free["to", cluster] = ends
            self._keep(one, cluster)
            self.outcome.carried += size
            arrival = max(arrival, ends + self.links.file_s)
        return arrival

    def _keep(self, file: int, cluster: int) -> None:
        self.copies[file].add(cluster)
        self.kept[cluster] += self.files[file].size
        self.outcome.peaks[cluster] = max(self.outcome.peaks[cluster], self.kept[cluster])

    def _arrive(self, task: int) -> None:
        node = self.outcome.nodes[task]
        live = self.live[node]
        live.bringing.discard(task)
        live.queue.append(task)
        self._start_next(node)

    def _start_next(self, node: int) -> None:
        live, room = self.live[node], self.rooms[node]
        while live.queue and live.cpus + self._cpus(live.queue[0]) <= room.cpus + EPSILON:
            task = live.queue.popleft()
            cpus, took = self._cpus(task), self.tasks[task].seconds / room.speed
            live.cpus += cpus
            live.running[task] = self.now + took
            self.outcome.starts[task] = self.now
            busy = self.outcome.busy_s
            busy[node] = busy.get(node, 0.0) + cpus * took
            heapq.heappush(self.events, (self.now + took, 0, task))

    def _end(self, task: int) -> None:
        node = self.outcome.nodes[task]
        live, cluster = self.live[node], self.rooms[node].cluster
        del live.running[task]
        live.cpus -= self._cpus(task)
        self.outcome.ends[task] = self.now
        self._count(self.tasks[task].requirement, -1)
        for one in self.tasks[task].outputs:
            self._keep(one, cluster)
            for reader in self.readers[one]:
                self._lack_less(reader)
        for follower in self.followers[task]:
            self._lack_less(follower)
        self._pass_marks()
        for one in self.tasks[task].inputs:
            self.unread[one] -= 1
            if not self.unread[one] and not self.files[one].stays:
                self._forget(one)
        self._start_next(node)

    def _lack_less(self, task: int) -> None:
        self.missing[task] -= 1
        if not self.missing[task]:
            self._release(task)

    def _forget(self, file: int) -> None:
        for cluster in self.copies[file]:
            self.kept[cluster] -= self.files[file].size
        self.copies[file] = set()
