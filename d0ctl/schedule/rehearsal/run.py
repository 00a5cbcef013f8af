"""The clock of a rehearsal: packages are placed, their inputs come, they run and end."""

import heapq
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from d0ctl.schedule.choice import Decision
from d0ctl.schedule.node_capacity import EPSILON
from d0ctl.schedule.place import place
from d0ctl.schedule.quota import Allowances, Quota
from d0ctl.schedule.rehearsal.caches import Caches, HotFiles
from d0ctl.schedule.rehearsal.live_nodes import LiveNodes
from d0ctl.schedule.rehearsal.ready_tasks import ReadyTasks
from d0ctl.schedule.rehearsal.records import Conditions, Failure, File, Outcome, Task
from d0ctl.schedule.rehearsal.task_order import TaskOrder
from d0ctl.schedule.rehearsal.throttled import Throttled
from d0ctl.schedule.resources import InputCopies, NodeRoom, Requirement

LAUNCH_S = 0.02
"""From the decision to the start of the first binary, in seconds."""

EXACT = 30_000
"""Packages times nodes up to which each end of a package is followed by a pass of its own."""

PULSES = 1_000
"""Otherwise there are about so many passes in the least time that the whole may take."""

END, ARRIVE, FAIL, RELEASE, WAKE = range(5)
"""What happens: a package ends, its inputs are there, it fails, it may be tried again; a throttle
allows more.
"""


def rehearse(
    nodes: Sequence[NodeRoom],
    requirements: Sequence[Requirement],
    tasks: Sequence[Task],
    files: Sequence[File],
    conditions: Conditions | None = None,
) -> Outcome:
    """Run all tasks; `requirements` come in the order in which the scheduler takes them."""
    return Rehearsal(nodes, requirements, tasks, files, conditions or Conditions()).run()


