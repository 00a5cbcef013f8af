"""`d0ctl wait`: until nothing of what is meant can move without a person."""

import shlex
import time
from typing import Annotated

import typer

from d0ctl import select
from d0ctl.cli import options, session
from d0ctl.cli.terminal.fast_typer import single
from d0ctl.cli.terminal.output import emit, say
from d0ctl.errors import BadUsage, ExitCode
from d0ctl.model import Group, by_status
from d0ctl.store.connection import Store
from d0ctl.store.nodes.standstill import JobStanding, any_driver, node_views
from d0ctl.store.views.awaited import Awaited, look
from d0ctl.units import clean, count, duration, parse_time

app = single()


LOOK_S = 0.1
LOOK_AT_PACKAGES_S = 1.0
"""How long to wait between two looks at a selection of packages, which costs more."""

LOOK_ANYWAY_S = 5.0
"""How long to wait at most, as nodes may be given up with no change in the database."""


@app.command()
def wait(
    selector: options.Target,
    timeout: Annotated[
        str | None,
        typer.Option("--timeout", metavar="TIME", help="Wait no longer than this, e.g. `2h`."),
    ] = None,
) -> None:
    """Wait for the end of a job, or of a part of it.

    Returns once nothing of it can move without a person: 0 if it is successful, else 1, which is
    also the exit code when the time is over.
    """
    raise typer.Exit(wait_for(selector, timeout))


def wait_for(text: str, timeout: str | None = None) -> ExitCode:
    """Wait, say how it ended, and return the exit code."""
    wanted = select.parse(text)
    length = _seconds(timeout) if timeout is not None else 0.0
    last = time.monotonic() + length if timeout is not None else None
    rest = LOOK_S if wanted.depth <= 2 else LOOK_AT_PACKAGES_S
    with session.reader() as store:
        is_reported, seen, due = False, None, 0.0
        while True:
            version = store.version()
            if version != seen or time.monotonic() >= due:
                seen, due = version, time.monotonic() + LOOK_ANYWAY_S
                with store.reading():
                    parts = look(store, wanted, time.time())
                    if all(part.found.standing.is_settled for part in parts):
                        return _end(store, text, parts)
                if not is_reported and not any_driver(store):
                    is_reported = True
                    say("no daemon is running, so nothing new starts: d0ctl daemon start")
            if last is not None and time.monotonic() >= last:
                return _give_up(text, parts, length)
            time.sleep(rest if last is None else max(0.0, min(rest, last - time.monotonic())))


def _seconds(text: str) -> float:
    """Read a time. Raises BadUsage."""
    try:
        return parse_time(text)
    except ValueError as error:
        raise BadUsage(f"--timeout takes a time such as 30s or 2h, not `{text}`") from error


def _give_up(text: str, parts: list[Awaited], length: float) -> ExitCode:
    """Say how things stand when the time is over."""
    for part in parts:
        name = text if len(parts) == 1 else part.job.name
        say(f"`{name}` is still {part.state} after {duration(length)}: d0ctl why {part.job.name}")
    return ExitCode.FAILED


def _end(store: Store, text: str, parts: list[Awaited]) -> ExitCode:
    for part in parts:
        name = text if len(parts) == 1 else part.job.name
        if reason := stopped(store, part.found, time.time()):
            emit(f"`{name}` stands still: {clean(reason)}")
            say(f"d0ctl why {shlex.quote(name)}")
            continue
        state = part.state
        packages = count(sum(part.counts.values()), "package")
        if state == Group.CANCELED:
            state += f": {count(by_status(part.counts)['successful'])} of {packages} done"
        elif state == Group.FAILED:
            state += f": {count(by_status(part.counts)['failed'])} of {packages} failed"
        emit(f"`{name}` is {state}")
        if part.state in (Group.FAILED, Group.CANCELED):
            say(f"d0ctl why {shlex.quote(name)}")
    ends = {part.status for part in parts}
    return ExitCode.DONE if ends == {Group.SUCCESSFUL} else ExitCode.FAILED


def stopped(store: Store, found: JobStanding, now: float) -> str | None:
    """Why a job that nobody moves stands still, where its state does not say so."""
    from d0ctl.show.why.production import in_the_way

    return in_the_way(found, [view.node for view in node_views(store, now=now)])
