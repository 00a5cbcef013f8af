"""Jobs of single packages in a batch system: submitted together, followed, and settled.

The relay on the login node has put the launches into the shared folder, where the jobs find them.
"""

import math
import time
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from msgspec.structs import replace

from d0ctl.daemon.desk import Desk
from d0ctl.daemon.in_progress import BatchDesk
from d0ctl.daemon.turn import Turn
from d0ctl.nodes.batch.engine import Question
from d0ctl.nodes.batch.tools import Job, Phase, Tasks, Tools
from d0ctl.nodes.courier import order_many
from d0ctl.nodes.ship import file_name
from d0ctl.policy import pilots as waits
from d0ctl.sitefile.spec import Pilots
from d0ctl.store.clusters import pilots
from d0ctl.store.clusters.pilots import BatchJob, BatchSystem, Due
from d0ctl.store.connection import Row
from d0ctl.units import clean

EVERY_S = 1.0
"""How often to search for launched packages; those of this time are submitted together."""

SOON_S = 0.1
"""The same while another question is open: the queue may be requested as often."""

SETTLE_S, SETTLE_AGAIN_S = 2.0, 15.0
"""How long after its job the end of a package may come by itself, before its relay is asked."""

STAGING_S = 600.0
"""What a job gets beyond the `wall-time` of its package, for files and the wrapper."""

VANISHED = "it is not in the queue any more"


def manage(desk: Desk, turn: Turn, system: BatchSystem, batch: BatchDesk) -> None:
    """Settle packages whose jobs are over, and submit jobs for those that were launched."""
    clock = time.monotonic()
    node = pilots.direct_node(desk.store, system.id) if clock >= batch.direct_due else None
    if node is None:
        return
    batch.direct_due = clock + EVERY_S
    _settle(desk, turn, system, batch, node)
    if batch.engine.is_busy:
        batch.direct_due = clock + SOON_S
    elif node["state"] == "up" and clock >= batch.submit_due:
        _submit(desk, turn, system, batch, node)


def _settle(desk: Desk, turn: Turn, system: BatchSystem, batch: BatchDesk, node: Row) -> None:
    """Have the relay send the ends of packages whose jobs are over, or say that there are none."""
    over = pilots.direct_jobs(desk.store, system.id, "ending")
    pilots.drop_direct(desk.store, [one for one in over if not one.is_live])
    clock, courier = time.monotonic(), desk.courier(node["id"])
    batch.over = {one.id: batch.over.get(one.id, clock + SETTLE_S) for one in over if one.is_live}
    due = [one for one in over if one.is_live and clock >= batch.over[one.id]]
    if courier is None or not due:
        return
    batch.over.update((one.id, clock + SETTLE_AGAIN_S) for one in due)
    turn.after(
        order_many, courier, {"kind": "over"}, [_end(system, batch.tools, one) for one in due]
    )


def _end(system: BatchSystem, tools: Tools, one: BatchJob) -> dict[str, object]:
    state = one.reason or ""
    job = tools.job_id(one.job or "", one.seq)
    message = f"job {job} of `{system.name}` has ended: {state}"
    return {"attempt": one.attempt, "reason": tools.reason(state), "message": message}


def _submit(desk: Desk, turn: Turn, system: BatchSystem, batch: BatchDesk, node: Row) -> None:
    """Submit jobs for launched packages with the same request, at once."""
    tools = batch.tools
    due = pilots.direct_due(desk.store, node["id"], tools.LARGEST_ARRAY)
    if not due:
        return
    settings, title, lower = first = _asked(system.pilots, due[0], tools)
    same = [one for one in due if _asked(system.pilots, one, tools) == first][: batch.most]
    name = pilots.submit_direct(desk.store, system.id, desk.site.name, title, same, now=turn.now)
    attempts = tuple([one.attempt for one in same])
    tasks = Tasks(f"{node['base']}/bin/{file_name()}", node["base"], attempts)
    command, script = tools.submit_tasks(settings, name, tasks, lower)
    # The queue is asked after them: until then it may list older jobs of the same name.
    batch.queue_due = max(batch.queue_due, time.monotonic() + EVERY_S)
    turn.after(batch.engine.ask, Question("submit", command, script, name))


