"""`d0ctl release`: let what is held be scheduled again."""

import typer

from d0ctl import select
from d0ctl.cli import options, plan
from d0ctl.verbs import Request

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def release(
    selector: options.Target,
    status: options.Status = None,
    node: options.Node = None,
    older_than: options.OlderThan = None,
    failed_for: options.FailedFor = None,
    reason: options.Because = None,
    dry_run: options.DryRun = False,
) -> None:
    """Let held jobs or packages be scheduled again."""
    wanted = select.parse(selector, status=status or (), reason=failed_for, node=node,
                          older_than=older_than)  # fmt: skip
    plan.carry_out(Request("release", wanted), note=reason, dry_run=dry_run)
