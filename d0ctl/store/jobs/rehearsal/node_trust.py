"""Which nodes a rehearsal stops trusting, by the rules of the site for real nodes."""

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence

from d0ctl.policy import bad_nodes
from d0ctl.policy.bad_nodes import BlackHoleLimits, ExclusionLimits, NodeRecord, Tally
from d0ctl.schedule.rehearsal.records import NodePause, Trust
from d0ctl.schedule.resources import Rooms


class NodeTrust(Trust):
    """The records of nodes with the stages of a job; `fitting` are the nodes for each stage."""

    def __init__(
        self,
        black_holes: BlackHoleLimits,
        exclusion: ExclusionLimits,
        fitting: Mapping[int, frozenset[int]],
    ) -> None:
        super().__init__()
        self._black_holes, self._exclusion, self._fitting = black_holes, exclusion, fitting
        self._records: dict[int, dict[int, NodeRecord]] = defaultdict(dict)
        """By stage and node."""
        self._of_stage: dict[int, Tally] = defaultdict(Tally)
        self._of_node: dict[int, Tally] = defaultdict(Tally)
        self._of_job = Tally()
        self._suspects: Counter[int] = Counter()
        """How many nodes are suspects, by stage."""
        self._failed: dict[tuple[int, int], list[tuple[int, float]]] = defaultdict(list)
        """The tasks that have failed in a row on a node, and when they began."""

    def suspects(self, now: float, in_hand: Callable[[int, int], int]) -> Rooms:
        """Return how many more packages of a stage nodes may take; `in_hand` counts those there."""
        found: dict[tuple[int, int], int] = {}
        for stage in [stage for stage, number in self._suspects.items() if number]:
            fitting = self._fitting.get(stage, frozenset()) - self.resting.keys()
            limits = bad_nodes.suspect_limits(self._records[stage], fitting, self._black_holes, now)
            for node, most in limits.items():
                found[stage, node] = max(0, most - in_hand(stage, node)) if most else 0
        return found

    def count(
        self, task: int, stage: int, node: int, reason: str | None, began: float, now: float
    ) -> Sequence[int]:
        """Count an attempt that ends; return the tasks whose failures are blamed on its node."""
        is_about_node = reason is None or bad_nodes.counts_against_node(reason, or_gone=False)
        if reason is None or bad_nodes.counts_against_node(reason, or_gone=True):
            self._of_job = _more(self._of_job, reason)
            self._of_node[node] = _more(self._of_node[node], reason)
        if is_about_node:
            self._keep(task, stage, node, reason, began, now)
        rest = self.resting.get(node)
        if rest is not None:
            return self._watch(task, stage, node, reason, began, now) if is_about_node else ()
        if reason is None or not is_about_node:
            return ()
        return self._weigh(stage, node, now)

    def excludes(self, node: int) -> bool:
        """Return whether a package that failed on a node leaves it out."""
        found = bad_nodes.is_excluded(self._of_node[node], self._of_job, self._exclusion)
        if found:
            self.excluded.add(node)
        return found

    def wakes(self, stage: int, node: int) -> float | None:
        """Return when a node may take packages again after a failure; None if it may now."""
        if node in self.resting:
            return self.resting[node].until
        record = self._records[stage].get(node)
        if record is None or not bad_nodes.is_suspect(record, self._black_holes):
            return None
        return bad_nodes.pause_end(record, self._black_holes)

    def _keep(
        self, task: int, stage: int, node: int, reason: str | None, began: float, now: float
    ) -> None:
        before = self._records[stage].get(node, NodeRecord(Tally()))
        tally = _more(before.tally, reason)
        if reason is None:
            record = NodeRecord(tally)
            self._failed.pop((stage, node), None)
        else:
            record = NodeRecord(tally, before.streak + 1, now, now - began)
            self._failed[stage, node].append((task, began))
        self._records[stage][node] = record
        self._of_stage[stage] = _more(self._of_stage[stage], reason)
        for version, step in ((before, -1), (record, 1)):
            if version.streak and bad_nodes.is_suspect(version, self._black_holes):
                self._suspects[stage] += step

    def _weigh(self, stage: int, node: int, now: float) -> Sequence[int]:
        """Drain a node that fails packages which succeed elsewhere."""
        record = self._records[stage][node]
        if record.streak < bad_nodes.FEWEST_TO_DOUBT:
            return ()
        others = _less(self._of_stage[stage], record.tally)
        job = _less(self._of_job, self._of_node[node])
        failed = self._failed[stage, node]
        if bad_nodes.is_at_fault(record, others, job, self._black_holes):
            self.resting[node] = NodePause(stage, failed[0][1], now + self._black_holes.try_again)
            self.drained[node] += 1
        elif not bad_nodes.is_doubtful(record, others, job, self._black_holes):
            return ()
        return [task for task, _ in failed]

    def _watch(
        self, task: int, stage: int, node: int, reason: str | None, began: float, now: float
    ) -> Sequence[int]:
        """Readmit a drained node that has run a package well, or have it rest for longer."""
        rest = self.resting[node]
        is_trial = began >= rest.until
        if reason is None:
            if is_trial or (stage == rest.stage and began >= rest.began):
                self._readmit(node)
            return ()
        if is_trial:
            self.drained[node] += 1
            rest.until = now + bad_nodes.rest_s(self.drained[node], self._black_holes)
        return [task]

    def _readmit(self, node: int) -> None:
        """Let a drained node take packages again; its counts start at zero."""
        del self.resting[node]
        for stage, records in self._records.items():
            record = records.pop(node, NodeRecord(Tally()))
            self._of_stage[stage] = _less(self._of_stage[stage], record.tally)
            self._suspects[stage] -= bad_nodes.is_suspect(record, self._black_holes)
            self._failed.pop((stage, node), None)
        self._of_job = _less(self._of_job, self._of_node.pop(node, Tally()))


def _more(tally: Tally, reason: str | None) -> Tally:
    return Tally(tally.successful + (reason is None), tally.failed + (reason is not None))


def _less(tally: Tally, own: Tally) -> Tally:
    return Tally(tally.successful - own.successful, tally.failed - own.failed)