class Rehearsal:
    """A job on a virtual clock."""

    def __init__(
        self,
        nodes: Sequence[NodeRoom],
        requirements: Sequence[Requirement],
        tasks: Sequence[Task],
        files: Sequence[File],
        conditions: Conditions,
    ) -> None:
        self.tasks, self.files = tasks, files
        self.caches = Caches(files, conditions.links)
        self.ready = ReadyTasks(requirements, tasks)
        self.nodes = LiveNodes(nodes, self.ready, tasks, self.caches)
        self.conditions = conditions
        self.excused = Counter(conditions.excused)
        self.throttled = Throttled(conditions, {node.id: node.name for node in nodes})
        self.failing: dict[int, Failure] = {}
        self.lost: dict[int, Failure] = {}
        """How tasks failed for good, unless their stage is excused."""
        self.placed: Counter[int] = Counter()
        self.order = TaskOrder(tasks, files)
        self.events: list[tuple[float, int, int]] = []
        self.wakes: set[float] = set()
        self.marks: list[int] = []
        self.now = 0.0
        self.outcome = Outcome(
            starts=[0.0] * len(tasks), ends=[0.0] * len(tasks),
            nodes=[0 if task.requirement else -1 for task in tasks],
        )  # fmt: skip
        self._connect()

    def _connect(self) -> None:
        loads = {requirement.id: requirement.load for requirement in self.ready.requirements}
        self.hot = HotFiles(self.tasks, self.order.unread, loads)
        for number in self.order.free():
            self._release(number)
        self._pass_marks()

    def run(self) -> Outcome:
        """Take passes until nothing happens any more."""
        pulse = self._pulse()
        self._schedule()
        self._spread()
        while self.events:
            until, is_free = self.events[0][0] + pulse, False
            while self.events and self.events[0][0] <= until:
                self.now, kind, task = heapq.heappop(self.events)
                self._happen(kind, task)
                is_free = is_free or kind != ARRIVE
            if is_free:
                self._schedule()
                self._spread()
        found, trust = self.outcome, self.conditions.trust
        found.peaks, found.carried = self.caches.peaks, self.caches.carried
        found.drained, found.excluded = trust.drained, trust.excluded
        found.left, found.makespan_s = self.nodes.without_room(), max(found.ends, default=0.0)
        return found

    def _happen(self, kind: int, task: int) -> None:
        if kind == END:
            self._end(task)
        elif kind == ARRIVE:
            self._arrive(task)
        elif kind == FAIL:
            self._fail(task)
        elif kind == RELEASE:
            self._release(task)

    def _pulse(self) -> float:
        """Return for how long what happens shares a pass."""
        if len(self.tasks) * len(self.nodes.rooms) <= EXACT or not self.tasks:
            return 0.0
        least = min(task.seconds for task in self.tasks if task.requirement)
        capacity = sum(node.cpus * node.speed for node in self.nodes.rooms.values())
        bound = sum(task.seconds for task in self.tasks) / max(capacity, 1e-9)
        return max(min(bound / PULSES, least / 20), bound / (20 * PULSES))

    def _release(self, task: int) -> None:
        if self.ready.wanted[task]:
            self.ready.add(task)
        else:
            self.marks.append(task)

    def _schedule(self) -> None:
        wanted = self.ready.demand()
        if not wanted:
            return
        running = {node: len(live.tasks) for node, live in self.nodes.live.items()}
        allowed = self.throttled.allowances(running, self.now)
        decisions = place(
            list(self._rooms()),
            wanted,
            self.ready.oldest,
            self._local_bytes,
            self._input_copies,
            self.conditions.trust.suspects(self.now, self.nodes.in_hand),
            quota=self._quota(allowed),
            busy=lambda: self.nodes.busy(self.now),
            links=lambda: self.caches.backlog(self.now),
        )
        for decision in decisions:
            self._assign(decision)
        self.throttled.count(allowed, self.now)
        self._wake(self.throttled.next_launch(allowed))

    def _wake(self, at: float | None) -> None:
        """Take a pass at a later time."""
        if at is not None and at > self.now and at not in self.wakes:
            self.wakes.add(at)
            heapq.heappush(self.events, (at, WAKE, 0))

    def _quota(self, allowed: Allowances) -> Quota:
        limits = self.conditions.limits
        left = {stage: most - self.placed[stage] for stage, most in limits.items()}
        return Quota(
            {stage: most for stage, most in left.items() if stage},
            {0: left[0]} if 0 in left else {},
            throttled=allowed.jobs,
            nodes=allowed.nodes,
        )

    def _pass_marks(self) -> None:
        while self.marks:
            mark = self.marks.pop()
            self.outcome.starts[mark] = self.outcome.ends[mark] = self.now
            for follower in self.order.followers(mark):
                self._release(follower)

    def _rooms(self) -> Iterable[NodeRoom]:
        """Yield the nodes that may take packages; one drained node tries one after its rest."""
        for node, live in self.nodes.live.items():
            rest = self.conditions.trust.resting.get(node)
            if rest is None:
                yield self.nodes.room(node)
            elif self.now >= rest.until and not live.tasks:
                yield replace(self.nodes.room(node), on_trial=rest.stage)

    def _local_bytes(self, packages: Sequence[int]) -> Mapping[int, Mapping[int, int]]:
        return {task: self.caches.local_bytes(self.tasks[task].inputs) for task in packages}

    def _input_copies(self, packages: Sequence[int]) -> Mapping[int, InputCopies]:
        return {task: self.caches.input_copies(self.tasks[task].inputs) for task in packages}

    def _assign(self, decision: Decision) -> None:
        task, node = decision.package, decision.node
        package = self.tasks[task]
        self.ready.take(task)
        self.hot.count(package.inputs, -1)
        self._count(task, self.nodes.rooms[node].cluster, 1)
        self.outcome.nodes[task] = node
        arrival = self.caches.carry(package.inputs, self.nodes.rooms[node].cluster, self.now)
        self.nodes.live[node].bringing.add(task)
        heapq.heappush(self.events, (max(arrival, self.now + LAUNCH_S), ARRIVE, task))

    def _count(self, task: int, cluster: int, more: int) -> None:
        asked = self.ready.requirement(task)
        self.placed[0] += more
        self.placed[asked.stage] += more
        self.nodes.promised[cluster] += more * (asked.space_expected or asked.space or 0)

    def _spread(self) -> None:
        """Begin further copies of files that many packages will read."""
        free = {
            room.cluster: room.disk_free - room.disk_used
            for node in self.nodes.live
            if (room := self.nodes.room(node)).disk_free is not None
        }
        for arrival in self.hot.spread(self.caches, self.nodes.powers, free, self.now):
            heapq.heappush(self.events, (arrival, WAKE, 0))

    def _arrive(self, task: int) -> None:
        node = self.outcome.nodes[task]
        live = self.nodes.live[node]
        live.bringing.discard(task)
        live.queue.append(task)
        self._start_next(node)

    def _start_next(self, node: int) -> None:
        live, room = self.nodes.live[node], self.nodes.rooms[node]
        while live.queue and live.cpus + self.ready.cpus(live.queue[0]) <= room.cpus + EPSILON:
            task = live.queue.popleft()
            cpus, took, kind = self.ready.cpus(task), self.tasks[task].seconds / room.speed, END
            if (failure := self.conditions.fails(task, node)) is not None:
                self.failing[task], took, kind = failure, failure.lasts_s, FAIL
                self.outcome.wasted_s += cpus * took
            live.cpus += cpus
            live.running[task] = self.now + took
            self.outcome.starts[task] = self.now
            busy = self.outcome.busy_s
            busy[node] = busy.get(node, 0.0) + cpus * took
            heapq.heappush(self.events, (self.now + took, kind, task))

    def _end(self, task: int) -> None:
        node = self._leave(task)
        self._judge(task, node, None)
        for file in self.tasks[task].outputs:
            self.caches.keep(file, self.nodes.rooms[node].cluster)
        self._release_readers(task)
        for file in self.order.unneeded(task):
            self.caches.forget(file)
        self._start_next(node)

    def _leave(self, task: int) -> int:
        """Free the CPUs of a package; return its node."""
        node = self.outcome.nodes[task]
        live = self.nodes.live[node]
        del live.running[task]
        live.cpus -= self.ready.cpus(task)
        self.outcome.ends[task] = self.now
        self._count(task, self.nodes.rooms[node].cluster, -1)
        return node

    def _release_readers(self, task: int) -> None:
        """Release what waits for a package and its files."""
        for freed in self.order.end(task):
            self._release(freed)
        self._pass_marks()

    def _fail(self, task: int) -> None:
        """End an attempt that fails; its package is tried again or has failed for good."""
        node, failure = self._leave(task), self.failing.pop(task)
        trust, room = self.conditions.trust, self.nodes.rooms[node]
        stage = self.ready.requirement(task).stage
        if failure.again_s is not None:
            avoids = failure.elsewhere or trust.excludes(node)
            self._try_again(task, failure, room.name if avoids else None)
        else:
            self.outcome.failed[failure.reason] += 1
            if self.excused[stage] > 0:
                self.excused[stage] -= 1
                self._release_readers(task)
            else:
                self.lost[task] = failure
        self._judge(task, node, failure.reason)
        self._wake(trust.wakes(stage, node))
        self._start_next(node)

    def _judge(self, task: int, node: int, reason: str | None) -> None:
        """Count an attempt for its node, and run packages elsewhere that failed because of it."""
        stage, began = self.ready.requirement(task).stage, self.outcome.starts[task]
        for blamed in self.conditions.trust.count(task, stage, node, reason, began, self.now):
            if (failure := self.lost.pop(blamed, None)) is not None:
                self.outcome.failed -= Counter([failure.reason])
                again = replace(failure, again_s=0.0)
                self._try_again(blamed, again, self.nodes.rooms[node].name)

    def _try_again(self, task: int, failure: Failure, avoid: str | None) -> None:
        self.outcome.retried[failure.reason] += 1
        self.hot.count(self.tasks[task].inputs, 1)
        self.outcome.nodes[task] = 0
        self.ready.change(task, avoid)
        heapq.heappush(self.events, (self.now + (failure.again_s or 0.0), RELEASE, task))
