"""`d0ctl kill-line`: end a line, and let the rest go on without its outputs."""

from typing import Annotated

import typer

from d0ctl import select
from d0ctl.cli import options, plan
from d0ctl.verbs import Request

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def kill_line(
    selector: options.Target,
    drop_outputs: Annotated[
        bool,
        typer.Option("--drop-outputs", help="Take its files out of every input list downstream."),
    ] = False,
    reason: options.Because = None,
    dry_run: options.DryRun = False,
    yes: options.Yes = False,
) -> None:
    """End a line; with --drop-outputs the rest goes on."""
    request = Request("kill-line", select.parse(selector), drop_outputs)
    plan.carry_out(request, note=reason, dry_run=dry_run, yes=yes, question="do that?")
