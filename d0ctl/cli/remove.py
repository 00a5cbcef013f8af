"""`d0ctl remove`: forget a job with all its history."""

import typer

from d0ctl import select
from d0ctl.cli import options, plan
from d0ctl.cli.changing import Changing
from d0ctl.verbs import Request

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command(cls=Changing)
def remove(
    job: options.JobName,
) -> None:
    """Forget a job; its results stay."""
    request = Request("remove", select.parse(job))
    plan.carry_out(request, question="remove it?")
