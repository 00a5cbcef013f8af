"""What `run` and `wait` print about a job: how it ended, why it stands still, its results."""

import shlex
from collections.abc import Sequence

from d0ctl.model import Counts, Group, by_status
from d0ctl.store.connection import Store
from d0ctl.store.nodes.standstill import JobStanding, node_views
from d0ctl.units import clean, count, duration

MOST_RESULTS = 8
"""How many results are named; the rest are counted."""


def no_daemon(jobs: Sequence[str]) -> str:
    """Say that no daemon is running, and what drives these jobs instead."""
    run = f", or `d0ctl run {shlex.quote(jobs[0])}`" if len(jobs) == 1 else ""
    return f"no daemon is running, so nothing new starts: `d0ctl daemon start`{run}"


def ended(name: str, state: str, counts: Counts) -> str:
    """Say in which state a job or a part of it ended."""
    packages = count(sum(counts.values()), "package")
    if state == Group.CANCELED:
        return f"`{name}` is {state}: {count(by_status(counts)['successful'])} of {packages} done"
    if state == Group.FAILED:
        return f"`{name}` is {state}: {count(by_status(counts)['failed'])} of {packages} failed"
    return f"`{name}` is {state}"


def why_still(store: Store, found: JobStanding, now: float) -> str | None:
    """Return why a driven job stands still, unless its state says so."""
    from d0ctl.show.why.production import in_the_way  # only at the end

    return in_the_way(found, [view.node for view in node_views(store, now=now)])


def stands_still(name: str, why: str) -> str:
    """Say that a job stands still, and why."""
    return f"`{name}` stands still: {clean(why)}"


def so_far(name: str, counts: Counts) -> str:
    """Say how many packages have ended, and how many of these have failed."""
    totals = by_status(counts)
    over = totals["successful"] + totals["failed"] + totals["canceled"]
    ends = f"{count(over)} of {count(sum(counts.values()), 'package')} ended"
    return f"`{name}`: {ends}, {count(totals['failed'])} failed"


def failed_logs(name: str) -> str:
    """Return the command that prints how the logs of failed packages end."""
    return f"d0ctl logs {shlex.quote(name)} --failed"


def over_time(name: str, job: str, state: str, seconds: float) -> str:
    """Say how a job stands after the time limit."""
    return f"`{name}` is still {state} after {duration(seconds)}: {ask_why(job)}"


def ask_why(name: str) -> str:
    """Return the command that explains a job."""
    return f"d0ctl why {shlex.quote(name)}"


def succeeded(name: str, packages: int, seconds: float) -> str:
    """Say that a job is successful."""
    return f"`{name}` is successful: {count(packages, 'package')} in {duration(seconds)}"


def results(folder: str, files: Sequence[str]) -> list[str]:
    """Say where the results of a job are."""
    if not files:
        return []
    more = [f"  and {count(len(files) - MOST_RESULTS)} more"] if len(files) > MOST_RESULTS else []
    named = [f"  {clean(path)}" for path in files[:MOST_RESULTS]]
    return [f"results in {clean(folder)}", *named, *more]


def held(name: str) -> str:
    """Say that a job to be run is held."""
    return f"`{name}` is held, so none of its packages start: d0ctl release {name}"


def would_continue(name: str) -> str:
    """Say what `run` would do with a job that was submitted before."""
    return f"would continue job `{name}`"


def interrupted(name: str, *, has_daemon: bool) -> str:
    """Say what drives a job after an interrupted `run`, and what ends it."""
    by = f"the daemon continues `{name}`"
    if not has_daemon:
        by = f"`{name}` continues with `d0ctl run {name}` or `d0ctl daemon start`"
    return f"{by}; `d0ctl kill {name}` ends it"


STOP_HERE = "stop here? running packages continue, and the job can be resumed [Y/n] "