def _asked(settings: Pilots, one: Due, tools: Tools) -> tuple[Pilots, str, int]:
    """Return what the job of a package asks for, its name, and how much it is lowered."""
    limit_s = settings.wall_time
    if one.wall_time is not None:
        limit_s = min(limit_s, 60.0 * math.ceil((one.wall_time + STAGING_S) / 60.0))
    asks = replace(settings, cpus=one.cpus, gpus=one.gpus, memory=one.memory or settings.memory,
                   wall_time=limit_s)  # fmt: skip
    return asks, one.title, tools.nice(one.priority)


def accepted(batch: BatchDesk) -> None:
    """Let more jobs be submitted at once again."""
    batch.most = min(batch.tools.LARGEST_ARRAY, 2 * batch.most)
    batch.direct_due = 0.0


def refused(desk: Desk, turn: Turn, system: BatchSystem, batch: BatchDesk, name: str,
            error: str) -> bool:  # fmt: skip
    """Forget jobs that were refused: fewer may be accepted; return whether to try that at once.

    A package whose request no machine meets fails.
    """
    found = [one for one in pilots.direct_jobs(desk.store, system.id) if one.batch == name]
    pilots.drop_direct(desk.store, found)
    node = pilots.direct_node(desk.store, system.id)
    courier = desk.courier(node["id"]) if node is not None else None
    if found and courier is not None and batch.tools.is_impossible(error):
        why = {"reason": "launch-failed", "message": clean(error)}
        order = [{"attempt": one.attempt, **why} for one in found]
        turn.after(order_many, courier, {"kind": "over"}, order)
        return True
    batch.most = max(1, len(found) // 2)
    return len(found) > 1


def follow(
    desk: Desk,
    system: BatchSystem,
    tools: Tools,
    asked: float,
    jobs: Mapping[tuple[str, int], Job],
) -> tuple[dict[int, str], list[Question], list[BatchJob]]:
    """Compare the queue with the jobs of single packages.

    Return the outcomes of ended jobs, what to request of the batch system, and all previous jobs.
    """
    gone, cancel, found = dict[int, str](), list[str](), pilots.direct_jobs(desk.store, system.id)
    moved: list[BatchJob] = []
    for one in found:
        job = jobs.get((one.batch, one.seq))
        if job is not None and job.phase is Phase.STUCK:
            cancel.append(job.id)
        if one.state == "ending":
            continue
        if job is None:
            if one.job is not None and asked > one.submitted:
                gone[one.id] = VANISHED
            elif asked - one.submitted > waits.UNACCEPTED_S:
                pilots.drop_direct(desk.store, [one])
        elif job.phase is Phase.WAITING and (one.state == "running" or not one.is_live):
            cancel.append(tools.job_id(job.array, job.index))
            if one.state == "running":
                gone[one.id] = f"{job.state} again"
        elif job.phase in (Phase.WAITING, Phase.ALIVE):
            state = "queued" if job.phase is Phase.WAITING else "running"
            reason = job.reason if job.phase is Phase.WAITING else ""
            pilots.keep(desk.store, one, job=job.array, state=state, reason=reason)
            if state == "queued" and one.wanted != one.priority:
                moved.append(replace(one, job=job.array))
        else:
            gone[one.id] = job.state
    orders = [Question("cancel", tools.cancel(cancel))] if cancel else []
    return gone, [*orders, *_reordered(tools, moved)], [one for one in found if one.id in gone]


def _reordered(tools: Tools, moved: Sequence[BatchJob]) -> Iterator[Question]:
    """Yield the requests that give queued jobs the present priorities of their packages."""

    def lower(one: BatchJob) -> int:
        return tools.nice(one.wanted or 0)

    for nice, same in groupby(sorted(moved, key=lower), lower):
        jobs = [*same]
        ids = [tools.job_id(one.job or "", one.seq) for one in jobs]
        yield Question("priority", tools.reorder(ids, nice), about=jobs)
