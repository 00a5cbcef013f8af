"""How packages did on nodes, and how many more packages nodes may take because of that."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from d0ctl.policy import bad_nodes
from d0ctl.policy.bad_nodes import BlackHoleLimits, ExclusionLimits, NodeRecord, Tally, is_excluded
from d0ctl.schedule.resources import AHEAD_S, NodeRoom, Requirement, Rooms, misfit
from d0ctl.sitefile.defaults import BAD_NODES, EXCLUSION
from d0ctl.store.connection import Row, Store
from d0ctl.store.nodes import registry
from d0ctl.store.nodes.site import setting
from d0ctl.store.rows import make_all
from d0ctl.store.views.shapes import Exclusion


class Ended(Struct, frozen=True):
    """An attempt that has ended; times are by the clock of the control host.

    `reason` is None when it succeeded.
    """

    stage: int
    job: int
    node: int
    package: int
    ended: float
    lasted_s: float
    reason: str | None

    @property
    def began(self) -> float:
        """When it began."""
        return self.ended - self.lasted_s

    def counts(self, *, or_gone: bool = False) -> bool:
        """Return whether it says something about its node."""
        return self.reason is None or bad_nodes.counts_against_node(self.reason, or_gone=or_gone)


MOST_WEIGHED = 100
"""How many failures on a node are compared with those elsewhere."""

_Row: TypeAlias = tuple[float | None, ...]


def limits(store: Store) -> BlackHoleLimits:
    """Return the limits of this site for black holes."""
    return limits_of(setting(store, "bad-nodes"))


def limits_of(section: Mapping[str, Any] | None) -> BlackHoleLimits:
    """Return the limits for black holes by the section of a site file."""
    limits = {**BAD_NODES, **(section or {})}
    return BlackHoleLimits(**{key.replace("-", "_"): value for key, value in limits.items()})


def exclusion_limits(store: Store) -> ExclusionLimits:
    """Return the limits of this site for the exclusion of nodes by jobs."""
    return exclusion_of(setting(store, "exclusion"))


def exclusion_of(section: Mapping[str, Any] | None) -> ExclusionLimits:
    """Return the limits for the exclusion of nodes by the section of a site file."""
    return ExclusionLimits(**{**EXCLUSION, **(section or {})})


def keep(store: Store, ends: Iterable[Ended]) -> None:
    """Add attempts that have ended to the records, those of a node and stage in their order.

    Failures of packages that have failed for the same reason on another node are left out.
    """
    known = [*ends]
    elsewhere = _failed_elsewhere(store, known)
    ordered = sorted(
        (end for end in known if end.reason is None or (end.package, end.node) not in elsewhere),
        key=lambda end: end.ended,
    )
    stages: dict[tuple[int, int, int], list[Ended]] = {}
    jobs: dict[tuple[int, int], list[Ended]] = {}
    for end in ordered:
        if end.counts():
            stages.setdefault((end.stage, end.node, end.job), []).append(end)
        if end.counts(or_gone=True):
            jobs.setdefault((end.job, end.node), []).append(end)
    store.change_many("add_node_record", (_row(*key, some) for key, some in stages.items()))
    store.change_many("add_job_node_record", ((*key, *_tally(some)) for key, some in jobs.items()))


def _failed_elsewhere(store: Store, ends: Sequence[Ended]) -> set[tuple[int, int]]:
    """Return packages and nodes of failures that had the same reason before on another node."""
    failures = [(end.package, end.node, end.reason) for end in ends if end.reason is not None]
    rows = store.rows("failed_elsewhere", failures=json.dumps(failures)) if failures else ()
    return {(row["package"], row["node"]) for row in rows}


def uncount(store: Store, ends: Iterable[Ended]) -> None:
    """Take attempts that were counted as successes off the records."""
    for end in ends:
        store.change("take_back_success", stage=end.stage, node=end.node)
        store.change("take_back_job_success", job=end.job, node=end.node)


def _row(stage: int, node: int, job: int, ends: Sequence[Ended]) -> _Row:
    row: list[Ended] = []
    for end in ends:
        row = [] if end.reason is None else [*row, end]
    first, last = (row[0].ended, row[-1]) if row else (None, None)
    return (
        stage, node, job, *_tally(ends), len(row), first,
        last.ended if last else None, last.lasted_s if last else None,
        max((end.lasted_s for end in row), default=None), _tally(ends)[0],
    )  # fmt: skip


def _tally(ends: Sequence[Ended]) -> tuple[int, int]:
    successful = sum(end.reason is None for end in ends)
    return successful, len(ends) - successful


def tally(row: Row) -> Tally:
    """Return the tally of a row."""
    return Tally(row["successful"], row["failed"])


def left_out(
    store: Store, requirements: Sequence[Requirement], nodes: Sequence[NodeRoom]
) -> list[Requirement]:
    """Return the requirements, with `excluded` set where the job excludes the node of the last
    failure.
    """
    failed = {requirement.job for requirement in requirements if requirement.failed_on is not None}
    if not failed:
        return list(requirements)
    names = {node.id: node.name for node in nodes}
    excluded = {
        (job, names[node]) for job in failed for node in excluded_nodes(store, job) if node in names
    }
    return [
        replace(requirement, excluded=requirement.failed_on)
        if (requirement.job, requirement.failed_on) in excluded
        else requirement
        for requirement in requirements
    ]


def excluded_nodes(store: Store, job: int) -> set[int]:
    """Return the nodes that a job excludes for packages that failed there."""
    rows = store.rows("job_node_records", job=job)
    return {row["node_id"] for row in _excluding(store, rows)}


def exclusions(store: Store, job: int) -> list[Exclusion]:
    """Return the excluded nodes of a job.

    A node is not excluded while no other one takes packages, or by a job that has ended.
    """
    rows = _excluding(store, store.rows("named_job_node_records", job=job))
    return [exclusion for exclusion in make_all(Exclusion, rows) if exclusion.has_others]


def _excluding(store: Store, rows: Sequence[Row]) -> list[Row]:
    whole = Tally(sum(row["successful"] for row in rows), sum(row["failed"] for row in rows))
    bounds = exclusion_limits(store)
    return [row for row in rows if is_excluded(tally(row), whole, bounds)]


class Worse(Struct, frozen=True):
    """A stage whose packages fail on a node and succeed on others, with their numbers."""

    stage: int
    path: str
    failed: int
    successful: int
    last: float
    others: int
    others_failed: int


def worse_than_elsewhere(store: Store, node: int, *, since: float, limit: int) -> list[Worse]:
    """Return the stages that do worse on a node than on others, if it was so after a time.

    Those are left out of which most packages that failed there have failed elsewhere, too.
    """
    rows = store.rows("worse_than_elsewhere", node=node, since=since, limit=limit)
    weighed = [(row, failed_there(store, row["stage"], node, 0.0)) for row in rows]
    return make_all(Worse, [row for row, (only_there, too) in weighed if only_there >= too])


def failed_there(store: Store, stage: int, node: int, since: float) -> tuple[int, int]:
    """Return how many attempts failed only on a node since a time, and how many elsewhere, too.

    Each package that has failed elsewhere for the same reason counts as such, on whatever node it
    failed first. At most the first `MOST_WEIGHED` failures are weighed.
    """
    found = store.row("failed_there_and_elsewhere", stage=stage, node=node, began=since,
                      limit=MOST_WEIGHED)  # fmt: skip
    assert found is not None
    return found["failed"] - found["elsewhere"], found["elsewhere"]


def suspects(
    store: Store, requirements: Sequence[Requirement], nodes: Sequence[NodeRoom], now: float
) -> tuple[list[Requirement], Rooms]:
    """Return how many more packages of a stage each suspect may take, and the requirements.

    Requirements are marked as `trusting` if all suitable nodes have failed: then the suspects
    may take them without a limit.
    """
    stages = {requirement.stage: requirement for requirement in requirements}
    packages_left: dict[tuple[int, int], int] = {}
    for stage, requirement in stages.items():
        if len(nodes) > 1 and requirement.pace is not None and requirement.pace <= AHEAD_S:
            packages_left |= _not_ahead(store, stage, nodes)
    streaks = _streaks(store, stages)
    if not streaks:
        return list(requirements), packages_left
    bounds, marked = limits(store), []
    for requirement in requirements:
        known = streaks.get(requirement.stage, {})
        fitting = frozenset(
            n.id for n in nodes if n.on_trial is None and misfit(requirement, n) is None
        )
        limited = bad_nodes.suspect_limits(known, fitting, bounds, now)
        marked.append(requirement if limited or not known else replace(requirement, trusting=True))
        for node, most in limited.items():
            packages_left[requirement.stage, node] = _left(store, requirement.stage, node, most)
    return marked, packages_left


def _left(store: Store, stage: int, node: int, most: int) -> int:
    """Return how many more packages of a stage a node may take if it may have `most`."""
    has = int(store.value("stage_in_hand", node=node, stage=stage)) if most else 0
    return max(0, most - has)


def pauses(store: Store, stage: int, fitting: Iterable[int], now: float) -> dict[int, NodeRecord]:
    """Return the suitable nodes that pause for a stage now."""
    known = _streaks(store, [stage]).get(stage, {})
    bounds = (
        bad_nodes.suspect_limits(known, frozenset(fitting), limits(store), now) if known else {}
    )
    return {node: known[node] for node, most in bounds.items() if not most}


class Pause(Struct, frozen=True):
    """A stage for which a node pauses after `failed` failures in a row, and until when."""

    path: str
    failed: int
    until: float


def pauses_of_node(store: Store, node: int, now: float, limit: int) -> list[Pause]:
    """Return the stages for which a node pauses now, of those that failed there last."""
    taking = [row.id for row in registry.nodes(store) if row.state == "up" and not row.drained]
    bounds, found = limits(store), []
    for row in store.rows("streaks_of_node", node=node, limit=limit):
        if record := pauses(store, row["stage_id"], taking, now).get(node):
            end = bad_nodes.pause_end(record, bounds)
            found.append(Pause(row["path"], record.streak, end))
    return found


def _not_ahead(store: Store, stage: int, nodes: Sequence[NodeRoom]) -> dict[tuple[int, int], int]:
    """Return the free slots of nodes without a success of a stage: they get nothing in advance."""
    proven = {row["node_id"] for row in store.rows("proven_nodes", stage=stage)}
    return {
        (stage, node.id): max(0, int(node.cpus - node.used))
        for node in nodes
        if node.id not in proven
    }


def _streaks(store: Store, stages: Iterable[int]) -> dict[int, dict[int, NodeRecord]]:
    records: dict[int, dict[int, NodeRecord]] = {}
    for row in store.rows("streaks", stages=json.dumps(list(stages))):
        records.setdefault(row["stage_id"], {})[row["node_id"]] = record_of(row)
    return records


def record_of(row: Row) -> NodeRecord:
    """Return the record of a row."""
    return NodeRecord(tally(row), row["streak"], row["last"] or 0.0, row["lasted"] or 0.0)


def of_end(context: Row, ended: float, lasted_s: float, reason: str | None) -> Ended:
    """Return the attempt that an end message is about."""
    return Ended(
        context["stage_id"], context["job_id"], context["node_id"], context["package_id"],
        ended, max(0.0, lasted_s), reason,
    )  # fmt: skip
