"""`d0ctl remove`: forget a job with all its history."""

from typing import Annotated

import typer

from d0ctl import select
from d0ctl.actions import Request
from d0ctl.cli import options, plan
from d0ctl.cli.changing import Changing

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command(cls=Changing)
def remove(
    job: options.JobName,
    keep_results: Annotated[
        bool,
        typer.Option("--keep-results", help="Move its results aside, to results/JOB.1."),
    ] = False,
) -> None:
    """Delete a job with its history and its results."""
    request = Request("remove", select.parse(job), keep_results=keep_results)
    plan.carry_out(request, question="remove it?")
