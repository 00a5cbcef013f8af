"""The frame of verbs that take a selector with its filters, and nothing else."""

import typer

from d0ctl.actions import Request
from d0ctl.cli import options, plan
from d0ctl.cli.changing import Choosing, chosen


def command(verb: str, does: str) -> typer.Typer:
    """The command of such a verb; `does` is its help."""
    app = typer.Typer(add_completion=False, rich_markup_mode=None)

    @app.command(verb, help=does, cls=Choosing)
    def act(selector: options.Targets) -> None:
        plan.carry_out(Request(verb, chosen(selector)))

    return app
