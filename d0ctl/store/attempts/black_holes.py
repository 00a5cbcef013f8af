"""The only place where d0ctl itself drains nodes that burn packages, and takes them back.

What they burnt runs elsewhere, and no try is counted for it. After a time one package tries the
node: when it goes well the node is well, else it rests for longer.
"""

import json
from collections import Counter
from collections.abc import Iterable, Sequence

from d0ctl.model import Reason
from d0ctl.policy import bad_nodes
from d0ctl.policy.bad_nodes import BlackHoleLimits
from d0ctl.store.attempts import node_record
from d0ctl.store.attempts.failures import elsewhere
from d0ctl.store.attempts.node_record import Ended
from d0ctl.store.connection import Row, Store
from d0ctl.store.lifecycle import keep_action
from d0ctl.store.nodes.draining import readmit
from d0ctl.units import count, duration

ACTOR = "d0ctl"
"""Who drains them, in the history."""

MOST_NAMED = 20
"""How many of the packages that a node burnt its evidence names."""


def weigh(store: Store, ends: Sequence[Ended], *, now: float) -> list[str]:
    """Count attempts that have ended, and judge their nodes; a sentence for each that changes."""
    told = [end for end in ends if end.counts(gone=True)]
    if not told:
        return []
    node_record.keep(store, told)
    stages = json.dumps(sorted({end.stage for end in told}))
    drained, burners = store.rows("bad_nodes"), store.rows("burners", stages=stages)
    if not drained and not burners:
        return []
    limits = node_record.limits(store)
    sentences = []
    for row in drained:
        sentences += _watch(store, row, told, limits, now)
    for row in burners:
        sentences += _judge(store, row, limits, now)
    return sentences


def _judge(store: Store, row: Row, limits: BlackHoleLimits, now: float) -> list[str]:
    how = node_record.conduct(row)
    if how.streak < bad_nodes.FEWEST_TO_DOUBT:
        return []
    others = store.row("conduct_of_others", stage=row["stage_id"], node=row["node_id"])
    job = store.row("conduct_of_job_elsewhere", job=row["job_id"], node=row["node_id"])
    assert others is not None and job is not None
    tallies = node_record.tally(others), node_record.tally(job)
    if bad_nodes.is_guilty(how, *tallies, limits):
        return _drain(store, row, others, limits, now)
    if bad_nodes.is_doubtful(how, *tallies, limits):
        _forgive(store, _burnt(store, row, row["since"]), row["node"], now)
    return []


def refused(store: Store, attempt: int, *, now: float) -> list[str]:
    """A launch that a node refused speaks against it as a failure does."""
    row = store.row("place_of_attempt", attempt=attempt)
    if row is None:
        return []
    place = (row["stage_id"], row["job_id"], row["node_id"], row["package_id"])
    return weigh(store, [Ended(*place, now, 0.0, Reason.LAUNCH_FAILED)], now=now)


def _watch(
    store: Store, bad: Row, ends: Iterable[Ended], limits: BlackHoleLimits, now: float
) -> list[str]:
    """What ended on a drained node: the package that tries it, and what was there before."""
    here = [end for end in ends if end.node == bad["node_id"]]
    for end in here:
        if end.package != bad["canary_id"] or not end.counts():
            continue
        if end.reason is None:
            rests = count(bad["times"], "rest")
            return _revoke(store, bad, f"a package that tried it ran well after {rests}", now)
        return _fail(store, bad, limits, now)
    ours = [end for end in here if end.stage == bad["stage_id"]]
    if any(end.reason is None and end.began >= bad["began"] for end in ours):
        return _revoke(store, bad, "a package that began there after the failures ran well", now)
    if any(end.reason for end in ours):
        _forgive(store, _burnt(store, bad, bad["began"]), bad["node"], now)
    return []


def _revoke(store: Store, bad: Row, note: str, now: float) -> list[str]:
    """Let a node that d0ctl drained take packages again."""
    readmit(store, bad["node_id"], bad["node"], actor=ACTOR, note=note, now=now)
    return [f"node `{bad['node']}` is well again: {note}"]


