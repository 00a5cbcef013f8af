"""`d0ctl wait`: until nothing of what is meant can move without a person."""

import shlex
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, TypeAlias

import typer

from d0ctl import select
from d0ctl.cli import options, session
from d0ctl.cli.output import emit, say
from d0ctl.errors import BadUsage, ExitCode
from d0ctl.format import clean, count, duration
from d0ctl.model import Counts, Group, by_status, roll_up
from d0ctl.select import Selector
from d0ctl.store import lifecycle
from d0ctl.store.connection import Store
from d0ctl.store.look import browse
from d0ctl.store.look.views import JobSummary
from d0ctl.store.settled import Standstill, find
from d0ctl.store.standstill import any_driver
from d0ctl.units import parse_time

app = typer.Typer(add_completion=False, rich_markup_mode=None)

_Part: TypeAlias = tuple[JobSummary, Counts]

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
        is_told, seen, due = False, None, 0.0
        while True:
            version = store.version()
            if version != seen or time.monotonic() >= due:
                seen, due = version, time.monotonic() + LOOK_ANYWAY_S
                with store.reading():
                    parts = _look(store, wanted)
                    ends = [find(store, job.id, counts, now=time.time()) for job, counts in parts]
                if all(ends):
                    return _end(text, parts, ends)
                if not is_told and not any_driver(store):
                    is_told = True
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


def _give_up(text: str, parts: list[_Part], length: float) -> ExitCode:
    """Say how things stand when the time is over."""
    for job, counts in parts:
        name = text if len(parts) == 1 else job.name
        say(f"`{name}` is still {roll_up(counts, blocked=job.blocked)} after {duration(length)}: "
            f"d0ctl why {job.name}")  # fmt: skip
    return ExitCode.FAILED


def _look(store: Store, wanted: Selector) -> list[_Part]:
    """Each job that is meant, with the counts of what of it is meant."""
    jobs = browse.jobs(store, wanted.job)
    if not jobs:
        raise browse.no_such_job(store, wanted.job)
    if wanted.depth == 1 and not wanted.is_filtered:
        return [(job, job.counts) for job in jobs]
    return [(job, _counts(store, job, wanted)) for job in jobs]


def _counts(store: Store, job: JobSummary, wanted: Selector) -> Mapping[str, int]:
    if wanted.level == "stage" and wanted.is_one:
        return browse.stage(store, job, wanted).counts
    browse.choose(store, replace(wanted, job=job.name), now=time.time())
    return lifecycle.phases(store)


def _end(text: str, parts: list[_Part], ends: Sequence[Standstill | None]) -> ExitCode:
    found = [roll_up(counts, blocked=job.blocked) for job, counts in parts]
    for (job, counts), status, end in zip(parts, found, ends, strict=True):
        name = text if len(parts) == 1 else job.name
        if end is not None and end.reason:
            emit(f"`{name}` stands still: {clean(end.reason)}")
            say(f"d0ctl why {shlex.quote(name)}")
            continue
        state = "held" if job.hold and status == Group.SUBMITTED else str(status)
        packages = count(sum(counts.values()), "package")
        if state == Group.CANCELED:
            state += f": {count(by_status(counts)['successful'])} of {packages} done"
        elif state == Group.FAILED:
            state += f": {count(by_status(counts)['failed'])} of {packages} failed"
        emit(f"`{name}` is {state}")
        if status in (Group.FAILED, Group.CANCELED):
            say(f"d0ctl why {shlex.quote(name)}")
    return ExitCode.DONE if set(found) == {Group.SUCCESSFUL} else ExitCode.FAILED
