"""`d0ctl priority`: which of the jobs come first."""

from typing import Annotated

import typer

from d0ctl import select
from d0ctl.actions import Request
from d0ctl.cli import options, plan
from d0ctl.cli.changing import Changing

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command(cls=Changing)
def priority(
    selector: options.Targets,
    number: Annotated[int, typer.Argument(metavar="NUMBER", help="0 to 100, more is sooner.")],
) -> None:
    """Change what comes first: 0 to 100, more is sooner."""
    request = Request("priority", select.parse_all(selector), priority=number)
    plan.carry_out(request)
