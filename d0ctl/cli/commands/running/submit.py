"""`d0ctl submit`: make a job's rows; the daemon does the rest."""

import sys
import time
from dataclasses import replace
from typing import Annotated

import typer

from d0ctl import actions, select
from d0ctl.actions import ACTIONS
from d0ctl.actions.jobs.submit import SubmitPlan, SubmitRequest
from d0ctl.actions.jobs.update import UpdatePlan
from d0ctl.cli import action_command, changing, options, session
from d0ctl.cli.action_command import parameter
from d0ctl.cli.commands.running import forecast, intake
from d0ctl.cli.terminal.output import emit, emit_json, is_terminal, say
from d0ctl.errors import BadUsage, NotFound
from d0ctl.store.connection import Store
from d0ctl.store.jobs.submission.submit import last_from
from d0ctl.store.nodes import fitting
from d0ctl.store.views import browse
from d0ctl.store.views.job_files import eta

Wait = Annotated[bool, typer.Option("--wait", help="Wait until the job ends, as `wait` does.")]
Timeout = Annotated[
    str | None,
    typer.Option("--timeout", metavar="TIME", help="With --wait: wait no longer, e.g. `2h`."),
]
Update = Annotated[
    bool, typer.Option("--update", help="Correct the job submitted from it, as `update` does.")
]
Again = Annotated[
    bool,
    typer.Option("--again", help="With --update: rerun packages that ran with another definition."),
]


def _run(
    request: SubmitRequest, update: bool, again: bool, wait: bool, timeout: str | None, json: bool
) -> None:
    if timeout is not None:
        if not wait:
            raise BadUsage("--timeout needs --wait")
        options.seconds("--timeout", timeout)
    if update:
        updated = _update(request, again, json)
        if wait and not changing.is_rehearsal():
            _wait(updated, timeout)
        return
    if again:
        raise BadUsage("--again needs --update")
    if request.target.text is None and (job := intake.job_named(request.target.brief)):
        raise BadUsage(f"`{job}` is a job, not a job file", hint=f"to continue it: d0ctl run {job}")
    request, spec = intake.read(request)
    intake.warn(spec, request.target.brief)
    if changing.is_rehearsal():
        if json:
            rehearsed: SubmitPlan = action_command.rehearse(request)
            emit_json({"job": rehearsed.job, "packages": rehearsed.packages, "dry_run": True,
                       "plan": forecast.plan(spec)})  # fmt: skip
        else:
            forecast.show_submission(request, spec)
        return
    with session.open_or_create() as store:
        plan: SubmitPlan = action_command.act(store, request)
        _print_result(store, plan, wait, json)
    if wait:
        _wait(plan.job, timeout)


def _wait(job: str, timeout: str | None) -> None:
    from d0ctl.cli.commands.running.wait import wait_for

    raise typer.Exit(wait_for([job], timeout))


def _update(request: SubmitRequest, again: bool, json: bool) -> str:
    """Correct the job that the job file names, or else the last one from this file."""
    file, options = request.target, request.options
    if file.text is not None:
        raise BadUsage("--update takes a job file", hint="d0ctl submit --update FILE")
    spec = intake.read(request)[1]
    with session.reader() as store:
        job = options.name or (spec.name if spec.named else last_from(store, spec.source))
    if job is None:
        raise NotFound(f"no job was submitted from `{file.brief}`",
                       hint="d0ctl update JOB --file FILE")  # fmt: skip
    correction = replace(
        ACTIONS["update"].request(select.parse(job), file=file.brief, again=again,
                                  hold=options.hold, parameters=options.parameters),
        person=request.person,
    )  # fmt: skip
    if not json:
        action_command.carry_out(correction)
    elif changing.is_rehearsal():
        plan = action_command.rehearse(correction)
        emit_json({"job": job, "packages": plan.packages, "dry_run": True})
    else:
        with session.writer() as store:
            _emit(job, action_command.act(store, correction))
    return job


def _emit(job: str, plan: SubmitPlan | UpdatePlan) -> None:
    unfit = [{"stage": misfit.stage, "nodes": dict(misfit.nodes)} for misfit in plan.misfits]
    emit_json({"job": job, "packages": plan.packages, "no_node": unfit})


def _print_result(store: Store, plan: SubmitPlan, wait: bool, json: bool) -> None:
    from d0ctl.cli.documents import size_range, time_range
    from d0ctl.schedule.estimates import NO_SIZES
    from d0ctl.show import outcome
    from d0ctl.show.forecast import estimates as card
    from d0ctl.store.nodes.leases import LEASE, living_holder

    for line in fitting.not_taken(plan.misfits):
        say(line)
    now = time.time()
    is_driven = living_holder(store, LEASE) is not None
    number = browse.job(store, plan.job).id
    stages = eta.stages_of(store, number, now=now)
    ends = None if plan.misfits else eta.end_of(store, number, now=now)
    if json:
        unfit = [{"stage": misfit.stage, "nodes": dict(misfit.nodes)} for misfit in plan.misfits]
        emit_json({"job": plan.job, "packages": plan.packages, "no_node": unfit,
                   "estimated_end": time_range(ends),
                   "sizes": [{"stage": stage.seq, "memory": size_range(stage.sizes.memory),
                              "output": size_range(stage.sizes.output),
                              "work_size": size_range(stage.sizes.work)}
                             for stage in stages if stage.sizes != NO_SIZES]})  # fmt: skip
    else:
        for line in actions.report(plan):
            emit(line)
        end = card.of_new_job(ends, now, is_going=is_driven and not plan.is_held)
        if end:
            emit(end)
    needed = outcome.to_release(plan.job) if plan.is_held else ""
    if not (plan.is_held or is_driven or wait):  # `wait` says itself that no daemon is running
        from d0ctl.show.cards.daemon import no_daemon

        needed = no_daemon(store, [plan.job])
    if needed:
        say(needed)
    elif not (json or wait) and is_terminal(sys.stderr):
        say(outcome.follow(plan.job))


app = action_command.command(
    "submit",
    _run,
    [
        parameter("update", Update, False),
        parameter("again", Again, False),
        parameter("wait", Wait, False),
        parameter("timeout", Timeout, None),
        parameter("json", options.Json, False),
    ],
)
