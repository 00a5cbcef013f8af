"""`d0ctl finish`: bring a job or packages to their end."""

from typing import Annotated

import typer

from d0ctl import select
from d0ctl.cli import options, plan
from d0ctl.cli.output import refuse_both
from d0ctl.verbs import Request

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def finish(
    selector: options.Target,
    soft: Annotated[
        bool, typer.Option("--soft", help="Let end by itself what runs; so it is by default.")
    ] = False,
    hard: Annotated[bool, typer.Option("--hard", help="End what runs, too.")] = False,
    partial: Annotated[
        bool,
        typer.Option("--partial", help="With --hard: keep what they have made, marked partial."),
    ] = False,
    status: options.Status = None,
    node: options.Node = None,
    older_than: options.OlderThan = None,
    failed_for: options.FailedFor = None,
    reason: options.Because = None,
    dry_run: options.DryRun = False,
    yes: options.Yes = False,
) -> None:
    """Start nothing more; with --hard, end what runs."""
    refuse_both(soft, hard, "--soft and --hard")
    wanted = select.parse(selector, status=status or (), reason=failed_for, node=node,
                          older_than=older_than)  # fmt: skip
    request = Request("finish", wanted, hard=hard, partial=partial)
    plan.carry_out(request, note=reason, dry_run=dry_run, yes=yes, question="finish it?")
