"""`d0ctl validate`: list every fault and warning of a job file, and do nothing."""

import time
from typing import Annotated

import typer

from d0ctl.actions.jobs.submit import summary
from d0ctl.actions.jobs.submit import warnings as all_warnings
from d0ctl.cli import options
from d0ctl.cli.commands.running import forecast, intake
from d0ctl.cli.terminal.fast_typer import single
from d0ctl.cli.terminal.output import emit, emit_json, say
from d0ctl.errors import ExitCode
from d0ctl.show.cards import preview

app = single()

List = Annotated[
    bool, typer.Option("--list", help="Show inputs, outputs and requests of each stage and line.")
]
Graph = Annotated[
    bool, typer.Option("--graph", help="Show which stages read files of which others.")
]
Strict = Annotated[bool, typer.Option("--strict", help="Exit with code 2 if there are warnings.")]


@app.command()
def validate(
    file: options.JobFile,
    parameter: options.Parameters = None,
    strict: Strict = False,
    listing: List = False,
    graph: Graph = False,
    json: options.Json = False,
) -> None:
    """List faults and warnings of a job file, and do nothing."""
    spec = intake.read(intake.request_of(file, parameter))[1]
    with intake.store_if_any() as store:
        warnings = all_warnings(store, spec, file, time.time())
    if json:
        stages = [stage.name for stage in spec.stages]
        plan = {"plan": forecast.plan(spec)} if listing or graph else {}
        emit_json({"job": spec.name, "packages": spec.packages, "stages": stages,
                   "warnings": warnings, **plan})  # fmt: skip
    else:
        for warning in warnings:
            say(warning)
        if listing or graph:
            forecast.show_all(spec, listing=listing, graph=graph)
        emit(preview.accepted(summary(spec), len(warnings)))
    if strict and warnings:
        raise typer.Exit(ExitCode.USAGE)
