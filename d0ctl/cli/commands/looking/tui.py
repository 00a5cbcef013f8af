"""`d0ctl tui`: the terminal dashboard."""

import os
import sys
from typing import Annotated

import typer

from d0ctl import select
from d0ctl.cli import options, session
from d0ctl.cli.terminal.fast_typer import single
from d0ctl.cli.terminal.output import is_terminal, speaks_unicode
from d0ctl.errors import BadUsage

app = single()

POOR = ("linux", "vt100", "vt220", "ansi", "screen.linux")
"""Terminals with few colours, and often with few glyphs."""


SLOW_S = 5.0
"""The time between two updates on a slow line, unless the user sets it."""

ESCAPE_MS = "25"
"""How long a lone escape waits for the rest of a longer key, unless the user sets it."""


@app.command()
def tui(
    selector: options.MaybeTarget = None,
    theme: Annotated[
        str | None,
        typer.Option("--theme", metavar="NAME", envvar="D0CTL_THEME",
                     help="dark, light, colour-blind or terminal (default: dark)."),
    ] = None,
    ascii: Annotated[
        bool, typer.Option("--ascii", help="Use only ASCII characters.")
    ] = False,
    interval: Annotated[
        float | None,
        typer.Option("--interval", metavar="SECONDS", min=0, max=3600, show_default=False,
                     help="Shortest time between two updates (default: 0.08; 5 with `--slow`)."),
    ] = None,
    slow: Annotated[
        bool, typer.Option("--slow", help="Send little: 16 colours, no plots, no mouse.")
    ] = False,
    quiet: Annotated[
        bool, typer.Option("--no-notices", envvar="D0CTL_NO_NOTICES",
                           help="Never ring, notify the desktop, or set the window's title.")
    ] = False,
    read_only: Annotated[
        bool, typer.Option("--read-only", help="Change nothing, and open no other programs.")
    ] = False,
) -> None:  # fmt: skip
    """Watch jobs and nodes, and act on them, in the terminal."""
    if selector is not None and not (wanted := select.parse(selector)).is_one:
        raise BadUsage(f"`tui` opens at one place, and `{wanted}` selects several",
                       hint=f"d0ctl tui {wanted.job}")  # fmt: skip
    if not all(is_terminal(stream) for stream in (sys.stdin, sys.stdout, sys.stderr)):
        raise BadUsage("`tui` needs a terminal", hint="d0ctl status --watch")
    os.environ.setdefault("ESCDELAY", ESCAPE_MS)
    from d0ctl_tui.app import Dashboard
    from d0ctl_tui.terminal import Terminal
    from d0ctl_tui.themes import NAMES, is_coarse

    if theme is not None and theme not in NAMES:
        raise BadUsage(f"there is no theme `{theme}`", hint=f"one of {', '.join(NAMES)}")
    poor = os.environ.get("TERM", "") in POOR
    plain = poor or slow or bool(os.environ.get("NO_COLOR")) or theme == "terminal"
    no_glyphs = ascii or poor or not speaks_unicode(sys.stdout)
    pause = interval if interval is not None else SLOW_S if slow else 0.0
    terminal = Terminal(
        no_glyphs, plain, theme or "dark", is_coarse(), pause, slow, quiet, read_only
    )
    dashboard = Dashboard(session.home(), terminal, session.actor(), selector)
    dashboard.run(mouse=not slow)
    raise typer.Exit(dashboard.return_code or 0)
