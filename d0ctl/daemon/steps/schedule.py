"""Scheduling: the store returns the ready packages, the pure scheduler decides where they go."""

import logging
import math
import time
from collections.abc import Callable, Collection, Sequence
from types import ModuleType

from msgspec.structs import replace

from d0ctl.daemon.desk import Desk
from d0ctl.daemon.in_progress import Transfer
from d0ctl.daemon.line_maker import LineMaker
from d0ctl.daemon.turn import Turn
from d0ctl.nodes.courier_reports import Received, Report, StreamEnded, TransferEnded
from d0ctl.schedule.choice import Decision
from d0ctl.schedule.early import MOST_OPEN, place_open
from d0ctl.schedule.place import place
from d0ctl.schedule.quota import Quota
from d0ctl.schedule.resources import SOON_S, NodeRoom, Requirement, Soon, lead_s
from d0ctl.show.drawing.remark_texts import remark
from d0ctl.store import Store, brokers, stage_order
from d0ctl.store.attempts import behind, node_record
from d0ctl.store.attempts.history import share_usage
from d0ctl.store.clusters import throttles
from d0ctl.store.files.reachable_inputs import ReachableInputs
from d0ctl.store.jobs import pause
from d0ctl.store.jobs.finish import sweep
from d0ctl.store.jobs.require import continue_stages
from d0ctl.store.nodes import makers, placement
from d0ctl.store.nodes.site import default, setting
from d0ctl.store.tasks.content_follower import any_open

log = logging.getLogger(__name__)

SEND_S, SEND_TURNS = 0.1, 2
"""From the decision to the start of a package, besides its inputs: seconds, and turns of the loop,
which learn that inputs have arrived and send the order.
"""

QUIET_MESSAGES = frozenset({"start", "progress", "note"})
"""The messages after which no node can take more than before."""

NEEDED_S = 1.0
"""How often a process that drives one job searches for the packages of other jobs it needs."""

NEEDED_SHARE = 20
"""If that takes more than one part in so many of its time, it searches less often."""


def schedule(desk: Desk, turn: Turn) -> None:
    """ready -> assigned, for as many packages as there is room for."""
    store, now = desk.store, turn.now
    _make_lines(desk, turn)
    placement.advance(store, now=now)
    _find_needed(desk)
    can_place_no_more = desk.is_between_passes and _frees_no_cpu(turn)
    if can_place_no_more and placement.ready(store) <= desk.ready_left:
        return
    nodes = placement.nodes(store, now=now)
    requirements = _brokered(desk, ready_requirements(store, desk.job), nodes, now)
    desk.lead_s = lead_s(nodes, requirements)
    desk.pass_due = math.inf
    early_s = SEND_S + SEND_TURNS * desk.turn_s
    desk.soon = placement.coming_soon(store, desk.soon, now=now)
    decisions = _decide(
        store, desk.job, nodes, requirements, now, early_s, desk.set_pass_due, desk.soon
    )
    desk.soon = [other if other.until else replace(other, until=now + SOON_S)
                 for other in desk.soon]  # fmt: skip
    if decisions:
        placement.assign(store, decisions, now=now)
    desk.ready_left = placement.ready(store)


def resume_in_time(desk: Desk, turn: Turn) -> None:
    """Resume the jobs whose pause is over."""
    for name in pause.resume_due(desk.store, now=turn.now):
        log.info("job %s is resumed: the time of its pause is over", name)
        desk.wake.set()


def _frees_no_cpu(turn: Turn) -> bool:
    """Return whether only copies for nodes, starts and progress have arrived."""
    return all(message["kind"] in QUIET_MESSAGES for message in turn.received.messages) and all(
        map(_is_quiet, turn.reports)
    )


def _is_quiet(report: Report) -> bool:
    match report:
        case StreamEnded():
            return True
        case TransferEnded(name=Transfer() as transfer):
            return not transfer.is_here
        case Received(frame={"kind": "accepted"}):
            return True
    return False


def _make_lines(desk: Desk, turn: Turn) -> None:
    """Have lines made for groups of late outputs whose names are known."""
    if stage_order.jobs_with_open_lines(desk.store):
        if desk.lines is None:
            desk.lines = LineMaker(desk.home, desk.wake.set)
        turn.after(desk.lines.begin)


def _brokered(
    desk: Desk, requirements: list[Requirement], nodes: Sequence[NodeRoom], now: float
) -> list[Requirement]:
    """Return the requirements with the opinion of the site's broker on nodes, if it has one."""
    name = setting(desk.store, "broker")
    if desk.broker is not None and desk.broker.name != name:
        desk.broker.end()
        desk.broker = None
    if name is None:
        return requirements
    if desk.broker is None:
        # most sites have none
        from d0ctl.daemon.broker import Broker

        brokers.forget_others(desk.store, name)
        desk.broker = Broker(name, desk.wake.set)
    return desk.broker.weigh(desk.store, requirements, nodes, now=now)


