"""`d0ctl kill`: end packages for good, running or not."""

from typing import Annotated

import typer

from d0ctl.actions import Request
from d0ctl.cli import options, plan
from d0ctl.cli.changing import Choosing, chosen

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command(cls=Choosing)
def kill(
    selector: options.Targets,
    partial: Annotated[
        bool, typer.Option("--partial", help="Keep what they have made so far, marked partial.")
    ] = False,
) -> None:
    """End packages for good, with all their processes."""
    plan.carry_out(Request("kill", chosen(selector), partial=partial), question="kill them?")
