"""`d0ctl kill-line`: end a line, and let the rest go on without its outputs."""

from typing import Annotated

import typer

from d0ctl import select
from d0ctl.actions import Request
from d0ctl.cli import options, plan
from d0ctl.cli.changing import Changing

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command(cls=Changing)
def kill_line(
    selector: options.Targets,
    drop_outputs: Annotated[
        bool,
        typer.Option("--drop-outputs", help="Take its files out of every input list downstream."),
    ] = False,
) -> None:
    """End a line; with --drop-outputs the rest goes on."""
    request = Request("kill-line", select.parse_all(selector), drop_outputs)
    plan.carry_out(request, question="do that?")
