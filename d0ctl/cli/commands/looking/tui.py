"""`d0ctl tui`: the terminal dashboard."""

import os
import socket
import sys
from shlex import quote
from typing import Annotated

import typer

from d0ctl import select
from d0ctl.cli import options, session
from d0ctl.cli.terminal.fast_typer import single
from d0ctl.cli.terminal.output import emit_text, is_terminal, say, speaks_unicode
from d0ctl.errors import BadUsage, Refused

app = single()

POOR = ("linux", "vt100", "vt220", "ansi", "screen.linux")
"""Terminals with few colours, and often with few glyphs."""

COLOURLESS = ("vt100", "vt220")

SLOW_S = 5.0
"""The time between two updates on a slow line, unless the user sets it."""

THEMES = ("dark", "light", "colour-blind", "terminal", "16-colour")

WEB_DRIVER = "textual.drivers.web_driver:WebDriver"
"""What the server for browsers gives the dashboards that it starts instead of a terminal."""

ESCAPE_MS = "25"
"""How long a lone escape waits for the rest of a longer key, unless the user sets it."""


@app.command()
def tui(
    selector: options.MaybeTarget = None,
    theme: Annotated[
        str | None,
        typer.Option("--theme", metavar="NAME", envvar="D0CTL_THEME",
                     help="dark, light, colour-blind, terminal or 16-colour."),
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
    keys: Annotated[
        bool, typer.Option("--keys", help="Print keys and settings, as a file of them is written.")
    ] = False,
    web: Annotated[
        bool, typer.Option("--web", help="Show it in a browser on this machine, read-only.")
    ] = False,
    port: Annotated[
        int, typer.Option("--port", metavar="N", min=0, max=65535,
                          help="Port of `--web`; 0 takes a free one.")
    ] = 0,
    allow_actions: Annotated[
        bool, typer.Option("--allow-actions", help="Let the browser change things, too.")
    ] = False,
) -> None:  # fmt: skip
    """Watch jobs and nodes, and act on them, in the terminal."""
    if selector is not None and not (wanted := select.parse(selector)).is_one:
        raise BadUsage(f"`tui` opens at one place, and `{wanted}` selects several",
                       hint=f"d0ctl tui {quote(wanted.job)}")  # fmt: skip
    if (port or allow_actions) and not web:
        raise BadUsage("--port and --allow-actions belong to --web", hint="d0ctl tui --web")
    if theme is not None and theme not in THEMES:
        raise BadUsage(f"there is no theme `{theme}`", hint=f"one of {', '.join(THEMES)}")
    if web:
        ways = {"--ascii": ascii, "--slow": slow, "--read-only": read_only or not allow_actions}
        options = [word for word, is_on in ways.items() if is_on]
        options += ["--theme", theme] if theme else []
        options += ["--interval", str(interval)] if interval is not None else []
        _serve([*options, *([selector] if selector else [])], port)
        return
    from d0ctl_tui.read import user_settings

    own = user_settings.load()
    if keys:
        emit_text(user_settings.page(own))
        return
    is_served = os.environ.get("TEXTUAL_DRIVER") == WEB_DRIVER
    terminals = all(is_terminal(stream) for stream in (sys.stdin, sys.stdout, sys.stderr))
    if not terminals and not is_served:
        raise BadUsage("`tui` needs a terminal", hint="d0ctl status --watch")
    with session.reader():
        home = session.home()
    os.environ.setdefault("ESCDELAY", ESCAPE_MS)
    from d0ctl_tui.app import Dashboard
    from d0ctl_tui.terminal import Terminal
    from d0ctl_tui.themes import ANSI, colours

    slow, theme = slow or own.slow, theme or own.theme
    interval = own.interval if interval is None else interval
    kind = os.environ.get("TERM", "")
    poor = kind in POOR
    fine = "truecolor" if is_served else colours()
    if kind in COLOURLESS:
        os.environ["NO_COLOR"] = "1"
    bare = bool(os.environ.get("NO_COLOR")) or not fine
    plain = bare or poor or slow or fine == "standard" or theme in ANSI
    if bare or (plain and theme not in ANSI):
        theme = "terminal" if bare or slow else "16-colour"
    no_glyphs = ascii or poor or not (is_served or speaks_unicode(sys.stdout))
    pause = interval if interval is not None else SLOW_S if slow else 0.0
    terminal = Terminal(
        no_glyphs,
        plain,
        theme or "dark",
        fine == "256",
        pause,
        slow,
        quiet or not own.notices,
        read_only or own.read_only,
        own.columns,
        own.keys,
    )
    dashboard = Dashboard(home, terminal, session.actor(), selector)
    dashboard.run(mouse=not slow)
    raise typer.Exit(dashboard.return_code or 0)


def _serve(options: list[str], port: int) -> None:
    """Serve the dashboard with these options to a browser. Raises Refused."""
    try:
        from d0ctl_tui.web.server import serve
    except ImportError:
        raise Refused("what `--web` needs is not installed",
                      hint="pip install 'd0ctl[web]'") from None  # fmt: skip
    with session.reader():
        home = session.home()
    front = ["--home", str(home.root)]
    front += ["--archive", home.archive] if home.archive else []
    try:
        listening = socket.create_server(("127.0.0.1", port))
    except OSError as error:
        raise Refused(f"can't listen on port {port}: {error.strerror}",
                      hint="--port 0 takes a free one") from error  # fmt: skip
    serve([sys.executable, "-m", "d0ctl", *front, "tui", *options], listening, say)
