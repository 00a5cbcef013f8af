"""The frame of verbs that take a selector with its filters and a reason, and nothing else."""

import typer

from d0ctl import select
from d0ctl.cli import options, plan
from d0ctl.verbs import Request


def command(verb: str, does: str) -> typer.Typer:
    """The command of such a verb; `does` is its help."""
    app = typer.Typer(add_completion=False, rich_markup_mode=None)

    @app.command(verb, help=does)
    def act(
        selector: options.Target,
        status: options.Status = None,
        node: options.Node = None,
        older_than: options.OlderThan = None,
        failed_for: options.FailedFor = None,
        reason: options.Because = None,
        dry_run: options.DryRun = False,
    ) -> None:
        wanted = select.parse(selector, status=status or (), reason=failed_for, node=node,
                              older_than=older_than)  # fmt: skip
        plan.carry_out(Request(verb, wanted), note=reason, dry_run=dry_run)

    return app
