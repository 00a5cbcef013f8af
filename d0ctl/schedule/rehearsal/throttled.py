"""The throttles of the site during a rehearsal."""

from collections import deque
from collections.abc import Mapping, Sequence

from d0ctl.schedule.quota import Allowance, Allowances, Throttle, allowances_of
from d0ctl.schedule.rehearsal.records import Conditions


class Throttled:
    """What throttles leave at a time to the nodes, and to the one job there is."""

    def __init__(self, conditions: Conditions, nodes: Mapping[int, str]) -> None:
        self._throttles: Sequence[Throttle] = conditions.throttles
        self._nodes = nodes
        self._job = {"job": conditions.job, "researcher": conditions.researcher}
        self._sent: dict[tuple[str, str], deque[float]] = {}
        """When packages were sent to nodes, by throttle and name."""

    def allowances(self, running: Mapping[int, int], now: float) -> Allowances:
        """Return what they leave; `running` packages are on each node."""
        if not self._throttles:
            return Allowances()

        def launched(throttle: Throttle, name: str) -> int:
            sent = self._sent.get((throttle.name, name), deque())
            while sent and sent[0] + throttle.per_s <= now:
                sent.popleft()
            return len(sent)

        found = Allowances()
        for node, name in self._nodes.items():
            found.nodes[node] = allowances_of(
                self._throttles, "node", name, running.get(node, 0), launched
            )
        whole = sum(running.values())
        of_job = [
            allowance
            for kind, name in self._job.items()
            for allowance in allowances_of(self._throttles, kind, name, whole, launched)
        ]
        if of_job:
            found.jobs[0] = of_job
        return found

    def count(self, used: Allowances, now: float) -> None:
        """Count the packages that were sent to nodes."""
        for allowance in used.spent():
            key = allowance.throttle.name, allowance.name
            self._sent.setdefault(key, deque()).extend([now] * allowance.taken)

    def next_launch(self, used: Allowances) -> float | None:
        """Return when the first throttle that is used up for its time allows the next launch."""
        return min((at for allowance in _all(used) if (at := self._opens(allowance)) is not None),
                   default=None)  # fmt: skip

    def _opens(self, allowance: Allowance) -> float | None:
        sent = self._sent.get((allowance.throttle.name, allowance.name))
        most = allowance.throttle.launches
        if not sent or most is None or allowance.launched + allowance.taken < most:
            return None
        return sent[0] + allowance.throttle.per_s


def _all(used: Allowances) -> list[Allowance]:
    return [allowance for of in (*used.nodes.values(), *used.jobs.values()) for allowance in of]
