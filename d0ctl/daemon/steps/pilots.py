"""Pilots: allocations of batch systems, started and ended with the packages that need them."""

import logging
import time
from collections.abc import Mapping, Sequence

from d0ctl.daemon.desk import Desk
from d0ctl.daemon.in_progress import BatchDesk
from d0ctl.daemon.steps import direct_jobs
from d0ctl.daemon.steps.schedule import ready_requirements
from d0ctl.daemon.turn import Turn
from d0ctl.errors import D0Error
from d0ctl.nodes.batch.engine import Answer, Question
from d0ctl.nodes.batch.tools import Job, Phase, Tools
from d0ctl.policy import pilots as waits
from d0ctl.policy.pilots import Supply, is_closing, more, surplus
from d0ctl.store.attempts import messages
from d0ctl.store.attempts.launching import launches
from d0ctl.store.clusters import pilots
from d0ctl.store.clusters.pilots import BatchJob, BatchSystem
from d0ctl.store.nodes import contact, draining, leases, placement, registry, site
from d0ctl.units import clean, moment

log = logging.getLogger(__name__)

LATELY_S = 60.0

UNCLEAR = (direct_jobs.VANISHED, "CANCELLED")
"""Ends of which the accounts of a batch system may know more: how, and by whom."""

ACCOUNTS_S, ACCOUNTS_AGAIN_S = 10.0, 600.0
"""How long the accounts may take, as other questions wait, and when they are asked again if they
gave no answer."""

NEVER_UP_S = 300.0
"""A running pilot that was unreachable for this long is ended if it has no packages."""


def manage_pilots(desk: Desk, turn: Turn) -> None:
    """Follow the pilots of each batch system, and request more or fewer."""
    systems = {system.id: system for system in pilots.batch_systems(desk.store)}
    for cluster in desk.batches.keys() - systems.keys():
        turn.after(desk.batches.pop(cluster).engine.end)
    for system in systems.values():
        if not leases.take_lease(desk.store, f"cluster {system.name}", now=turn.now):
            continue
        batch = desk.batch_of(system)
        for answer in batch.engine.answers():
            _act(desk, turn, system, batch, answer)
        _close_and_end(desk, turn, system, batch)
        direct_jobs.manage(desk, turn, system, batch)
        _ask(desk, turn, system, batch)


def _act(desk: Desk, turn: Turn, system: BatchSystem, batch: BatchDesk, answer: Answer) -> None:
    """Act on the answers of a tool; without an answer nothing changes."""
    kind, tools = answer.question.kind, batch.tools
    if kind == "accounts":
        if answer.output is None:
            log.warning("cluster `%s`: %s", system.name, clean(answer.error))
            batch.accounts_due = time.monotonic() + ACCOUNTS_AGAIN_S
        known = tools.read_accounts(answer.output or "")
        _end_all(desk, turn, system, batch, answer.question.about, known)
        return
    if answer.output is None:
        if kind == "submit" and answer.is_certain:
            about, error = answer.question.about, answer.error
            if not direct_jobs.refused(desk, turn, system, batch, about, error):
                batch.delay()
            for pilot in pilots.alive(desk.store, system.id):
                if pilot.batch == about:
                    pilots.ended(desk.store, pilot, error, now=turn.now)
        _fault(desk, turn, system, batch, "submit" if kind == "submit" else "queue", answer.error)
        return
    try:
        if kind == "submit":
            pilots.accepted(desk.store, answer.question.about, tools.submitted(answer.output))
            batch.queue_due = 0.0
            direct_jobs.accepted(batch)
        elif kind == "queue":
            _follow(desk, turn, system, batch, answer, tools.read_queue(answer.output))
        elif kind == "priority":
            pilots.keep_priorities(desk.store, answer.question.about)
    except D0Error as error:
        _fault(desk, turn, system, batch, kind, str(error))
        return
    if system.fault is not None and system.fault.kind == kind:
        site.works(desk.store, system.id)


def _fault(
    desk: Desk, turn: Turn, system: BatchSystem, batch: BatchDesk, kind: str, error: str
) -> None:
    """Record why a batch system starts no pilots; the log has each reason once."""
    text, wait_s = clean(error), batch.submit_due - time.monotonic()
    if system.fault is None or system.fault.text != text:
        log.warning("cluster `%s`: %s", system.name, text)
    retry = turn.now + wait_s if wait_s > 0 else None
    site.fails(desk.store, system.id, kind, text, retry=retry, now=turn.now)


