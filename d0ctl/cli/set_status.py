"""`d0ctl set-status`: give packages a status by hand."""

from typing import Annotated

import typer

from d0ctl import select
from d0ctl.cli import completion, options, plan
from d0ctl.verbs import Request

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def set_status(
    selector: options.Target,
    status: Annotated[
        str,
        typer.Argument(metavar="STATUS", help="unscheduled, successful, failed or canceled."),
    ],
    of: Annotated[
        list[str] | None,
        typer.Option(
            "--status",
            metavar="STATE",
            autocompletion=completion.states,
            help="Only packages in this status or phase; may be repeated.",
        ),
    ] = None,
    node: options.Node = None,
    older_than: options.OlderThan = None,
    failed_for: options.FailedFor = None,
    reason: options.Because = None,
    dry_run: options.DryRun = False,
    yes: options.Yes = False,
) -> None:
    """Give packages a status by hand, where the world allows it."""
    wanted = select.parse(selector, status=of or (), reason=failed_for, node=node,
                          older_than=older_than)  # fmt: skip
    request = Request("set-status", wanted, status=status)
    plan.carry_out(request, note=reason, dry_run=dry_run, yes=yes, question="do that?")
