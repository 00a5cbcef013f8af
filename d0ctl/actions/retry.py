"""retry: what failed runs again, where there is hope, with other wishes if need be."""

import time
from collections import Counter
from dataclasses import replace

from d0ctl.actions.new_parameters import scripts_of
from d0ctl.actions.plan import MOST_SHOWN, Plan, Request
from d0ctl.actions.retryable import hopeless
from d0ctl.actions.selection import nothing_for, rows
from d0ctl.errors import NotFound, Refused
from d0ctl.model import Phase
from d0ctl.select import Selector
from d0ctl.store import lifecycle
from d0ctl.store.connection import Store
from d0ctl.store.jobs import retry
from d0ctl.store.views import browse

BY_NAME = frozenset({Phase.CANCELED, Phase.COOLOFF})
"""What is retried only where it is meant by its path or by its state."""


def prepare_retry(store: Store, request: Request) -> Request:
    """With other parameters, what the packages would run: a look at the job file, ahead of time."""
    if not request.changes.parameters:
        return request
    with store.reading():
        browse.choose(store, request.target, now=time.time())
        retry.keep_phases(store, retryable(request.target))
        if not int(store.value("count_chosen")):
            return request
        return replace(request, scripts=scripts_of(store, request))


def plan_retry(store: Store, request: Request) -> Plan:
    """The failed packages of the choice, without those for which there is no hope."""
    _check_nodes(store, request)
    able = retryable(request.target)
    browse.choose(store, request.target, now=time.time())
    phases = lifecycle.phases(store)
    kept = {phase: n for phase, n in phases.items() if phase not in able}
    if len(kept) == len(phases):
        raise _nothing(store, request.target, kept)
    retry.keep_phases(store, able)
    reasons = hopeless(store, request.changes)
    retry.leave_out(store, reasons)
    phases = lifecycle.phases(store)
    counted = Counter(reasons.values())
    if not phases:
        raise _no_hope(request.target, counted)
    return Plan(
        request,
        phases=phases,
        packages=sum(phases.values()),
        kept=kept,
        changes=tuple(rows(store)[:MOST_SHOWN]),
        hopeless=dict(counted),
    )


def retryable(target: Selector) -> frozenset[Phase]:
    """What is retried: what failed, and what else was meant by name."""
    named = [
        BY_NAME if part.is_one and part.level == "package" else frozenset(part.phases or ())
        for part in target.parts
    ]
    return (BY_NAME & frozenset.intersection(*named)) | {Phase.FAILED}


def _check_nodes(store: Store, request: Request) -> None:
    names = [row[0] for row in store.rows("node_names")]
    for node in request.changes.nodes:
        if node not in names:
            raise NotFound(f"there is no node `{node}`",
                           hint=browse.nearest(node, names) or "d0ctl node list")  # fmt: skip


def _nothing(store: Store, target: Selector, kept: dict[str, int]) -> Refused:
    refusal = nothing_for(store, target, kept, "retried")
    dropped, canceled = kept.get("dropped"), kept.get("canceled")
    if dropped and dropped == sum(kept.values()) and target.depth >= 3:
        line = "/".join(target.path.split("/")[:3])
        refusal.hint = f"d0ctl restore-line {line}"
    elif canceled and not target.states and not target.also:
        refusal.hint = f"{canceled} canceled: `d0ctl retry '{target}:canceled'`"
    return refusal


def _no_hope(target: Selector, reasons: Counter[str]) -> Refused:
    (why, number), *more = reasons.most_common()
    if target.is_one and target.level == "package":
        return Refused(f"package `{target}` can't be retried: {why}", hint=f"d0ctl why {target}")
    told = "; ".join(f"{n} because {reason}" for reason, n in [(why, number), *more])
    return Refused(f"nothing of `{target.brief}` can be retried: {told}",
                   hint=f"d0ctl history '{target.parts[0]}'")  # fmt: skip


def retry_failed(store: Store, plan: Plan, actor: str, note: str | None, now: float) -> None:
    """Change what the chosen packages ask for, and let them run again."""
    changes = plan.request.changes
    if changes.from_scratch:
        retry.start_over(store)
    if changes.wishes:
        retry.change_demands(store, changes.wishes)
    if changes.wall_time is not None:
        store.change("change_wall_time", wall_time=changes.wall_time)
    if changes.environment:
        retry.add_environment(store, changes.environment)
    if plan.request.scripts:
        retry.change_scripts(store, [(s.script, s.argv, s.parameters, s.package, s.seq)
                                     for s in plan.request.scripts])  # fmt: skip
    retry.retry(store, actor=actor, note=note, now=now)