def _follow(
    desk: Desk, turn: Turn, system: BatchSystem, batch: BatchDesk, answer: Answer,
    queue: Sequence[Job],
) -> None:  # fmt: skip
    """Compare the queue with the pilots.

    A home that was restored from a backup gives a name again: the newest job of that name counts.
    """
    by_age = sorted(queue, key=lambda job: int(job.array))
    jobs = {(job.name, job.index): job for job in by_age}
    found, gone = pilots.alive(desk.store, system.id), dict[int, str]()
    for pilot in found:
        job = jobs.get((pilot.batch, pilot.seq))
        if job is None:
            # It may have been submitted after the queue was read.
            if pilot.job is not None and answer.asked > pilot.submitted:
                gone[pilot.id] = direct_jobs.VANISHED
            elif answer.asked - pilot.submitted > waits.UNACCEPTED_S:
                pilots.ended(desk.store, pilot, "it was not accepted", now=turn.now)
        elif job.phase is Phase.WAITING and pilot.has_run:
            gone[pilot.id] = f"{job.state} again"
        elif job.phase is Phase.WAITING:
            pilots.keep(desk.store, pilot, job=job.array, state="queued", reason=job.reason)
        elif job.phase is Phase.ALIVE:
            ends = None if job.left_s is None else answer.asked + job.left_s
            pilots.keep(desk.store, pilot, job=job.array, state="running", reason="", ends=ends)
            if not pilot.has_run:
                pilots.add_node(desk.store, system, pilot, job.id)
        else:
            gone[pilot.id] = job.state
    _cancel_again(desk, batch, system, found, gone, jobs)
    alone, orders, over = direct_jobs.follow(desk, system, batch.tools, answer.asked, jobs)
    gone |= alone
    for order in orders:
        batch.engine.ask(order)
    unclear = _jobs(batch.tools, [
        *(pilot for pilot in found if pilot.state != "ending" and gone.get(pilot.id) in UNCLEAR),
        *(job for job in over if job.is_live and gone[job.id] in UNCLEAR),
    ])  # fmt: skip
    if unclear and time.monotonic() >= batch.accounts_due:
        command = batch.tools.accounts(batch.settings, unclear)
        batch.engine.ask(Question("accounts", command, about=gone, limit_s=ACCOUNTS_S))
    else:
        _end_all(desk, turn, system, batch, gone)


def _cancel_again(
    desk: Desk, batch: BatchDesk, system: BatchSystem, found: list[BatchJob], gone: dict[int, str],
    jobs: dict[tuple[str, int], Job],
) -> None:  # fmt: skip
    """Cancel pilots again that were cancelled and still exist: the first order may have been lost.

    Slurm may also requeue a pilot that has ended here, even after it showed its end.
    """
    doomed = [
        pilot
        for pilot in found
        if (pilot.state == "ending") != (pilot.id in gone) and (pilot.batch, pilot.seq) in jobs
    ]
    known = {(pilot.batch, pilot.seq) for pilot in found}
    back = [
        batch.tools.job_id(job.array, job.index)
        for key, job in jobs.items()
        if job.phase is not Phase.OVER and key not in known
        and pilots.has_ended(desk.store, system.id, *key)
    ]  # fmt: skip
    if ids := [*_jobs(batch.tools, doomed), *back]:
        batch.engine.ask(Question("cancel", batch.tools.cancel(ids)))


def _end_all(
    desk: Desk, turn: Turn, system: BatchSystem, batch: BatchDesk, gone: Mapping[int, str],
    accounts: Mapping[str, str] | None = None,
) -> None:  # fmt: skip
    """End pilots with the states of the queue, or of the accounts, which know more."""

    def state(job: BatchJob) -> str:
        known = (accounts or {}).get(batch.tools.job_id(job.job or "", job.seq))
        return known or gone[job.id]

    for pilot in pilots.alive(desk.store, system.id):
        if pilot.id in gone:
            _end(desk, turn, system, batch, pilot, state(pilot))
    for job in pilots.direct_jobs(desk.store, system.id) if gone else ():
        if job.id in gone:
            pilots.ending(desk.store, [job], state(job))


def _end(
    desk: Desk, turn: Turn, system: BatchSystem, batch: BatchDesk, pilot: BatchJob, state: str
) -> None:
    """End a pilot with its packages and its node."""
    pilots.ended(desk.store, pilot, state, now=turn.now)
    was_reached = pilot.contact is not None
    if pilot.state != "ending":
        if not was_reached:
            batch.delay()
            _fault(desk, turn, system, batch, "pilot", f"it ended before it was reached: {state}")
        else:
            batch.failures = 0
    if pilot.node is None or pilot.node_id is None:
        return
    log.info("pilot %s has ended: %s", pilot.node, state)
    message = f"pilot `{pilot.node}` has ended: {state}"
    contact.down(desk.store, pilot.node_id, message, now=turn.now)
    lost = launches.unreachable(desk.store, pilot.node_id)
    if lost:
        messages.fail(
            desk.store, pilot.node_id, lost, reason="platform-failure", message=message,
            now=turn.now,
        )  # fmt: skip
    registry.forget(desk.store, pilot.node, now=turn.now)


