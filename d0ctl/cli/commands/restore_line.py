"""`d0ctl restore-line`: bring back lines that were dropped."""

import typer

from d0ctl import select
from d0ctl.actions import Request
from d0ctl.cli import options, plan
from d0ctl.cli.changing import Changing

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command(cls=Changing)
def restore_line(
    selector: options.Targets,
) -> None:
    """Bring back dropped lines.

    Possible until a package was launched without their files."""
    request = Request("restore-line", select.parse_all(selector))
    plan.carry_out(request)
