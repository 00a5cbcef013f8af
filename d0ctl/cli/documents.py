"""The JSON documents of the reading verbs; their keys are a contract."""

from collections.abc import Sequence
from typing import Any, TypeVar

from d0ctl.cli.schemas import jobs, tasks
from d0ctl.cli.schemas.fill import fill
from d0ctl.model import LIVE, known_eta
from d0ctl.schedule.estimates import Range
from d0ctl.schedule.horizon import Horizon
from d0ctl.select import parse
from d0ctl.show.drawing.remark_texts import remark
from d0ctl.show.why.production import (
    Obstacle,
    blocked_jobs,
    job_obstacles,
    obstacles,
)
from d0ctl.store.attempts import node_record
from d0ctl.store.connection import Store
from d0ctl.store.nodes.holder import drives
from d0ctl.store.nodes.standstill import Production, production
from d0ctl.store.tasks.views import DatasetView, Remains, TaskChange, TaskSummary
from d0ctl.store.views import activity, browse, selection
from d0ctl.store.views.activity import StageRate
from d0ctl.store.views.job_files import eta
from d0ctl.store.views.left_out import Shortfall, dropped_lines, short_packages
from d0ctl.store.views.shapes import (
    FailureView,
    JobSummary,
    LineSummary,
    PackageRow,
    StageSummary,
)
from d0ctl.units import iso

T = TypeVar("T")

MOST_LIVE, MOST_FAILED, MOST_LINES, MOST_STRAGGLERS = 8, 3, 1_000, 100
"""How many packages and lines a job's or stage's document lists."""


def time_range(found: Range | None) -> jobs.TimeRange | None:
    """Return an estimated time; None if it is not known."""
    if found is None:
        return None
    return {"at": iso(found.middle), "low": iso(found.low), "high": iso(found.high)}


def job(
    job: JobSummary, of: Horizon, stop: Obstacle | None, now: float, *, driven: bool
) -> jobs.Job:
    """Return a job in the list of all; `stop` stops it alone. If not `driven` it has no end."""
    return fill(
        jobs.Job,
        job,
        job=job.name,
        estimated_end=time_range(eta.at(of.end(job.id), now)) if driven else None,
        waits_for_nodes=list(of.nodes_down(job.id)),
        held=_stop(jobs.Hold, job, "hold") if job.hold else None,
        paused=bool(job.pause),
        pause=_stop(jobs.Pause, job, "pause", running=bool(job.pause_running),
                    until=iso(job.pause_until))
        if job.pause else None,
        finishing=_stop(jobs.Finish, job, "finish", how=job.finish) if job.finish else None,
        blocked=job.counts.get("waiting", 0) if job.blocked else 0,
        obstacle=_obstacle(stop) if stop else None,
        **_counts(job),
    )  # fmt: skip


def _alone(site: Production, now: float) -> dict[str, Obstacle]:
    """Return by job what stops it alone."""
    return {**job_obstacles(site, now), **blocked_jobs(site)}


def _obstacle(of: Obstacle) -> jobs.Obstacle:
    return {"text": of.text, "commands": [*of.commands]}


def overview(store: Store, rows: Sequence[JobSummary], now: float) -> jobs.Jobs:
    """Return what keeps packages of all jobs from moving, and these jobs."""
    of, site = eta.horizon(store, now=now), production(store, now=now)
    alone = _alone(site, now)
    return {
        "jobs": [job(row, of, alone.get(row.name), now, driven=site.driven) for row in rows],
        "obstacles": [_obstacle(found) for found in obstacles(site, now)],
    }


def _counts(of: JobSummary | StageSummary | LineSummary) -> dict[str, Any]:
    return {"packages": browse.statuses(of.counts), "phases": dict(of.counts)}


def _stop(kind: type[T], job: JobSummary, verb: str, **more: Any) -> T:
    """Return who holds, pauses or finishes a job, why and since when."""
    by, note, since = (getattr(job, f"{verb}_{key}") for key in ("actor", "note", "since"))
    return fill(kind, job, by=by, reason=remark(note), since=iso(since), **more)


def size_range(found: Range | None) -> jobs.SizeRange | None:
    """Estimated bytes; None if they are not known."""
    if found is None:
        return None
    return {"low": round(found.low), "middle": round(found.middle), "high": round(found.high)}


def shortfall(lacks: Shortfall) -> jobs.Shortfall:
    """Return what a package lacks."""
    return fill(
        jobs.Shortfall, lacks, inputs=lacks.supplied, of=lacks.asked, missing=list(lacks.names)
    )


def stage(stage: StageSummary, rate: StageRate | None) -> jobs.Stage:
    """Return a stage with its counts."""
    found = None if rate is None else fill(jobs.Rate, rate)
    return fill(jobs.Stage, stage, stage=stage.seq, rate=found, **_counts(stage))