def _fail(store: Store, bad: Row, limits: BlackHoleLimits, now: float) -> list[str]:
    times = bad["times"] + 1
    rest = bad_nodes.rest_s(times, limits)
    store.change("fail_bad_node", node=bad["node_id"], times=times, next_try=now + rest)
    burnt = store.rows("burnt_attempt", package=bad["canary_id"], node=bad["node_id"])
    _forgive(store, burnt, bad["node"], now)
    told = f"a package that tried it failed, too; it rests for {duration(rest)}"
    _keep(store, "node drain", bad["node"], told, now)
    return [f"node `{bad['node']}` stays drained: {told}"]


def _drain(store: Store, row: Row, others: Row, limits: BlackHoleLimits, now: float) -> list[str]:
    """Let a node take nothing new, and what it burnt run elsewhere."""
    if store.row("bad_node", node=row["node_id"]):
        return []
    burnt = _burnt(store, row, row["since"])
    told = evidence(row, others, burnt)
    store.change("drain_node", node=row["node_id"], note=f"by d0ctl: {told}", now=now)
    store.change(
        "keep_bad_node", node=row["node_id"], job=row["job_id"], stage=row["stage_id"],
        began=row["since"], now=now, evidence=told, next_try=now + limits.try_again,
        details=json.dumps(_details(row, others, burnt)),
    )  # fmt: skip
    store.change("unassign_node", node=row["node_id"], now=now, note=f"{row['node']} was drained")
    _keep(store, "node drain", row["node"], told, now)
    _forgive(store, burnt, row["node"], now)
    return [f"node `{row['node']}` is drained: {told}"]


def _burnt(store: Store, row: Row, since: float) -> list[Row]:
    rows = store.rows("burnt_attempts", stage=row["stage_id"], node=row["node_id"], began=since)
    return [
        one for one in rows if bad_nodes.counts_against_node(one["reason"] or "", or_gone=False)
    ]


def evidence(row: Row, others: Row, burnt: Sequence[Row]) -> str:
    """What speaks against a node, in a sentence."""
    reasons = Counter(one["reason"] for one in burnt)
    why = ", ".join(f"{reason} {count(n, 'time')}" for reason, n in reasons.most_common(3))
    ran = others["successful"] + others["failed"]
    return (
        f"{count(row['streak'], 'package')} of `{row['path']}` failed here in a row, the longest"
        f" after {duration(row['longest'])} ({why or 'launches refused'}), while other nodes ran"
        f" {count(others['successful'])} of {count(ran)} well"
    )


def _details(row: Row, others: Row, burnt: Sequence[Row]) -> dict[str, object]:
    return {
        "stage": row["path"],
        "burnt": row["streak"],
        "packages": [one["path"] for one in burnt[:MOST_NAMED]],
        "reasons": dict(Counter(one["reason"] for one in burnt)),
        "longest": row["longest"],
        "others": {"successful": others["successful"], "failed": others["failed"]},
    }


def _forgive(store: Store, burnt: Sequence[Row], node: str, now: float) -> None:
    """Count no try for what a node burnt, and let it run elsewhere."""
    store.change_many("forgive_attempt", ((row["id"],) for row in burnt))
    standing = [row for row in burnt if row["stands"]]
    note = f"`{node}` burnt it, so it runs elsewhere"
    for row, demand in zip(standing, elsewhere(store, standing), strict=True):
        store.change("run_elsewhere", package=row["package_id"], demand=demand, now=now, note=note)


def forget_jobs(store: Store, *, actor: str, note: str | None, now: float) -> None:
    """A person has something of the chosen packages' jobs tried again: what nodes did with them
    counts no more, and those that were drained for it take packages again (CRAB3).
    """
    for row in store.rows("bad_nodes_of_chosen"):
        readmit(store, row["node_id"], row["node"], actor=actor, note=note, now=now)
    store.change("forget_conduct_of_chosen")
    store.change("forget_job_conduct_of_chosen")


def _keep(store: Store, verb: str, name: str, note: str, now: float) -> None:
    keep_action(store, verb=verb, target=name, actor=ACTOR, note=note, packages=0, now=now,
                undo=f"d0ctl node resume {name}")  # fmt: skip
