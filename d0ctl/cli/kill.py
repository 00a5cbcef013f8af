"""`d0ctl kill`: end packages for good, running or not."""

from typing import Annotated

import typer

from d0ctl import select
from d0ctl.cli import options, plan
from d0ctl.verbs import Request

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def kill(
    selector: options.Target,
    partial: Annotated[
        bool, typer.Option("--partial", help="Keep what they have made so far, marked partial.")
    ] = False,
    status: options.Status = None,
    node: options.Node = None,
    older_than: options.OlderThan = None,
    failed_for: options.FailedFor = None,
    reason: options.Because = None,
    dry_run: options.DryRun = False,
    yes: options.Yes = False,
) -> None:
    """End packages for good, with all their processes."""
    wanted = select.parse(selector, status=status or (), reason=failed_for, node=node,
                          older_than=older_than)  # fmt: skip
    request = Request("kill", wanted, partial=partial)
    plan.carry_out(request, note=reason, dry_run=dry_run, yes=yes, question="kill them?")
