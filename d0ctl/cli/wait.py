"""`d0ctl wait`: until nothing of what is meant can move without a person."""

import time
from collections.abc import Mapping
from dataclasses import replace

import typer

from d0ctl import select
from d0ctl.cli import options, session
from d0ctl.cli.output import emit, say
from d0ctl.errors import ExitCode
from d0ctl.format import count
from d0ctl.model import Counts, Group, by_status, roll_up
from d0ctl.select import Selector
from d0ctl.store import lifecycle
from d0ctl.store.connection import Store
from d0ctl.store.look import browse
from d0ctl.store.look.views import JobSummary
from d0ctl.store.schedule import is_settled
from d0ctl.store.standstill import any_driver

app = typer.Typer(add_completion=False, rich_markup_mode=None)

LOOK_S = 0.1
LOOK_AT_PACKAGES_S = 1.0
"""How long to wait between two looks at a selection of packages, which costs more."""


@app.command()
def wait(selector: options.Target) -> None:
    """Wait for the end of a job, or of a part of it.

    Returns once nothing of it can move without a person: 0 if it is successful, else 1.
    """
    raise typer.Exit(wait_for(selector))


def wait_for(text: str) -> ExitCode:
    """Wait, say how it ended, and return the exit code."""
    wanted = select.parse(text)
    with session.reader() as store:
        told, seen = False, None
        while True:
            version = store.version()
            if version != seen:
                seen = version
                with store.reading():
                    parts = _look(store, wanted)
                    settled = all(is_settled(store, job.id, counts) for job, counts in parts)
                if settled:
                    return _end(text, parts)
                if not told and not any_driver(store):
                    told = True
                    say("no daemon is running, so nothing new starts: d0ctl daemon start")
            time.sleep(LOOK_S if wanted.depth <= 2 else LOOK_AT_PACKAGES_S)


def _look(store: Store, wanted: Selector) -> list[tuple[JobSummary, Counts]]:
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


def _end(text: str, parts: list[tuple[JobSummary, Counts]]) -> ExitCode:
    ends = {job.name: roll_up(counts, blocked=job.blocked) for job, counts in parts}
    for job, counts in parts:
        state = "held" if job.hold and ends[job.name] == "submitted" else str(ends[job.name])
        if state == Group.CANCELED:
            packages = count(sum(counts.values()), "package")
            state += f": {count(by_status(counts)['successful'])} of {packages} done"
        emit(f"`{text if len(parts) == 1 else job.name}` is {state}")
    return ExitCode.DONE if set(ends.values()) == {"successful"} else ExitCode.FAILED