def _find_needed(desk: Desk) -> None:
    """Search for packages of other jobs that the job of this process waits for."""
    began = time.monotonic()
    if desk.job and began >= desk.needed_due:
        makers.find(desk.store, desk.job)
        took = time.monotonic() - began
        desk.needed_due = began + max(NEEDED_S, NEEDED_SHARE * took)


def decide(store: Store, job: int | None = None, *, now: float) -> list[Decision]:
    """Decide for all jobs, or for one and the packages of other jobs that it needs."""
    return _decide(store, job, placement.nodes(store, now=now), ready_requirements(store, job), now)


def ready_requirements(store: Store, job: int | None) -> list[Requirement]:
    """Return requirements with ready packages, of all jobs or of one and those that it needs."""
    requirements = placement.requirements(store, job)
    return requirements if job is None else makers.requirements(store) + requirements


def _decide(
    store: Store,
    job: int | None,
    nodes: Sequence[NodeRoom],
    requirements: list[Requirement],
    now: float,
    early_s: float = SEND_S,
    due: Callable[[float], None] = lambda seconds: None,
    soon: list[Soon] | None = None,
) -> list[Decision]:
    if not nodes or not requirements:
        return []
    others = {requirement.id for requirement in requirements if job not in (None, requirement.job)}
    requirements = node_record.left_out(store, requirements, nodes)
    quota, requirements = _shared(store, nodes, requirements, now)
    allowed = throttles.allowances(
        store,
        {node.id: node.name for node in nodes},
        [requirement.job for requirement in requirements],
        now=now,
        on_node={node.id: node.running for node in nodes},
    )
    quota.throttled, quota.nodes = allowed.jobs, allowed.nodes
    requirements, rooms = node_record.suspects(store, requirements, nodes, now)
    reachable = ReachableInputs(store)
    decisions = place(
        nodes,
        [requirement for requirement in requirements if not requirement.stay],
        lambda requirement, limit: reachable.oldest(
            _list_of(requirement, others).oldest, requirement, limit
        ),
        lambda packages: placement.local_bytes(store, packages),
        lambda packages: placement.input_copies(store, packages),
        rooms,
        quota,
        lambda: placement.busy(store, now=now),
        lambda: placement.links(store),
        early_s,
        due,
        soon,
    )
    if reachable.has_set_aside:
        due(0.0)  # CPUs were kept for packages that can't start
    throttles.count(store, allowed, now=now)
    for requirement in requirements:
        if requirement.early or requirement.stay:
            limit = min(requirement.ready, MOST_OPEN * len(nodes))
            ready = _list_of(requirement.id, others)
            find = ready.oldest if requirement.stay else ready.waiting_open
            packages = find(store, requirement.id, limit)
            local = placement.local_bytes(store, packages)
            decisions += place_open(nodes, requirement, packages, local)
    return decisions


def _shared(
    store: Store, nodes: Sequence[NodeRoom], requirements: list[Requirement], now: float
) -> tuple[Quota, list[Requirement]]:
    """Return the limits of this pass, and the requirements in the order of the shares."""
    quota, fair = placement.quota(store), share_usage.standing(store, nodes, now=now)
    if fair is None:
        return quota, requirements
    quota.paths = fair.paths
    quota.groups = {path: group.target - group.has for path, group in fair.groups.items()}
    return quota, sorted(requirements, key=lambda requirement: fair.order(requirement.job))


def _list_of(requirement: int, others: Collection[int]) -> ModuleType:
    """Return the module that lists its ready packages; for other jobs, only needed ones."""
    return makers if requirement in others else placement


def rebroker(desk: Desk, turn: Turn) -> None:
    """assigned -> ready: on drained nodes, and on those where inputs arrive much too late."""
    for note in behind.rebroker(desk.store, now=turn.now):
        log.info("a package moves: %s", remark(note))


def work_on_tasks(desk: Desk, turn: Turn) -> None:
    """Start what works on tasks, once there is one that has not ended."""
    if desk.tasks is None and any_open(desk.store):
        turn.after(lambda: _begin_tasks(desk))


def _begin_tasks(desk: Desk) -> None:
    from d0ctl.daemon.task_worker import TaskWorker  # most homes have no tasks

    desk.tasks = TaskWorker(desk.home, default(desk.store, "task-agents"), desk.wake.set)


def settle_jobs(desk: Desk, turn: Turn) -> None:
    """End jobs that are done, continue ending jobs in steps, mark those that can't move."""
    settle(desk.store, now=turn.now)


def settle(store: Store, *, now: float) -> None:
    """Do the same in a transaction."""
    sweep(store, now=now)
    continue_stages(store, now=now)
    placement.end_jobs(store, now=now)
