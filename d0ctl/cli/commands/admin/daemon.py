"""`d0ctl daemon`: the loop that drives all jobs, in the foreground or the background."""

import os
import re
import signal
import threading
import time
from typing import TYPE_CHECKING, Annotated, Any

import typer

from d0ctl.cli import options, session
from d0ctl.cli.terminal.fast_typer import group
from d0ctl.cli.terminal.output import draw, emit, emit_json, emit_text, say
from d0ctl.errors import BadUsage, ExitCode, NotFound, Refused
from d0ctl.show.cards import daemon
from d0ctl.units import iso

if TYPE_CHECKING:
    from d0ctl.store.nodes.site import CopiedHome

app = group("Start, stop, install or show the daemon, which drives all jobs.")


Journal = Annotated[bool, typer.Option("--journal", help="Log to stderr, for systemd's journal.")]


@app.command()
def run(journal: Journal = False) -> None:
    """Drive all jobs in the foreground, until Ctrl-C or TERM."""
    from d0ctl.daemon import drive

    with session.open_or_create():
        pass
    stop = _set_by_signals()
    if journal:
        drive.log_to_journal()
    else:
        drive.log_to_file(session.home())
    drive.drive_all(session.home(), stop)


def _set_by_signals() -> threading.Event:
    """Return an event that SIGTERM or SIGINT sets.

    A thread sets it: a handler runs in the main thread, and would wait for ever for the lock of
    the event if that thread holds it, as it does when it begins or ends to wait for the event.
    """
    stop = threading.Event()
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    signal.set_wakeup_fd(writer)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: None)  # without a handler nothing is written

    def set_it() -> None:
        os.read(reader, 1)
        stop.set()

    threading.Thread(target=set_it, name="signals", daemon=True).start()
    return stop


@app.command()
def start() -> None:
    """Start the daemon in the background, and return once it works."""
    from d0ctl.daemon import background

    with session.open_or_create():
        pass
    running = background.status(session.home())["running"]
    pid = background.start(session.home(), session.actor())
    emit(daemon.started(pid, was_running=running))


@app.command()
def stop() -> None:
    """Stop the daemon; packages continue, for the next daemon to find."""
    from d0ctl.daemon import background

    if session.has_home() and background.stop(session.home(), session.actor()):
        emit(daemon.STOPPED)
    else:
        say(daemon.NOT_RUNNING)


@app.command()
def restart() -> None:
    """Stop the daemon and start it again; packages continue."""
    from d0ctl import site_key
    from d0ctl.daemon import background

    with session.open_or_create():
        pass
    site_key.read(session.home())  # without the key it could not start again
    if background.stop(session.home(), session.actor()):
        emit(daemon.STOPPED)
    emit(daemon.started(background.start(session.home(), session.actor()), was_running=False))


@app.command()
def install(
    system: Annotated[
        bool,
        typer.Option("--system",
                     help="Make a service of the system, as root; it runs without a login."),
    ] = False,
    name: Annotated[
        str, typer.Option("--name", metavar="NAME", help="Name of the service (default: d0ctl).",
                          show_default=False)
    ] = "d0ctl",
    journal: Journal = False,
    only_print: Annotated[
        bool, typer.Option("--print", help="Print the unit, and change nothing.")
    ] = False,
    dry_run: options.DryRun = False,
) -> None:  # fmt: skip
    """Have systemd run the daemon, also after a crash or reboot.

    Without `--system` it is a service of the user: it starts at a login and ends at the logout,
    unless `loginctl enable-linger` was typed. Root needs `--system`.
    """
    from d0ctl.daemon import background, systemd_service

    if not re.fullmatch(r"d0ctl[\w.-]*", name):
        raise BadUsage("the name of a service begins with `d0ctl`, "
                       "and has only letters, digits, `.`, `_` and `-`")  # fmt: skip
    home = session.home()
    account = systemd_service.other_owner(home)
    if account is None and not (only_print or dry_run):
        with session.open_or_create():
            pass
    if only_print:
        emit_text(systemd_service.unit(home, is_system=system, journal=journal).rstrip())
        return
    made = systemd_service.planned(home, name, is_system=system)
    try:
        if dry_run:
            made.call("show", "--property=Version")
        else:
            systemd_service.write(home, made, journal=journal)
    except systemd_service.NoSystemd as error:
        raise Refused(str(error), hint=daemon.start_without_systemd(home.root)) from error
    if dry_run:
        emit(daemon.would_install(made.name, str(made.unit)))
        return
    if account is not None:
        made.call("enable", "--now", made.name)
        emit(daemon.installed(made.name, str(made.unit)))
        emit(daemon.runs_as(account))
        return
    background.stop(home, session.actor())
    made.call("enable", made.name)  # `start` asks systemd from now on
    pid = background.start(home, session.actor())
    emit(daemon.installed(made.name, str(made.unit)))
    emit(daemon.started(pid, was_running=False))
    if systemd_service.ends_at_logout(made):
        for line in daemon.ends_at_logout(is_root=os.geteuid() == 0):
            emit(line)


@app.command()
def uninstall(dry_run: options.DryRun = False) -> None:
    """Stop the daemon and remove its service; packages continue."""
    from d0ctl.daemon import systemd_service

    found = systemd_service.installed(session.home())
    if found is None:
        raise NotFound("the daemon has no service", hint="d0ctl daemon install")
    if dry_run:
        emit(daemon.would_uninstall(found.name, str(found.unit)))
        return
    systemd_service.remove(found)
    emit(daemon.uninstalled(found.name))


@app.command()
def status(json: options.Json = False) -> None:
    """Show whether the daemon runs, since when, and unsent mail."""
    document: dict[str, Any] = {"running": False, "pid": None, "since": None, "unsent": None,
                                "outdated": False}  # fmt: skip
    if session.has_home():
        from d0ctl.daemon import background

        document = background.status(session.home())
    document["service"] = _service()
    if json:
        emit_json(
            {**document, "since": iso(document["since"]), "unsent": _unsent(document["unsent"])}
        )
    else:
        draw(daemon.draw, document, _other_home(), time.time())
        if (log := session.home().logs / "daemon.log").exists():
            emit(daemon.log_file(log))
    raise typer.Exit(ExitCode.DONE if document["running"] else ExitCode.NOT_FOUND)


def _other_home() -> "CopiedHome | None":
    """Return the home that has taken over from this one, or of which it is a copy."""
    from d0ctl.store.nodes.site import other_home

    if not session.has_home():
        return None
    with session.reader() as store, store.reading():
        return other_home(store)


def _service() -> str | None:
    from d0ctl.daemon import systemd_service

    found = systemd_service.installed(session.home())
    return found.name if found else None


def _unsent(mail: dict[str, Any] | None) -> dict[str, Any] | None:
    return mail and {**mail, "since": iso(mail["since"])}
