"""`d0ctl restore-line`: bring back lines that were dropped."""

import typer

from d0ctl import select
from d0ctl.cli import options, plan
from d0ctl.verbs import Request

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def restore_line(
    selector: options.Target,
    reason: options.Because = None,
    dry_run: options.DryRun = False,
) -> None:
    """Bring back dropped lines.

    That is so until something was launched without their files."""
    request = Request("restore-line", select.parse(selector))
    plan.carry_out(request, note=reason, dry_run=dry_run)
