"""Nodes that d0ctl drains because they fail packages, and readmits when a package succeeds.

Packages that failed there run elsewhere, and their failures are not counted. After a time one
package tries the node: if it succeeds the node takes packages again, else it rests for longer.
"""

import json
from collections import Counter
from collections.abc import Sequence

from msgspec.structs import replace

from d0ctl.model import ACTOR, Reason
from d0ctl.policy import bad_nodes
from d0ctl.policy.bad_nodes import BlackHoleLimits, counts_against_node
from d0ctl.policy.remarks import (
    NodeAtFault,
    NodeFailing,
    Remark,
    TrialFailed,
    TrialSucceeded,
    Verdict,
    noted,
)
from d0ctl.store.attempts import node_record
from d0ctl.store.attempts.failures import elsewhere
from d0ctl.store.attempts.node_record import Ended
from d0ctl.store.connection import Row, Selection, Store
from d0ctl.store.lifecycle import keep_action
from d0ctl.store.nodes.draining import readmit

OF_A_TIME = (Reason.HOOK, Reason.MISSING_INPUT)
"""Reasons that a person may have made and undone: a hook was changed, an input was away."""

MOST_NAMED = 20
"""How many of the failed packages the evidence against a node names."""


def weigh(store: Store, ends: Sequence[Ended], *, now: float) -> list[Verdict]:
    """Count attempts that have ended and judge their nodes; return the verdicts."""
    counted = [end for end in ends if end.counts(or_gone=True)]
    if not counted:
        return []
    node_record.keep(store, counted)
    stages = json.dumps(sorted({end.stage for end in counted}))
    drained, failing = store.rows("bad_nodes"), store.rows("suspect_nodes", stages=stages)
    if not drained and not failing:
        return []
    limits = node_record.limits(store)
    verdicts: list[Verdict] = []
    for row in drained:
        verdicts += _watch(store, row, counted, limits, now)
    for row in failing:
        verdicts += _judge(store, row, limits, now)
    return verdicts


def count_as_failures(store: Store, ends: Sequence[Ended], *, now: float) -> list[Verdict]:
    """Count attempts as failures that were counted as successes; return the verdicts."""
    node_record.uncount(store, ends)
    return weigh(store, ends, now=now)


def _judge(store: Store, row: Row, limits: BlackHoleLimits, now: float) -> list[Verdict]:
    record = node_record.record_of(row)
    if record.streak < bad_nodes.FEWEST_TO_DOUBT:
        return []
    others = store.row("record_elsewhere", stage=row["stage_id"], node=row["node_id"])
    job = store.row("job_record_elsewhere", job=row["job_id"], node=row["node_id"])
    assert others is not None and job is not None
    tallies = node_record.tally(others), node_record.tally(job)
    is_guilty = bad_nodes.is_at_fault(record, *tallies, limits)
    if not is_guilty and not bad_nodes.is_doubtful(record, *tallies, limits):
        return []
    failed = _failed_there(store, row, row["since"])
    if _may_fail_anywhere(store, row, failed) or _fail_elsewhere(store, row, row["since"], limits):
        return []
    if is_guilty:
        return _drain(store, row, others, failed, limits, now)
    _rerun_uncounted(store, failed, row["node"], now)
    return []


def _may_fail_anywhere(store: Store, row: Row, failed: Sequence[Row]) -> bool:
    """Return whether packages failed for what may have failed on all nodes then: a hook, an input,
    or what an update of their job changed.

    A launch takes the hooks and inputs of its time with it, and the ids of attempts follow the
    launches.
    """
    where = {"stage": row["stage_id"], "node": row["node_id"]}
    if store.value("unproven_since_update", job=row["job_id"], since=row["since"], **where):
        return True
    if all(attempt["reason"] not in OF_A_TIME for attempt in failed):
        return False
    ids = [attempt["id"] for attempt in failed]
    return not store.value("succeeded_meanwhile", first=min(ids), last=max(ids), **where)


def refused(store: Store, attempt: int, *, now: float) -> list[Verdict]:
    """Count a launch that a node refused as a failure there."""
    row = store.row("place_of_attempt", attempt=attempt)
    if row is None:
        return []
    ids = (row["stage_id"], row["job_id"], row["node_id"], row["package_id"])
    return weigh(store, [Ended(*ids, now, 0.0, Reason.LAUNCH_FAILED)], now=now)


