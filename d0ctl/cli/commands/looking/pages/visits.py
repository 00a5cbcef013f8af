"""Visits to several packages, one after another."""

import sys
from collections.abc import Callable, Sequence

import typer

from d0ctl.cli.terminal.errors import report
from d0ctl.cli.terminal.output import emit
from d0ctl.errors import D0Error, ExitCode
from d0ctl.select import Selector


def visit_each(packages: Sequence[Selector], visit: Callable[[Selector], None]) -> None:
    """AttemptReader packages, each under a heading; continue after those that can't be visited.

    Exits with the code of the first of these. A single package has no heading.
    """
    if len(packages) == 1:
        visit(packages[0])
        return
    code = ExitCode.DONE
    for package in packages:
        emit((f"== {package} ==", "strong"))
        sys.stdout.flush()
        try:
            visit(package)
        except D0Error as error:
            report(error)
            code = code or error.exit_code
    if code:
        raise typer.Exit(code)