def line(line: LineSummary) -> jobs.Line:
    """Return a line with its counts."""
    return fill(jobs.Line, line, line=line.seq, **_counts(line))


def package_row(row: PackageRow, now: float) -> jobs.PackageRow:
    """Return a package in a list."""
    eta = iso(known_eta(row.phase, row.eta, now))
    return fill(jobs.PackageRow, row, eta=eta, note=remark(row.note),
                acknowledged=_acknowledged(row))  # fmt: skip


def _acknowledged(row: PackageRow | FailureView | TaskSummary) -> jobs.Acknowledgement | None:
    if row.acknowledged is None:
        return None
    return acknowledgement(row.acknowledged, row.acknowledged_at, row.acknowledged_because)


def acknowledgement(by: str, at: float | None, reason: str | None) -> jobs.Acknowledgement:
    """Return who acknowledged a failure, when and why."""
    return {"by": by, "at": iso(at), "reason": reason}


def job_card(store: Store, summary: JobSummary, now: float) -> jobs.JobCard:
    """Return all about a job."""
    dropped, settings = dropped_lines(store, summary.id), browse.settings(store, summary.id)
    short = short_packages(store, summary.id, MOST_LINES)
    running = browse.in_phases(store, summary.id, LIVE, MOST_LIVE)
    late = eta.stragglers(store, summary.id, MOST_STRAGGLERS, now=now)
    rates = activity.rates_of_job(store, summary, now=now)
    stop = _alone(production(store, now=now), now).get(summary.name)
    return fill(
        jobs.JobCard,
        settings,
        **job(summary, eta.horizon(store, now=now), stop, now, driven=drives(store, summary.id)),
        max_alike_failures=settings.most_alike,
        dropped=dropped.lines,
        removed=dropped.removed,
        left_out=[shortfall(each) for each in short],
        stages=[stage(each, rates.get(each.id)) for each in browse.stages(store, summary)],
        nodes=browse.where(store, summary.id),
        running=[package_row(row, now) for row in running],
        failed=[failure(each) for each in browse.failures(store, summary.id, MOST_FAILED)],
        excluded=[
            fill(jobs.Exclusion, row, node=row.name)
            for row in node_record.exclusions(store, summary.id)
        ],
        stragglers=[fill(jobs.Straggler, each) for each in late],
    )


def stage_card(store: Store, of: JobSummary, summary: StageSummary, now: float) -> jobs.StageCard:
    """Return all about a stage."""
    lines = browse.lines(store, of, summary, 1, MOST_LINES)
    failures = browse.failures(store, of.id, MOST_FAILED, summary.id)
    return {
        "job": of.name, **stage(summary, activity.rates_of_job(store, of, now=now).get(summary.id)),
        "path": f"{of.name}/{summary.seq}",
        "line_list": [line(each) for each in lines],
        "failed": [failure(each) for each in failures],
    }  # fmt: skip


def line_card(store: Store, of: JobSummary, stage: StageSummary, number: int,
              now: float) -> jobs.LineCard:  # fmt: skip
    """Return all about a line. Raises NotFound."""
    path = f"{of.name}/{stage.seq}/{number}"
    summary = browse.line(store, of, stage, number)
    selected = selection.choose(store, parse(path), now=now)
    return {
        "job": of.name, "stage": stage.seq, "stage_name": stage.name, **line(summary),
        "path": path,
        "package_list": [package_row(row, now) for row in selection.packages(selected)],
    }  # fmt: skip


def failure(view: FailureView) -> jobs.Failure:
    """Return a failed package with the attempt that says why."""
    return fill(jobs.Failure, view, attempt=view.number, node=view.node_name,
                acknowledged=_acknowledged(view))  # fmt: skip


def task_document(task: TaskSummary) -> tasks.Task:
    """Return a task."""
    return fill(tasks.Task, task, task=task.name, packages=task.made, files=dict(task.files),
                acknowledged=_acknowledged(task))  # fmt: skip


def task_card(
    task: TaskSummary, datasets: Sequence[DatasetView], remains: Remains
) -> tasks.TaskCard:
    """Return a task with its datasets, and with what it has left if it has ended."""
    left = fill(tasks.Left, remains) if task.ended is not None else None
    return {**task_document(task), "datasets": [dataset_document(each) for each in datasets],
            "left": left}  # fmt: skip


def dataset_document(dataset: DatasetView) -> tasks.Dataset:
    """Return a dataset of a task."""
    return fill(tasks.Dataset, dataset, dataset=dataset.name, files=dict(dataset.files),
                ranges=dict(dataset.ranges))  # fmt: skip


def task_change(row: TaskChange) -> tasks.TaskChange:
    """Return a change of the status of a task."""
    return fill(tasks.TaskChange, row)
