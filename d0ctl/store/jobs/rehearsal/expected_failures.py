"""Which attempts of a rehearsal fail, by the record of earlier ones, and the policy's answers."""

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from random import Random
from typing import TypeAlias

from msgspec import Struct, field

from d0ctl.jobfile.spec import JobSpec
from d0ctl.policy.decide import Case, judge
from d0ctl.policy.rules import ONLY, RESTARTED
from d0ctl.schedule.rehearsal.records import Failure
from d0ctl.schedule.resources import NodeRoom, Requirement, misfit
from d0ctl.sitefile.spec import Site
from d0ctl.store.connection import Store
from d0ctl.store.jobs.rehearsal.work import Kind, Work
from d0ctl.store.views.policies import NOTHING, Policies

MOST_ATTEMPTS = 10_000
"""How many of the latest attempts are considered."""

OF_ALL = 10
"""The rate of all nodes counts as much as this many attempts on a node."""

Group: TypeAlias = tuple[str, ...]
"""Similar attempts: those of a position in a job file, of some software, or all."""


class Record(Struct):
    """How the attempts of a group ended."""

    attempts: Counter[str] = field(default_factory=Counter)
    """By node."""
    failures: dict[str, Counter[str]] = field(default_factory=dict)
    """By reason and node."""
    seconds: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    """The time of the failures together, by reason."""

    def rate(self, reason: str, node: str) -> float:
        """Return the fraction of the attempts on a node that fails for a reason.

        A node with few attempts is assumed to be like the others.
        """
        failed, whole = self.failures[reason], self.attempts.total()
        usual = failed.total() / whole
        return (failed[node] + OF_ALL * usual) / (self.attempts[node] + OF_ALL)

    def lasted_s(self, reason: str) -> float:
        """Return how long attempts last that fail for a reason."""
        return self.seconds[reason] / self.failures[reason].total()


class _History(Struct):
    """The history of a package in the rehearsal so far."""

    reasons: Counter[str] = field(default_factory=Counter)
    lasted_s: float = 0.0


class ExpectedFailures:
    """The expected failures, as often as they happened before."""

    def __init__(self, store: Store, spec: JobSpec, work: Work, site: Site) -> None:
        self._work, self._source = work, spec.source
        self._policies = Policies(store, site=json.dumps(site.settings.get("policy") or {}))
        self._job_policy = json.dumps(spec.policy) if spec.policy else NOTHING
        self._requirements = {requirement.id: requirement for requirement in work.requirements}
        self._records: dict[Group, Record] = defaultdict(Record)
        self._of_kind: dict[Kind, Sequence[tuple[Group, str]]] = {}
        self.attempts = 0
        """How many earlier attempts were considered."""
        self.failed = 0
        """How many of these failed."""
        for row in store.rows("attempt_outcomes", limit=MOST_ATTEMPTS):
            self.attempts += row["n"]
            self.failed += row["n"] if row["reason"] is not None else 0
            key = row["source"], row["stage"], str(row["position"])
            for group in {key, (row["software"],), ()}:
                self._add(self._records[group], row["node"], row["reason"], row["n"], row["lasted"])

    def _add(self, to: Record, node: str, reason: str | None, n: int, lasted: float) -> None:
        to.attempts[node] += n
        if reason is not None:
            to.failures.setdefault(reason, Counter())[node] += n
            to.seconds[reason] += lasted

    def on(self, nodes: Sequence[NodeRoom]) -> Callable[[int, int], Failure | None]:
        """Return a function that says whether a task's next attempt on one of these nodes fails.

        Each failure comes at random among the attempts of which one is expected to fail, so a
        rehearsal has the average number, and the same each time. At equal distances they would meet
        the order in which nodes get packages, and all be on some of them.
        """
        rooms = {node.id: node for node in nodes}
        chance = Random(0)
        due: dict[tuple[Group, str], float] = defaultdict(float)
        marks: dict[tuple[Group, str], float] = defaultdict(chance.random)
        """When the next failure is due."""
        past: dict[int, _History] = defaultdict(_History)
        fits: dict[int, int] = {}
        """How many nodes fit each requirement."""

        def fails(task: int, node: int) -> Failure | None:
            kind, room = self._work.kinds[task], rooms[node]
            for group, reason in self._reasons(kind):
                key, record = (group, reason), self._records[group]
                due[key] += record.rate(reason, room.name)
                if due[key] >= marks[key]:
                    marks[key] = int(marks[key]) + 1 + chance.random()
                    wanted = self._requirements[self._work.tasks[task].requirement]
                    if wanted.id not in fits:
                        fits[wanted.id] = sum(misfit(wanted, node) is None for node in nodes)
                    return self._failure(kind, wanted, reason, record.lasted_s(reason), past[task],
                                         room.platform, fits[wanted.id] > 1)  # fmt: skip
            return None

        return fails

    def _reasons(self, kind: Kind) -> Sequence[tuple[Group, str]]:
        """Return why packages of a kind may fail, by the closest group with a record."""
        known = self._of_kind.get(kind)
        if known is None:
            groups: list[Group] = [(self._source, kind.stage, str(kind.position))]
            groups += [(kind.software,)] if kind.software != "[]" else []
            seen = next((group for group in groups if group in self._records), None)
            # of others, only failures count that no package causes
            known = self._of_kind[kind] = [
                (seen or (), reason)
                for reason in sorted(self._records[seen or ()].failures)
                if seen is not None or reason in RESTARTED
            ]
        return known

    def _failure(
        self,
        kind: Kind,
        wanted: Requirement,
        reason: str,
        lasted_s: float,
        past: _History,
        platform: str | None,
        has_others: bool,
    ) -> Failure:
        """Return the consequences by the policy of a package."""
        policy = self._policies.of(self._job_policy, kind.policy, kind.software, platform)
        past.reasons[reason] += 1
        past.lasted_s += lasted_s
        restarts = sum(past.reasons[reason] for reason in RESTARTED)
        verdict = judge(policy, Case(
            reason, max(0, restarts - (reason in RESTARTED)), past.reasons[reason],
            past.reasons.total() - restarts, lasted_s, past.lasted_s, memory=wanted.memory,
            wall_time=kind.wall_time,
            has_others=has_others or policy.rule(reason).elsewhere != ONLY,
        ))  # fmt: skip
        again_s = (verdict.delay or 0.0) if verdict.is_again else verdict.delay
        return Failure(reason, lasted_s, again_s, bool(verdict.elsewhere))
