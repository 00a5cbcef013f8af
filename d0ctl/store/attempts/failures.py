"""The answers of policies to failed attempts: read for a whole batch, judged one by one."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct, field

from d0ctl.model import Reason
from d0ctl.policy.decide import Case, Judgement, Verdict, judge, note
from d0ctl.policy.rules import ONLY
from d0ctl.schedule.resources import NodeRoom, misfit
from d0ctl.store.connection import Row, Store
from d0ctl.store.nodes import placement
from d0ctl.store.nodes.catalogue import NOTHING, Catalogue, requirement_of
from d0ctl.store.views.policies import Policies

REFUSED_DELAY_S = 30.0
"""How long a package waits at least after a node could not start it."""

MOST_AVOIDED = 11
"""How many nodes a package avoids at most: the default rules allow as many attempts."""


class Failure(Struct, frozen=True):
    """A failed attempt, as reported; times in seconds, `rss` and `disk` in bytes."""

    attempt: int
    reason: str
    message: str | None
    restarts: int = 0
    lasted: float = 0.0
    rss: int | None = None
    disk: int | None = None
    reported: bool = True
    is_whole: bool = False
    """Whether all its outputs are on its node, so that only their delivery is left."""


class Answer(Struct, frozen=True):
    """The answer to a failure: the phase of its package, and its other changes."""

    phase: str
    verdict: Verdict
    not_before: float | None = None
    requirement: int | None = None
    wall_time: float | None = None
    note: str | None = None
    stops_job: bool = False

    @property
    def is_final(self) -> bool:
        """Whether nothing more follows unless a person acts."""
        return self.phase == "failed" or (self.phase == "held" and self.not_before is None)


def answer(store: Store, failures: Sequence[Failure], *, now: float) -> dict[int, Answer]:
    """Return the answer to each of these failures, by attempt."""
    if not failures:
        return {}
    cases = _cases(store, failures)
    policies, requirements, places = Policies(store), _Requirements(store), _Places(store)
    return {
        failure.attempt: _answer(
            failure, cases[failure.attempt], policies, requirements, places, now
        )
        for failure in failures
    }


def _cases(store: Store, failures: Iterable[Failure]) -> dict[int, Row]:
    store.empty("failing")
    store.change_many("report_failing", ((failure.attempt, failure.reason) for failure in failures))
    return {row["attempt_id"]: row for row in store.rows("failing_cases")}


def _answer(
    failure: Failure,
    row: Row,
    policies: Policies,
    requirements: "_Requirements",
    places: "_Places",
    now: float,
) -> Answer:
    policy = policies.of(row["job_policy"], row["policy"], row["software"], row["platform"])
    has_others = policy.rule(failure.reason).elsewhere != ONLY or places.has_others(
        failure.reason, row
    )
    judgement = judge(policy, _case(failure, row, places.largest, has_others))
    return Answer(
        phase=_phase(judgement),
        verdict=judgement.verdict,
        not_before=now + judgement.delay if judgement.delay else None,
        requirement=requirements.after(row, judgement, is_whole=failure.is_whole),
        wall_time=judgement.wall_time,
        note=note(failure.reason, failure.message, judgement),
        stops_job=judgement.stops_job,
    )


def _case(failure: Failure, row: Row, largest: int | None, has_others: bool) -> Case:
    return Case(
        reason=failure.reason,
        restarts=failure.restarts,
        tries=row["tries"] + 1,
        failures=row["failures"] + 1,
        lasted=failure.lasted,
        all_lasted=row["lasted"] + failure.lasted,
        rss=failure.rss,
        memory=row["memory"],
        disk=failure.disk,
        most_disk=row["disk"],
        wall_time=row["wall_time"],
        largest=largest,
        has_others=has_others,
        reported=failure.reported,
    )


def _phase(judgement: Judgement) -> str:
    if judgement.is_again:
        return "cooloff" if judgement.delay else "ready"
    return "held" if judgement.verdict is Verdict.HOLD else "failed"


class _Places(Struct):
    """The nodes, read once per batch, and only if needed."""

    store: Store
    largest: int | None = None
    _rooms: list[NodeRoom] | None = None
    _fits: dict[int, list[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.largest = self.store.value("largest_memory")

    def has_others(self, reason: str, row: Row) -> bool:
        """Return whether a retry may help.

        It may on a suitable node where the package has not failed like this. It also may if
        software of the catalogue is missing, which is copied again.
        """
        if reason == Reason.SOFTWARE_MISSING and row["software"] != NOTHING:
            return True
        failed = {row["node_name"], *(row["places"] or "").split()}
        return any(name not in failed for name in self._names(row["requirement_id"]))

    def _names(self, requirement: int) -> list[str]:
        """Return the nodes that packages with a requirement may go to."""
        if self._rooms is None:
            self._rooms = placement.nodes(self.store)
        if requirement not in self._fits:
            row = self.store.row("requirement_by_id", requirement=requirement)
            assert row is not None
            requests = requirement_of(row, Catalogue(self.store))
            self._fits[requirement] = [n.name for n in self._rooms if misfit(requests, n) is None]
        return self._fits[requirement]


class _Requirements(Struct):
    """The requests of packages that are tried again, found or made once per batch."""

    store: Store
    known: dict[tuple[Any, ...], int] = field(default_factory=dict)

    def after(self, row: Row, judgement: Judgement, *, is_whole: bool = False) -> int | None:
        """Return the requirement for the next attempt; None if it is unchanged.

        A package whose outputs are all there stays at its node, unless its rule says elsewhere.
        Then it avoids all nodes on which it has failed so, also when a person retries it.
        """
        stay = row["node_name"] if is_whole and not judgement.elsewhere else None
        avoid = _avoided(row["node_name"], row["places"]) if judgement.elsewhere else None
        if judgement.verdict is Verdict.FAIL:
            avoid = avoid or row["avoid"]
            if (stay, avoid) == (row["stay"], row["avoid"]):
                return None
            return self.similar(row, row["memory"], avoid, row["boost"], stay)
        memory = judgement.memory or row["memory"]
        asked = self.similar(row, memory, avoid, judgement.priority, stay)
        return None if asked == row["requirement_id"] else asked

    def similar(
        self, row: Row, memory: int | None, avoid: str | None, boost: int, stay: str | None = None
    ) -> int:
        """Return a requirement with these values, and otherwise that of the failed attempt."""
        failed_on = row["node_name"]
        previous = row["memory"], row["avoid"], row["boost"], row["failed_on"], row["stay"]
        if (memory, avoid, boost, failed_on, stay) == previous:
            return int(row["requirement_id"])
        wanted: Mapping[str, Any] = {
            "requirement": row["requirement_id"], "memory": memory, "avoid": avoid, "boost": boost,
            "failed_on": failed_on, "stay": stay, "priority": None,
        }  # fmt: skip
        key = tuple(wanted.values())
        if key not in self.known:
            self.known[key] = self.store.value("requirement_like", **wanted) or self.store.value(
                "make_requirement_like", **wanted
            )
        return self.known[key]


def bound_to_last_node(store: Store, rows: Sequence[Row]) -> list[int]:
    """Return requirements that only the node of the last attempt of each package meets."""
    requirements = _Requirements(store)
    return [
        requirements.similar(row, row["memory"], row["avoid"], row["boost"], row["node_name"])
        for row in rows
    ]


def free_to_move(store: Store, rows: Sequence[Row]) -> list[int]:
    """Return requirements that allow any node again, as no files of the packages are left."""
    requirements = _Requirements(store)
    return [requirements.similar(row, row["memory"], row["avoid"], row["boost"]) for row in rows]


def elsewhere(store: Store, rows: Sequence[Row]) -> list[int]:
    """Return requirements that also avoid the node of the last attempt of each package."""
    return _also_avoiding(store, rows, "node_name")


def avoiding(store: Store, rows: Sequence[Row]) -> list[int]:
    """Return requirements that also avoid the node that each package is assigned to."""
    return _also_avoiding(store, rows, "node")


def _also_avoiding(store: Store, rows: Sequence[Row], column: str) -> list[int]:
    requirements = _Requirements(store)
    return [
        requirements.similar(row, row["memory"], _avoided(row[column], row["avoid"]), row["boost"])
        for row in rows
    ]


def _avoided(last: str, before: str | None) -> str:
    """Return the names of nodes to avoid, the last one first; at most `MOST_AVOIDED`."""
    return " ".join([last, *sorted({*(before or "").split()} - {last})][:MOST_AVOIDED])


def refused(
    store: Store, node: int, attempt: int, reason: str, message: str, *, now: float
) -> bool:
    """Apply the policy to an attempt that a node refused to start.

    Return whether it was starting there.
    """
    failure = Failure(attempt, reason or Reason.LAUNCH_FAILED, message)
    row = _cases(store, [failure]).get(attempt)
    if row is None:
        return False
    policy = Policies(store).of(row["job_policy"], row["policy"], row["software"], row["platform"])
    refusals = row["refusals"] + 1
    judgement = judge(
        policy, Case(failure.reason, refusals, refusals, refusals, memory=row["memory"])
    )
    delay = max(judgement.delay or 0.0, REFUSED_DELAY_S) if judgement.is_again else judgement.delay
    return bool(
        store.change(
            "settle_refused", node=node, attempt=attempt, now=now,
            phase="cooloff" if judgement.is_again else "held",
            not_before=None if delay is None else now + delay,
            requirement=_Requirements(store).after(row, judgement) or row["requirement_id"],
            note=note(failure.reason, message, judgement),
            failure=f"{failure.reason}: {message}",
        )
    )  # fmt: skip
