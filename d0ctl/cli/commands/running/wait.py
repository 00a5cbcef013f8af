"""`d0ctl wait`: wait until nothing in the selection can move without a person."""

import math
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Annotated

import typer

from d0ctl import select
from d0ctl.cli import options, session
from d0ctl.cli.terminal import completion
from d0ctl.cli.terminal.fast_typer import single
from d0ctl.cli.terminal.output import emit, say
from d0ctl.errors import BadUsage, ExitCode
from d0ctl.model import Counts, Group, by_status
from d0ctl.show import outcome
from d0ctl.store.connection import Store
from d0ctl.store.nodes import registry
from d0ctl.store.views import browse
from d0ctl.store.views.awaited import Awaited, DaemonWatch, read
from d0ctl.units import listed

app = single()


LOOK_S = 0.1
LOOK_AT_PACKAGES_S = 1.0
"""How long to wait between two reads of a selection of packages, which costs more."""

LOOK_ANYWAY_S = 5.0
"""How long to wait at most: nodes may be given up without a change in the database."""

STOPPED_S = 4.0
"""For how long a job stands still before a wait says so: it may be between two turns."""

SAID = math.inf
"""Since when it stands still once that was said: it is said once."""

STOPPED = ("held", "paused")
"""States of which a wait says so at once."""


def _failed(counts: Counts) -> bool:
    return by_status(counts)["failed"] > 0


def _ended(counts: Counts) -> bool:
    totals = by_status(counts)
    return any(totals[status] for status in ("successful", "failed", "canceled"))


ENDS: Mapping[str, Callable[[Counts], bool]] = {
    "done": lambda counts: False,
    "failed": _failed,
    "any": _ended,
}
"""What `--until` waits for before everything has ended."""


@app.command()
def wait(
    selectors: options.Targets,
    timeout: Annotated[
        str | None,
        typer.Option(
            "--timeout", metavar="TIME", help="Longest time to wait, e.g. `2h` (default: no limit)."
        ),
    ] = None,
    until: Annotated[
        str,
        typer.Option(
            "--until",
            metavar="WHAT",
            autocompletion=completion.ends,
            help="`done`: all has ended; `failed`: or a package failed; `any`: or one ended.",
        ),
    ] = "done",
) -> None:
    """Wait for the end of jobs, or of parts of them.

    It ends when nothing of any of them can move without a person, or after the timeout. Of a job
    that is held or paused while packages run, it says so and how to let it go on. `'reco*'` and
    `reco1 reco2` wait for several jobs. If no daemon runs, it says so and waits a minute for one,
    or as long as `--timeout` says.
    """
    raise typer.Exit(wait_for(selectors, timeout, until))


def wait_for(texts: Sequence[str], timeout: str | None = None, until: str = "done") -> ExitCode:
    """Wait, say how it ended, and return the exit code."""
    if until not in ENDS:
        raise BadUsage(f"--until takes {listed(map('`{}`'.format, ENDS), 'or')}, not `{until}`")
    wanted = select.parse_all(texts)
    length = options.seconds("--timeout", timeout) if timeout is not None else 0.0
    last = time.monotonic() + length if timeout is not None else None
    rest = LOOK_S if wanted.depth <= 2 else LOOK_AT_PACKAGES_S
    with session.reader() as store:
        daemon, is_reported, seen, due = DaemonWatch(store), False, None, 0.0
        kept_back: set[str] = set()
        stopped: dict[str, float] = {}
        while True:
            version = store.version()
            if version != seen or time.monotonic() >= due:
                seen, due = version, time.monotonic() + LOOK_ANYWAY_S
                with store.reading():
                    parts = read(store, wanted, time.time())
                    if all(part.found.standing.is_settled for part in parts):
                        return _end(store, _named(texts, parts))
                if first := [part for part in parts if ENDS[until](part.counts)]:
                    return _first(_named(texts, parts), first)
                kept_back = _say_kept_back(parts, kept_back)
                stopped = _say_stopped(_named(texts, parts), stopped)
            if not daemon.check():
                if not is_reported:
                    is_reported = True
                    from d0ctl.show.cards.daemon import no_daemon

                    say(no_daemon(store, [part.job.name for part in parts]))
                if last is None:
                    daemon.give_up(wanted.brief)
            if last is not None and time.monotonic() >= last:
                return _give_up(store, _named(texts, parts), length)
            time.sleep(rest if last is None else max(0.0, min(rest, last - time.monotonic())))


