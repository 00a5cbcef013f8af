"""`d0ctl hold`: keep a job, or packages of it, from being scheduled."""

import typer

from d0ctl import select
from d0ctl.cli import options, plan
from d0ctl.verbs import Request

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def hold(
    selector: options.Target,
    status: options.Status = None,
    node: options.Node = None,
    older_than: options.OlderThan = None,
    failed_for: options.FailedFor = None,
    reason: options.Because = None,
    dry_run: options.DryRun = False,
) -> None:
    """Keep a job or packages from being scheduled."""
    wanted = select.parse(selector, status=status or (), reason=failed_for, node=node,
                          older_than=older_than)  # fmt: skip
    plan.carry_out(Request("hold", wanted), note=reason, dry_run=dry_run)
