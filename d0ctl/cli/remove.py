"""`d0ctl remove`: forget a job with all its history."""

import typer

from d0ctl import select
from d0ctl.cli import options, plan
from d0ctl.verbs import Request

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def remove(
    job: options.JobName,
    reason: options.Because = None,
    dry_run: options.DryRun = False,
    yes: options.Yes = False,
) -> None:
    """Forget a job; its results stay."""
    request = Request("remove", select.parse(job))
    plan.carry_out(request, note=reason, dry_run=dry_run, yes=yes, question="remove it?")
