"""`d0ctl status`: one screen about all jobs, a job, a stage, a line or a package."""

from typing import Annotated

import typer

from d0ctl import select
from d0ctl.cli import options
from d0ctl.cli.commands.looking.pages import status_page
from d0ctl.cli.terminal.fast_typer import single
from d0ctl.cli.terminal.output import refuse_both

app = single()


@app.command()
def status(
    selector: options.MaybeTarget = None,
    status: options.Status = None,
    reason: options.Reason = None,
    node: options.Node = None,
    older_than: options.OlderThan = None,
    watch: Annotated[
        bool, typer.Option("--watch", "-w", help="Redraw it whenever something changes.")
    ] = False,
    now: Annotated[
        bool, typer.Option("--now", help="Ask the wrapper of the package for its current state.")
    ] = False,
    check: Annotated[
        bool,
        typer.Option(
            "--check",
            "-q",
            help="Print one line for scripts: exit 0 running or idle, 1 failures, 5 stuck.",
        ),
    ] = False,
    json: options.Json = False,
) -> None:
    """Show all jobs, or one job or a part of it in detail."""
    refuse_both(watch, json, "--watch and --json")
    refuse_both(watch, now, "--watch and --now")
    filtered = bool(status or reason or node or older_than)
    if check:
        from d0ctl.cli.commands.looking.pages import status_check as monitor

        refuse_both(check, filtered or watch or now, "--check and other choices")
        refuse_both(selector is not None, json, "--check of a selector and --json")
        raise typer.Exit(monitor.run(json) if selector is None else monitor.run_on(selector))
    wanted = None
    if selector is not None or filtered:
        wanted = select.parse_all([selector or "*"], status=status or (), reason=reason, node=node,
                              older_than=older_than, with_binary=True)  # fmt: skip
    status_page.show(wanted, watch=watch, now=now, json=json)
