"""`d0ctl pause`: park what is not launched, and suspend the rest where asked for."""

from typing import Annotated

import typer

from d0ctl import select
from d0ctl.cli import options, plan
from d0ctl.verbs import Request

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def pause(
    selector: options.Target,
    running: Annotated[bool, typer.Option("--running", help="Suspend what runs, too.")] = False,
    status: options.Status = None,
    node: options.Node = None,
    older_than: options.OlderThan = None,
    failed_for: options.FailedFor = None,
    reason: options.Because = None,
    dry_run: options.DryRun = False,
) -> None:
    """Start nothing more; with --running, suspend what runs."""
    wanted = select.parse(selector, status=status or (), reason=failed_for, node=node,
                          older_than=older_than)  # fmt: skip
    plan.carry_out(Request("pause", wanted, running=running), note=reason, dry_run=dry_run)
