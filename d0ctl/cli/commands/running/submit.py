"""`d0ctl submit`: make a job's rows; the daemon does the rest."""

from typing import Annotated

import typer

from d0ctl.actions.jobs.submit import Submission, Submitted, report
from d0ctl.cli import changing, options, session
from d0ctl.cli.changing import Changing
from d0ctl.cli.commands.running import intake
from d0ctl.cli.terminal.output import emit, emit_json, say
from d0ctl.errors import BadUsage
from d0ctl.store.connection import Store
from d0ctl.store.nodes import fitting
from d0ctl.units import clean

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command(cls=Changing)
def submit(
    file: options.JobFile,
    parameter: options.Parameters = None,
    name: options.As = None,
    hold: Annotated[bool, typer.Option("--hold", help="Keep it from being scheduled.")] = False,
    force: options.Force = False,
    wait: Annotated[bool, typer.Option("--wait", help="Wait for its end.")] = False,
    json: options.Json = False,
) -> None:
    """Submit a job and leave it to the daemon."""
    if job := intake.job_named(file):
        raise BadUsage(f"`{job}` is a job, not a job file", hint=f"to continue it: d0ctl run {job}")
    submission = Submission(intake.read(file, parameter), name, hold, force)
    intake.warn(submission.spec, file)
    if changing.is_rehearsal():
        intake.rehearse(submission, json)
        return
    with session.founder() as store:
        submitted = intake.submit(store, submission)
        _tell(store, submitted, json)
    if wait:
        from d0ctl.cli.commands.running.wait import wait_for

        raise typer.Exit(wait_for(submitted.job))


def _tell(store: Store, submitted: Submitted, json: bool) -> None:
    from d0ctl.store.nodes.leases import LEASE, living_holder

    for line in fitting.lines(submitted.misfits):
        say(f"no node can take it yet: {clean(line)}")
    if json:
        unfit = [{"stage": one.stage, "nodes": dict(one.nodes)} for one in submitted.misfits]
        emit_json({"job": submitted.job, "packages": submitted.packages, "no_node": unfit})
    else:
        emit(report(submitted))
    if submitted.is_held:
        say(f"it is held: d0ctl release {submitted.job}")
    elif living_holder(store, LEASE) is None:
        say(f"no daemon is running: `d0ctl daemon start`, or `d0ctl run {submitted.job}`")
