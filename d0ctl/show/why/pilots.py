"""Texts about batch systems and their pilots: what they do, and what they wait for."""

from collections.abc import Mapping, Sequence

from d0ctl.show.why.common import MOST, Explanation
from d0ctl.show.why.production import batch_fault
from d0ctl.store.clusters.pilots import (
    BatchJob,
    BatchSystem,
    DirectJob,
    EndedPilot,
    alive,
    direct_jobs,
    direct_node,
    latest_ended,
)
from d0ctl.store.connection import Store
from d0ctl.store.nodes.holder import any_driver
from d0ctl.units import count, listed, moment

STATES: Mapping[str, str] = {
    "submitted": "is not accepted yet", "queued": "is queued", "running": "runs", "ending": "ends",
}  # fmt: skip
"""What a pilot does that has no node yet."""


SEPARATORS = {"slurm": "_", "htcondor": "."}
"""The separator between the batch and the number in the id of a job."""


def summary(mode: str, batch_jobs: Sequence[BatchJob], alone: Sequence[BatchJob]) -> str:
    """Return how many jobs of a batch system run and wait, and for what."""
    parts = [_summary("pilots", batch_jobs)] if batch_jobs or mode != "direct" else []
    parts += [_summary("jobs", alone)] if alone or mode == "direct" else []
    return "; ".join(parts)


def _summary(what: str, batch_jobs: Sequence[BatchJob]) -> str:
    states = {
        "running": [pilot for pilot in batch_jobs if pilot.state == "running"],
        "queued": [pilot for pilot in batch_jobs if pilot.state in ("submitted", "queued")],
        "ending": [pilot for pilot in batch_jobs if pilot.state == "ending"],
    }
    reasons = sorted({_waits_for(pilot.reason) for pilot in states["queued"] if pilot.reason})
    parts = [f"{len(group)} {state}" for state, group in states.items() if group]
    why = f": {'; '.join(reasons)}" if reasons else ""
    return f"{what}: {listed(parts)}{why}" if parts else f"no {what}"


def _waits_for(reason: str) -> str:
    from d0ctl.show.why.batch.batch_reasons import waits_for  # late: it has hundreds of reasons

    return waits_for(reason)


def direct_job(job: DirectJob) -> str:
    """Return what the job of a package does, and what it waits for."""
    number = "" if job.job is None else f" {job.job}{SEPARATORS[job.kind]}{job.seq}"
    why = f": {_waits_for(job.reason)}" if job.reason else ""
    return f"its job{number} of `{job.cluster}` {STATES[job.state]}{why}"


def fact(system: BatchSystem, batch_jobs: Sequence[BatchJob], now: float) -> str:
    """Return what a ready package can expect of a batch system."""
    if system.fault is not None:
        return batch_fault(system.name, system.fault, now).text
    queued = [pilot for pilot in batch_jobs if pilot.state in ("submitted", "queued")]
    if not queued:
        said = _summary("pilots", batch_jobs)
        return f"cluster `{system.name}` submits pilots for ready packages: {said}"
    why = _waits_for(queued[0].reason) if queued[0].reason else "the queue was not asked yet"
    return f"cluster `{system.name}` has {count(len(queued), 'pilot')} in its queue: {why}"


def system(store: Store, batch: BatchSystem, now: float) -> Explanation:
    """Explain what the pilots of a batch system do, and what is wrong with it."""
    batch_jobs = alive(store, batch.id)
    said = summary(batch.pilots.mode, batch_jobs, direct_jobs(store, batch.id))
    explanation = Explanation(batch.name, "fault" if batch.fault else "works", "")
    explanation.answer = f"cluster `{batch.name}` has {said}"
    if batch.fault is not None:
        wrong = batch_fault(batch.name, batch.fault, now)
        explanation.answer, explanation.commands = wrong.text, [*wrong.commands]
        explanation.facts.append(said)
    if (node := direct_node(store, batch.id)) and node.state == "down":
        explanation.facts.append(f"its login node does not answer: {node.last_error}")
    if not any_driver(store):
        explanation.facts.append("no daemon is running, so nothing is submitted")
        explanation.commands.append("d0ctl daemon start")
    explanation.facts += [_living(batch, pilot, now) for pilot in batch_jobs[:MOST]]
    if len(batch_jobs) > MOST:
        explanation.facts.append(f"and {count(len(batch_jobs) - MOST, 'more pilot')}")
    explanation.facts += [_ended(batch, row, now) for row in latest_ended(store, batch.id, MOST)]
    return explanation


def _job(system: BatchSystem, job: str | None, seq: int) -> str:
    return "" if job is None else f" (job {job}{SEPARATORS[system.pilots.kind]}{seq})"


def _living(system: BatchSystem, pilot: BatchJob, now: float) -> str:
    job = _job(system, pilot.job, pilot.seq)
    if pilot.node is None:
        why = f": {_waits_for(pilot.reason)}" if pilot.reason else ""
        return (
            f"a pilot{job}, submitted at {moment(pilot.submitted, now)}, {STATES[pilot.state]}{why}"
        )
    ends = "" if pilot.ends is None else f", until {moment(pilot.ends, now)}"
    return f"pilot `{pilot.node}`{job} has {count(pilot.packages, 'package')}{ends}"


def _ended(system: BatchSystem, pilot: EndedPilot, now: float) -> str:
    job = _job(system, pilot.job, pilot.seq)
    return f"a pilot{job} ended at {moment(pilot.ended, now)}: {pilot.reason}"
