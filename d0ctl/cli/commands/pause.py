"""`d0ctl pause`: park what is not launched, and suspend the rest where asked for."""

from typing import Annotated

import typer

from d0ctl.actions import Request
from d0ctl.cli import options, plan
from d0ctl.cli.changing import Choosing, chosen

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command(cls=Choosing)
def pause(
    selector: options.Targets,
    running: Annotated[bool, typer.Option("--running", help="Suspend what runs, too.")] = False,
) -> None:
    """Start nothing more; with --running, suspend running packages."""
    plan.carry_out(Request("pause", chosen(selector), running=running))