def _watch(
    store: Store, bad: Row, ends: Sequence[Ended], limits: BlackHoleLimits, now: float
) -> list[Verdict]:
    """Judge a drained node by the attempts that ended there.

    The package that tries it decides, and so does a success of a package of the stage that began
    there after the failures. Packages that fail run elsewhere, like those before. If most of them
    fail there, too, they are the cause, or their data.
    """
    here = [end for end in ends if end.node == bad["node_id"]]
    for end in here:
        if end.package != bad["canary_id"] or not end.counts():
            continue
        if end.reason is None:
            return _revoke(store, bad, noted(TrialSucceeded(bad["times"])), now)
        return _keep_drained(store, bad, limits, now)
    same_stage = [end for end in here if end.stage == bad["stage_id"]]
    if any(end.reason is None and end.began >= bad["began"] for end in same_stage):
        return _revoke(store, bad, Remark.SUCCEEDED_SINCE, now)
    if any(end.reason and end.node != bad["node_id"] and end.stage == bad["stage_id"]
           for end in ends) and _fail_elsewhere(store, bad, bad["began"], limits):  # fmt: skip
        return _revoke(store, bad, Remark.FAILED_ELSEWHERE, now)
    if any(end.reason for end in same_stage):
        _rerun_uncounted(store, _failed_there(store, bad, bad["began"]), bad["node"], now)
    return []


def _fail_elsewhere(store: Store, row: Row, since: float, limits: BlackHoleLimits) -> bool:
    """Return whether most packages that failed on a node since a time failed elsewhere, too."""
    only_there, too = node_record.failed_there(store, row["stage_id"], row["node_id"], since)
    return only_there < limits.failures and only_there < too


def _revoke(store: Store, bad: Row, note: str, now: float) -> list[Verdict]:
    """Let a drained node take packages again."""
    readmit(store, bad["node_id"], bad["node"], actor=ACTOR, note=note, now=now)
    return [Verdict("node-back", bad["node"], note)]


def _keep_drained(store: Store, bad: Row, limits: BlackHoleLimits, now: float) -> list[Verdict]:
    times = bad["times"] + 1
    rest_s = bad_nodes.rest_s(times, limits)
    store.change("fail_bad_node", node=bad["node_id"], times=times, next_try=now + rest_s)
    failed = store.rows("failed_trial", package=bad["canary_id"], node=bad["node_id"])
    _rerun_uncounted(store, failed, bad["node"], now)
    note = noted(TrialFailed(rest_s))
    _keep(store, "node drain", bad["node"], note, now)
    return [Verdict("node-kept", bad["node"], note)]


def _drain(
    store: Store,
    row: Row,
    others: Row,
    failed: Sequence[Row],
    limits: BlackHoleLimits,
    now: float,
) -> list[Verdict]:
    """Drain a node, and let the packages that failed there run elsewhere."""
    if store.row("bad_node", node=row["node_id"]):
        return []
    evidence = _evidence(row, others, failed)
    note = noted(replace(evidence, packages=[]))
    store.change("drain_node", node=row["node_id"], note=note, now=now)
    store.change(
        "keep_bad_node", node=row["node_id"], job=row["job_id"], stage=row["stage_id"],
        began=row["since"], now=now, evidence=noted(evidence), next_try=now + limits.try_again,
    )  # fmt: skip
    store.change("unassign_node", node=row["node_id"], now=now, note=Remark.NODE_DRAINED)
    _keep(store, "node drain", row["node"], note, now)
    _rerun_uncounted(store, failed, row["node"], now)
    return [Verdict("node-drained", row["node"], note)]


def _failed_there(store: Store, row: Row, since: float) -> list[Row]:
    rows = store.rows("failed_on_node", stage=row["stage_id"], node=row["node_id"], began=since)
    return [end for end in rows if counts_against_node(end["reason"] or "", or_gone=False)]


def _evidence(row: Row, others: Row, failed: Sequence[Row]) -> NodeFailing:
    """Return the evidence against a node."""
    return NodeFailing(
        row["path"], row["streak"], row["longest"],
        dict(Counter(entry["reason"] for entry in failed)),
        {"successful": others["successful"], "failed": others["failed"]},
        list(dict.fromkeys(entry["path"] for entry in failed))[:MOST_NAMED],
    )  # fmt: skip


def _rerun_uncounted(store: Store, failed: Sequence[Row], node: str, now: float) -> None:
    """Let packages that failed because of a node run elsewhere, without counting a try."""
    store.change_many("forgive_attempt", ((row["id"],) for row in failed))
    standing = [row for row in failed if row["stands"]]
    note = noted(NodeAtFault(node))
    for row, requirement in zip(standing, elsewhere(store, standing), strict=True):
        store.change(
            "run_elsewhere", package=row["package_id"], requirement=requirement, now=now, note=note
        )


def drained_for(selected: Selection) -> list[Row]:
    """Return the nodes that were drained because of the jobs of the selected packages."""
    return selected.rows("bad_nodes_of_selected")


def forget_jobs(selected: Selection, *, actor: str, note: str | None, now: float) -> None:
    """Forget how nodes did with the jobs of the selected packages, which a person retries (CRAB3).

    Nodes that were drained because of these jobs take packages again.
    """
    for row in drained_for(selected):
        readmit(selected.store, row["node_id"], row["node"], actor=actor, note=note, now=now)
    selected.change("forget_node_records_of_selected")
    selected.change("forget_job_node_records_of_selected")


def _keep(store: Store, verb: str, name: str, note: str, now: float) -> None:
    keep_action(store, verb=verb, target=name, actor=ACTOR, note=note, packages=0, now=now,
                undo=f"d0ctl node resume {name}")  # fmt: skip
