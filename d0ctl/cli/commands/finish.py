"""`d0ctl finish`: bring a job or packages to their end."""

from typing import Annotated

import typer

from d0ctl.actions import Request
from d0ctl.cli import options, plan
from d0ctl.cli.changing import Choosing, chosen
from d0ctl.cli.terminal.output import refuse_both

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command(cls=Choosing)
def finish(
    selector: options.Targets,
    soft: Annotated[
        bool, typer.Option("--soft", help="Let end by itself what runs; so it is by default.")
    ] = False,
    hard: Annotated[bool, typer.Option("--hard", help="End what runs, too.")] = False,
    partial: Annotated[
        bool,
        typer.Option("--partial", help="With --hard: keep what they have made, marked partial."),
    ] = False,
) -> None:
    """Start nothing more; with --hard, end running packages."""
    refuse_both(soft, hard, "--soft and --hard")
    request = Request("finish", chosen(selector), hard=hard, partial=partial)
    plan.carry_out(request, question="finish it?")
