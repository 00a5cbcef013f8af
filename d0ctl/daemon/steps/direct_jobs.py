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
from d0ctl.model import Node
from d0ctl.nodes.batch.engine import Question
from d0ctl.nodes.batch.tools import Job, Phase, Tasks, Tools
from d0ctl.nodes.courier import order_many
from d0ctl.nodes.ship import file_name
from d0ctl.policy import pilots as waits
from d0ctl.sitefile.spec import Pilots
from d0ctl.store.clusters import pilots
from d0ctl.store.clusters.pilots import BatchJob, BatchSystem, Due
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
    elif node.state == "up" and clock >= batch.submit_due:
        _submit(desk, turn, system, batch, node)


def _settle(desk: Desk, turn: Turn, system: BatchSystem, batch: BatchDesk, node: Node) -> None:
    """Have the relay send the ends of packages whose jobs are over, or say that there are none."""
    over = pilots.direct_jobs(desk.store, system.id, "ending")
    pilots.drop_direct(desk.store, [job for job in over if not job.is_live])
    clock, courier = time.monotonic(), desk.courier(node.id)
    batch.over = {job.id: batch.over.get(job.id, clock + SETTLE_S) for job in over if job.is_live}
    due = [job for job in over if job.is_live and clock >= batch.over[job.id]]
    if courier is None or not due:
        return
    batch.over.update((job.id, clock + SETTLE_AGAIN_S) for job in due)
    turn.after(
        order_many, courier, {"kind": "over"}, [_end(system, batch.tools, job) for job in due]
    )


def _end(system: BatchSystem, tools: Tools, record: BatchJob) -> dict[str, object]:
    state = record.reason or ""
    job = tools.job_id(record.job or "", record.seq)
    message = f"job {job} of `{system.name}` has ended: {state}"
    return {"attempt": record.attempt, "reason": tools.reason(state), "message": message}


def _submit(desk: Desk, turn: Turn, system: BatchSystem, batch: BatchDesk, node: Node) -> None:
    """Submit jobs for launched packages with the same request, at once."""
    tools = batch.tools
    due = pilots.direct_due(desk.store, node.id, tools.LARGEST_ARRAY)
    if not due:
        return
    settings, title, lower = first = _asked(system.pilots, due[0], tools)
    same = [package for package in due if _asked(system.pilots, package, tools) == first][
        : batch.most
    ]
    name = pilots.submit_direct(desk.store, system.id, desk.site.name, title, same, now=turn.now)
    attempts = tuple([package.attempt for package in same])
    tasks = Tasks(f"{node.base}/bin/{file_name()}", node.base or "", attempts)
    command, script = tools.submit_tasks(settings, name, tasks, lower)
    # The queue is asked after them: until then it may list older jobs of the same name.
    batch.queue_due = max(batch.queue_due, time.monotonic() + EVERY_S)
    turn.after(batch.engine.ask, Question("submit", command, script, name))


def _asked(settings: Pilots, package: Due, tools: Tools) -> tuple[Pilots, str, int]:
    """Return what the job of a package asks for, its name, and how much it is lowered."""
    limit_s = settings.wall_time
    if package.wall_time is not None:
        limit_s = min(limit_s, 60.0 * math.ceil((package.wall_time + STAGING_S) / 60.0))
    asks = replace(
        settings,
        cpus=package.cpus,
        gpus=package.gpus,
        memory=package.memory or settings.memory,
        wall_time=limit_s,
    )
    return asks, package.title, tools.nice(package.priority)


def accepted(batch: BatchDesk) -> None:
    """Let more jobs be submitted at once again."""
    batch.most = min(batch.tools.LARGEST_ARRAY, 2 * batch.most)
    batch.direct_due = 0.0


def refused(desk: Desk, turn: Turn, system: BatchSystem, batch: BatchDesk, name: str,
            error: str) -> bool:  # fmt: skip
    """Forget jobs that were refused: fewer may be accepted; return whether to try that at once.

    A package whose request no machine meets fails.
    """
    found = [job for job in pilots.direct_jobs(desk.store, system.id) if job.batch == name]
    pilots.drop_direct(desk.store, found)
    node = pilots.direct_node(desk.store, system.id)
    courier = desk.courier(node.id) if node is not None else None
    if found and courier is not None and batch.tools.is_impossible(error):
        why = {"reason": "launch-failed", "message": clean(error)}
        order = [{"attempt": job.attempt, **why} for job in found]
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
    for record in found:
        job = jobs.get((record.batch, record.seq))
        if job is not None and job.phase is Phase.STUCK:
            cancel.append(job.id)
        if record.state == "ending":
            continue
        if job is None:
            if record.job is not None and asked > record.submitted:
                gone[record.id] = VANISHED
            elif asked - record.submitted > waits.UNACCEPTED_S:
                pilots.drop_direct(desk.store, [record])
        elif job.phase is Phase.WAITING and (record.state == "running" or not record.is_live):
            cancel.append(tools.job_id(job.array, job.index))
            if record.state == "running":
                gone[record.id] = f"{job.state} again"
        elif job.phase in (Phase.WAITING, Phase.ALIVE):
            state = "queued" if job.phase is Phase.WAITING else "running"
            reason = job.reason if job.phase is Phase.WAITING else ""
            pilots.keep(desk.store, record, job=job.array, state=state, reason=reason)
            if state == "queued" and record.wanted != record.priority:
                moved.append(replace(record, job=job.array))
        else:
            gone[record.id] = job.state
    orders = [Question("cancel", tools.cancel(cancel))] if cancel else []
    return (
        gone,
        [*orders, *_reordered(tools, moved)],
        [record for record in found if record.id in gone],
    )


def _reordered(tools: Tools, moved: Sequence[BatchJob]) -> Iterator[Question]:
    """Yield the requests that give queued jobs the present priorities of their packages."""

    def lower(job: BatchJob) -> int:
        return tools.nice(job.wanted or 0)

    for nice, same in groupby(sorted(moved, key=lower), lower):
        jobs = [*same]
        ids = [tools.job_id(job.job or "", job.seq) for job in jobs]
        yield Question("priority", tools.reorder(ids, nice), about=jobs)
