"""`d0ctl submit`: make a job's rows; the daemon does the rest."""

import time
from collections.abc import Sequence
from typing import Annotated

import typer

from d0ctl.cli import changing, intake, options, session
from d0ctl.cli.changing import Changing
from d0ctl.cli.terminal.output import emit, emit_json, say
from d0ctl.jobfile.spec import JobSpec
from d0ctl.store.connection import Store
from d0ctl.store.nodes.fitting import Misfit, lines, misfits_of_job, misfits_of_spec, refuse
from d0ctl.store.views import browse
from d0ctl.units import clean, count

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
    spec = intake.read(file, parameter)
    intake.warn(spec, file)
    if changing.is_rehearsal():
        rehearse(spec, name, json, force)
        return
    with session.founder() as store:
        intake.check_name(store, spec, name)
        job = intake.submit(store, spec, name=name, hold=hold, force=force)
        misfits = _forced(store, job) if force else []
        _tell(store, job, spec, hold or spec.hold, json, misfits)
    if wait:
        from d0ctl.cli.commands.wait import wait_for

        raise typer.Exit(wait_for(job))


def rehearse(spec: JobSpec, name: str | None, json: bool, force: bool) -> None:
    """Say what would be submitted. Raises BadUsage or Refused for a name it can't have, and
    Refused for what no node can ever take.
    """
    if session.home().exists():
        with session.reader() as store:
            intake.check_name(store, spec, name)
            if not force:
                refuse(misfits_of_spec(store, spec, now=time.time()))
    if json:
        emit_json({"job": name or spec.name, "packages": spec.packages, "dry_run": True})
    else:
        emit(f"would submit `{name or spec.name}`: {intake.summary(spec)}")


def _forced(store: Store, job: str) -> list[Misfit]:
    """Say what no node can ever take of a job that was submitted all the same."""
    misfits = misfits_of_job(store, browse.job(store, job).id, now=time.time())
    for line in lines(misfits):
        say(f"no node can take it yet: {clean(line)}")
    return misfits


def _tell(
    store: Store, job: str, spec: JobSpec, held: bool, json: bool, misfits: Sequence[Misfit]
) -> None:
    from d0ctl.store.nodes.leases import LEASE, living_holder

    if json:
        unfit = [{"stage": one.stage, "nodes": dict(one.nodes)} for one in misfits]
        emit_json({"job": job, "packages": spec.packages, "no_node": unfit})
    else:
        emit(f"submitted `{job}`: {count(spec.packages, 'package')}")
    if held:
        say(f"it is held: d0ctl release {job}")
    elif living_holder(store, LEASE) is None:
        say(f"no daemon is running: `d0ctl daemon start`, or `d0ctl run {job}`")