def _close_and_end(desk: Desk, turn: Turn, system: BatchSystem, batch: BatchDesk) -> None:
    """Close pilots near their time limit to new packages; end those that have nothing to do."""
    settings, idle, clock = system.pilots, [], time.monotonic()
    found = pilots.alive(desk.store, system.id)
    is_any_up = any(pilot.node_state == "up" for pilot in found)
    if is_any_up and system.fault is not None and system.fault.kind == "pilot":
        site.works(desk.store, system.id)
    for pilot in found:
        if pilot.state != "running" or pilot.node_id is None:
            continue
        left_s = None if pilot.ends is None else pilot.ends - turn.now
        closing = is_closing(left_s, settings.wall_time)
        if closing and pilot.node is not None and not pilot.drained:
            note = f"its allocation ends at {moment(pilot.ends, turn.now)}"
            draining.drain(desk.store, pilot.node_id, note=note, now=turn.now)
        if pilot.packages:
            batch.idle = {key: at for key, at in batch.idle.items() if key[0] != pilot.id}
            continue
        is_up = pilot.node_state == "up"
        patience_s = 0.0 if desk.is_over else settings.idle if is_up else NEVER_UP_S
        key = (pilot.id, is_up)
        idle_s = clock - batch.idle.setdefault(key, clock)
        if idle_s < patience_s and pilot.node is not None and not (closing and is_up):
            continue
        if is_up and pilots.keeps_needed_file(desk.store, pilot.node_id):
            batch.idle[key] = clock
            continue
        idle.append(pilot)
    for pilot in idle:
        if pilot.node_id is not None:
            draining.drain(desk.store, pilot.node_id, note="its pilot ends", now=turn.now)
    _cancel(desk, batch, idle, "it had no packages")
    there = {(pilot.id, pilot.node_state == "up") for pilot in found}
    batch.idle = {key: at for key, at in batch.idle.items() if key in there}


def _cancel(desk: Desk, batch: BatchDesk, found: list[BatchJob], reason: str) -> None:
    if jobs := _jobs(batch.tools, found):
        pilots.ending(desk.store, found, reason)
        batch.engine.ask(Question("cancel", batch.tools.cancel(jobs)))
        batch.queue_due = 0.0


def _jobs(tools: Tools, found: Sequence[BatchJob]) -> list[str]:
    return [tools.job_id(pilot.job, pilot.seq) for pilot in found if pilot.job is not None]


def _ask(desk: Desk, turn: Turn, system: BatchSystem, batch: BatchDesk) -> None:
    """Request the queue if it is due, and as many pilots as ready packages need."""
    if batch.engine.is_busy:
        return
    clock, settings, tools = time.monotonic(), system.pilots, batch.tools
    found = pilots.alive(desk.store, system.id)
    demand = 0.0 if desk.is_over else _demand(desk, system)
    queued = [pilot for pilot in found if pilot.state in ("submitted", "queued")]
    running = [pilot for pilot in found if pilot.state == "running" and not pilot.drained]
    fresh = [pilot for pilot in running if pilot.node_state != "up"]
    supply = Supply(
        len(queued), len(found) - len(queued), float(len(fresh) * settings.cpus),
        pilots.submitted_since(desk.store, system.id, turn.now - LATELY_S), settings.cpus,
        settings.max_queued, settings.max_running, settings.submit_rate,
    )  # fmt: skip
    count = more(demand, supply)
    if count == 0 and system.fault is not None and system.fault.kind == "submit":
        site.works(desk.store, system.id)
    if surplus(demand, supply):
        _cancel(desk, batch, [job for job in queued if job.state == "queued"], "it is not needed")
    if count and clock >= batch.submit_due:
        name = pilots.submit(desk.store, system.id, desk.site.name, count, now=turn.now)
        command, script = tools.submit(settings, name, count)
        turn.after(batch.engine.ask, Question("submit", command, script, name))
    elif clock >= batch.queue_due and (found or pilots.any_direct(desk.store, system.id)):
        batch.queue_due = clock if desk.is_over else clock + settings.poll
        batch.engine.ask(Question("queue", tools.QUEUE))


def _demand(desk: Desk, system: BatchSystem) -> float:
    """Return how many CPUs the ready packages need that a pilot could take."""
    quota = placement.quota(desk.store)
    return sum(
        system.share(requirement)
        * max(0, min(requirement.ready, quota.left(requirement.stage, requirement.job)))
        for requirement in ready_requirements(desk.store, desk.job)
        if system.brings(requirement)
    )  # fmt: skip
