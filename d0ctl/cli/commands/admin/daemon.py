"""`d0ctl daemon`: the loop that drives all jobs, in the foreground or the background."""

import signal
import threading
import time
from typing import Any

import typer

from d0ctl.cli import options, session
from d0ctl.cli.terminal.fast_typer import group
from d0ctl.cli.terminal.output import emit, emit_json, say, sheet, show
from d0ctl.errors import ExitCode
from d0ctl.show.cards import daemon
from d0ctl.units import iso

app = group("Start or stop the daemon, which drives all jobs, or show it.")


@app.command()
def run() -> None:
    """Drive all jobs in the foreground, until Ctrl-C or TERM."""
    from d0ctl.daemon import drive

    with session.founder():
        pass
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    drive.log_to_file(session.home())
    drive.drive_all(session.home(), stop)


@app.command()
def start() -> None:
    """Start the daemon in the background, and return once it works."""
    from d0ctl.daemon import background

    with session.founder():
        pass
    running = background.status(session.home())["running"]
    pid = background.start(session.home())
    emit(daemon.started(pid, was_running=running))


@app.command()
def stop() -> None:
    """Stop the daemon; packages continue, and the next daemon finds them."""
    from d0ctl.daemon import background

    if session.has_home() and background.stop(session.home()):
        emit(daemon.STOPPED)
    else:
        say(daemon.NOT_RUNNING)


@app.command()
def status(json: options.Json = False) -> None:
    """Show whether the daemon runs, since when, and unsent mail."""
    found: dict[str, Any] = {"running": False, "pid": None, "since": None, "unsent": None}
    if session.has_home():
        from d0ctl.daemon import background

        found = background.status(session.home())
    if json:
        emit_json({**found, "since": iso(found["since"]), "unsent": _unsent(found["unsent"])})
    else:
        page = sheet()
        daemon.draw(page, found, time.time())
        show(page)
    raise typer.Exit(ExitCode.DONE if found["running"] else ExitCode.NOT_FOUND)


def _unsent(mail: dict[str, Any] | None) -> dict[str, Any] | None:
    return mail and {**mail, "since": iso(mail["since"])}
