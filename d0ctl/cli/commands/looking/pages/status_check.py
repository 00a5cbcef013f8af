"""`status --check`: one line and an exit code for cron and monitors."""

import time
from collections import Counter
from typing import TYPE_CHECKING

from d0ctl.cli import session
from d0ctl.cli.terminal.output import emit, emit_json
from d0ctl.errors import D0Error, ExitCode
from d0ctl.show.usage.site_check import Check, check
from d0ctl.store.connection import Store
from d0ctl.store.jobs import pause
from d0ctl.store.nodes import registry, standstill
from d0ctl.store.nodes.holder import given_up
from d0ctl.store.nodes.standstill import Production
from d0ctl.store.views import dependencies
from d0ctl.store.views.job_files import eta
from d0ctl.store.views.job_files.eta_away import nodes_down
from d0ctl.units import clean

if TYPE_CHECKING:
    from d0ctl.cli.schemas import reports


def run_on(selector: str) -> ExitCode:
    """Print a line about each selected job or part of it; return the exit code of the worst.

    The rules are those for all jobs. The line of a job counts its stragglers; they do not change
    the exit code.
    """
    from d0ctl import select
    from d0ctl.show.usage import part_check
    from d0ctl.show.why.common import MOST_READ
    from d0ctl.store.views import awaited
    from d0ctl.store.views.left_out import short_packages

    code = ExitCode.DONE
    wanted, now = select.parse_all([selector]), time.time()
    with session.reader() as store, store.reading():
        parts = awaited.read(store, wanted, now, driven=None)
        standings = [part.found for part in parts]
        state = standstill.production(store, now=now, jobs=standings)
        suspended = pause.left_suspended(store)
        silent = part_check.Silent(
            registry.down_with_packages(store), _given_up(store, state), now, _bound(store)
        )
        for part in parts:
            name = selector if len(parts) == 1 else part.job.name
            late = 0
            if wanted.names_jobs:
                late = len(eta.stragglers(store, part.job.id, eta.MOST_MARKED, now=now))
            found = part_check.check(state, part, now)
            can_start = awaited.some_can_start(store, part.job.id)
            is_stuck = part_check.is_stuck(part) and not can_start
            away = nodes_down(store).get(part.job.id, ()) if is_stuck else ()
            short = short_packages(store, part.job.id, MOST_READ) if name == part.job.name else ()
            emit(part_check.in_one_line(name, part, found, silent, late, away, suspended, short))
            code = max(code, found.code)
    return code


def run(json: bool) -> ExitCode:
    """Print whether production moves; return the exit code that says so."""
    try:
        if not session.home().exists():
            result = _broken(f"there is no home at `{session.home().root}`")
            state = None
        else:
            with session.reader() as store, store.reading():
                now = time.time()
                state = standstill.production(store, now=now)
                given_up = _given_up(store, state)
                late = eta.stragglers(store, None, eta.MOST_MARKED, now=now)
                suspended, bound = pause.left_suspended(store), _bound(store)
            jobs = Counter(package.path.partition("/")[0] for package in late)
            result = check(state, now, jobs, given_up, suspended, bound)
    except D0Error as error:
        result, state = _broken(str(error)), None
    if json:
        emit_json(_document(result, state))
    else:
        emit(clean(result.headline))
    return result.code


def _given_up(store: Store, state: Production) -> float | None:
    """Return when the first unreachable packages will be given up; None if nobody knows."""
    if not any(job.work.silent for job in state.jobs):
        return None
    down = registry.down_with_packages(store)
    times = [given_up(store, view.node.room.id, view.since) for view in state.nodes
             if view.name in down and view.since is not None]  # fmt: skip
    return min((at for at in times if at is not None), default=None)


def _bound(store: Store) -> Counter[str]:
    """Count the unreachable packages of jobs that can't run elsewhere without their inputs."""
    return Counter(row["job"] for row in dependencies.unreachable_bound(store))


def _broken(why: str) -> Check:
    return Check("standstill", f"stands still: {why}", ExitCode.DATABASE)


def _document(result: Check, state: Production | None) -> "reports.Check":
    return {
        "state": result.state,
        "headline": result.headline,
        "code": int(result.code),
        "cause": state.cause if state else None,
        "daemon": state.driven if state else False,
        "failed": sum(state.failures.values()) if state else 0,
        "unfit": sum(job.standing.unfit for job in state.jobs) if state else 0,
        "nodes": {node.name: node.node.state for node in state.nodes} if state else {},
        "stopped": {job.name: job.standing.cause for job in state.stopped} if state else {},
        "commands": list(result.commands),
    }
