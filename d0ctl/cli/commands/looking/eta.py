"""`d0ctl eta`: when jobs end, and how good earlier estimates were."""

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from d0ctl import select
from d0ctl.cli import options, session
from d0ctl.cli.terminal import completion
from d0ctl.cli.terminal.fast_typer import single
from d0ctl.cli.terminal.output import emit_json, sheet, show
from d0ctl.errors import BadUsage, ExitCode, Refused
from d0ctl.model import Phase
from d0ctl.schedule import horizon
from d0ctl.show.forecast import estimate_audit
from d0ctl.show.forecast import eta as card
from d0ctl.store.attempts.history.earlier_runs import error
from d0ctl.store.connection import Store
from d0ctl.store.views import browse
from d0ctl.store.views.job_files import eta, eta_audit
from d0ctl.store.views.shapes import JobSummary
from d0ctl.units import count

if TYPE_CHECKING:
    from d0ctl.cli.schemas import estimates

app = single()

MOST_AUDITED = 10_000
"""How many of the latest attempts an audit includes."""

Jobs = Annotated[
    list[str] | None,
    typer.Argument(metavar="JOB", autocompletion=completion.selectors,
                   help="Jobs by name (default: all active ones, one per line); with --audit one, "
                   "or none for all."),
]  # fmt: skip

Audited = Annotated[
    bool, typer.Option("--audit", help="Compare past estimates with what happened.")
]  # fmt: skip


@app.command("eta")
def estimate(selectors: Jobs = None, audit: Audited = False, json: options.Json = False) -> None:
    """Estimate when jobs end, or say how good past estimates were."""
    now, names = time.time(), list(dict.fromkeys(selectors or ()))
    if len(names) > 1 and (audit or json):
        raise BadUsage(f"`{'--audit' if audit else '--json'}` takes one job")
    with session.reader() as store, store.reading():
        jobs = [_named(store, name) for name in names]
        if audit:
            _audit(store, jobs[0].id if jobs else None, json)
        elif not jobs:
            _all(store, json, now)
        elif json:
            emit_json(estimated(store, jobs[0], now))
        else:
            _draw(store, jobs, now)


def _all(store: Store, json: bool, now: float) -> None:
    """Print when each active job ends."""
    from d0ctl.show.active import active_ends

    ends = active_ends.job_ends(store, now)
    if json:
        from d0ctl.cli.documents import time_range

        document: estimates.Ends = {
            "jobs": [
                {"job": each.job.name, "state": each.state, "end": time_range(each.end),
                 "waits_for_nodes": list(each.nodes_down)}
                for each in ends
            ]
        }  # fmt: skip
        emit_json(document)
    else:
        page = sheet()
        active_ends.draw(page, ends)
        show(page)


def _named(store: Store, name: str) -> JobSummary:
    wanted = select.parse(name)
    found = browse.jobs(store, wanted.job)
    if found and (not wanted.is_one or wanted.level != "job"):
        raise BadUsage(f"`{name}` is not one job", hint=f"d0ctl eta {found[0].name}")
    return browse.job(store, wanted.job)


def _draw(store: Store, jobs: Sequence[JobSummary], now: float) -> None:
    """Draw the estimates of the jobs that move; say of each other why it has none."""
    from d0ctl.cli.terminal import errors
    from d0ctl.store.nodes.holder import drives

    refusals = [_no_end(job) for job in jobs]
    moving = [job for job, refused in zip(jobs, refusals, strict=True) if refused is None]
    if moving:
        found, page = eta.horizon(store, now=now), sheet()
        for job in moving:
            names = {stage.seq: stage.name for stage in browse.stages(store, job)}
            card.draw(page, found, job.id, names, now, driven=drives(store, job.id))
        show(page)
    for refused in filter(None, refusals):
        errors.report(refused)
    if any(refusals):
        raise typer.Exit(ExitCode.REFUSED)


def _no_end(job: JobSummary) -> Refused | None:
    """Return why nothing estimates the end of a job on which nothing moves any more."""
    if job.ended is None and not job.blocked:
        return None
    if not job.blocked or not (waiting := job.counts.get(Phase.WAITING)):
        return Refused(f"job `{job.name}` has ended", hint=f"d0ctl eta {job.name} --audit")
    are = count(waiting, "package is", "packages are")
    return Refused(
        f"job `{job.name}` can't continue by itself: {are} blocked", hint=f"d0ctl why {job.name}"
    )


def estimated(store: Store, job: JobSummary, now: float) -> "estimates.Eta":
    """Return when a job ends. Raises Refused if it has ended."""
    from d0ctl.cli.documents import size_range, time_range
    from d0ctl.store.nodes.holder import drives

    if refused := _no_end(job):
        raise refused
    found = eta.horizon(store, now=now)
    ends = found if drives(store, job.id) else horizon.NO_HORIZON
    left = found.jobs[job.id]
    return {
        "job": job.name,
        "end": time_range(eta.at(ends.end(job.id), now)),
        "waits_for_nodes": list(left.nodes_down),
        "cpu_left": left.work.middle,
        "cpu_before": found.before(job.id),
        "longest_chain": left.longest_chain,
        "stages": [
            {"stage": stage.seq, "left": stage.packages, "runs": stage.runs,
             "end": time_range(eta.at(ends.stage_end(job.id, stage.seq), now)),
             "seconds": None if stage.seconds is None else stage.seconds.middle,
             "seconds_low": None if stage.seconds is None else stage.seconds.low,
             "seconds_high": None if stage.seconds is None else stage.seconds.high,
             "memory": size_range(stage.sizes.memory), "output": size_range(stage.sizes.output),
             "work_size": size_range(stage.sizes.work)}
            for stage in left.stages
        ],
    }  # fmt: skip


def _audit(store: Store, job: int | None, json: bool) -> None:
    audited = eta_audit.audit(store, job, MOST_AUDITED)
    if not json:
        page = sheet()
        estimate_audit.audit(page, audited)
        show(page)
        return
    document: estimates.Audit = {
        "estimates": [
            {"kind": interval.kind, "name": interval.name, "number": len(interval.pairs),
             "expected": sum(pair[0] for pair in interval.pairs) / len(interval.pairs),
             "happened": sum(pair[1] for pair in interval.pairs) / len(interval.pairs),
             "off_by": error(interval.pairs), "within": interval.within}
            for interval in audited
        ]
    }  # fmt: skip
    emit_json(document)
