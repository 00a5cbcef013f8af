"""`d0ctl set-status`: give packages a status by hand."""

from typing import Annotated

import typer

from d0ctl import select
from d0ctl.actions import Request
from d0ctl.cli import options, plan
from d0ctl.cli.changing import Choosing, chosen
from d0ctl.errors import BadUsage

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command(cls=Choosing)
def set_status(
    selector: options.Targets,
    to: Annotated[
        str,
        typer.Argument(metavar="STATUS", help="unscheduled, successful, failed or canceled."),
    ],
) -> None:
    """Give packages a status by hand, if their files allow it."""
    if "/" in to and selector[0] in select.states():
        raise BadUsage("the selector comes before the status",
                       hint=f"d0ctl set-status {to} {selector[0]}")  # fmt: skip
    plan.carry_out(Request("set-status", chosen(selector), status=to), question="do that?")