def _say_kept_back(parts: Sequence[Awaited], known: Collection[str]) -> set[str]:
    """Say which jobs are held or paused since the last look, and how they go on; return them."""
    jobs = {part.job.name: part.job for part in parts
            if part.job.ended is None and (part.job.hold or part.job.pause)}  # fmt: skip
    for name, job in jobs.items():
        if name not in known:
            say(outcome.kept_back(job))
    return set(jobs)


def _say_stopped(parts: Mapping[str, Awaited], known: Mapping[str, float]) -> dict[str, float]:
    """Say what has not moved for some seconds, and may go on by itself; return since when."""
    now, since = time.monotonic(), dict[str, float]()
    for name, part in parts.items():
        standing = part.found.standing
        if standing.stands_still and not standing.is_settled and part.state not in STOPPED:
            since[name] = known.get(name, now)
            if since[name] <= now - STOPPED_S:
                say(outcome.stands_still(name, outcome.ask_why(name), for_now=True))
                since[name] = SAID
    return since


def _named(texts: Sequence[str], parts: Sequence[Awaited]) -> dict[str, Awaited]:
    """Return what is waited for by its name: as it was typed, if it is just one."""
    if len(texts) == 1 and len(parts) == 1:
        return {texts[0]: parts[0]}
    return {part.name: part for part in parts}


def _first(parts: Mapping[str, Awaited], first: Sequence[Awaited]) -> ExitCode:
    """Say which packages ended first; return whether one of them failed."""
    for name, part in parts.items():
        if part not in first:
            continue
        emit(outcome.so_far(name, part.counts))
        if _failed(part.counts):
            say(outcome.failed_logs(name))
    return ExitCode.FAILED if any(_failed(part.counts) for part in first) else ExitCode.DONE


def _give_up(store: Store, parts: Mapping[str, Awaited], length: float) -> ExitCode:
    """Say how things stand after the time limit, in the words of `status`."""
    from d0ctl.show.cards.jobs import word  # late: most waits come to an end

    for name, part in parts.items():
        if part.found.standing.is_settled:
            _say_end(store, name, part)
        else:
            down = registry.down_with_packages(store) if part.counts.get("unreachable") else []
            state = word(part.state, part.counts)
            say(outcome.after_time_limit(name, part.job.name, state, length, down))
    return ExitCode.FAILED


def _end(store: Store, parts: Mapping[str, Awaited]) -> ExitCode:
    for name, part in parts.items():
        _say_end(store, name, part)
    ends = {part.status for part in parts.values()}
    return ExitCode.DONE if ends == {Group.SUCCESSFUL} else ExitCode.FAILED


def _say_end(store: Store, name: str, part: Awaited) -> None:
    if why := outcome.standstill_reason(store, part.found, time.time()):
        emit(outcome.stands_still(name, why))
        say(outcome.ask_why(name))
        return
    if part.state in ("held", "paused"):
        emit(outcome.held_or_paused(name, part.state, part.job))
        say(outcome.way_back(part.job, browse.verb_of_held(store, part.job.id)))
        return
    emit(outcome.ended(name, part.state, part.counts, part.acknowledged))
    if part.state in (Group.FAILED, Group.CANCELED):
        say(outcome.ask_why(name))
    else:
        from d0ctl.cli.commands.looking.results import remarks  # only at the end

        for line in remarks(part.job):
            say(line)
