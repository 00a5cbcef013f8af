"""`status --check`: one line and an exit code for cron and monitors."""

import time
from typing import TYPE_CHECKING

from d0ctl.cli import session
from d0ctl.cli.terminal.output import emit, emit_json
from d0ctl.errors import D0Error, ExitCode
from d0ctl.show.why.production import Check, check
from d0ctl.store.nodes import standstill
from d0ctl.store.nodes.standstill import Production
from d0ctl.units import clean

if TYPE_CHECKING:
    from d0ctl.cli.schemas import reports


def run(json: bool) -> ExitCode:
    """Print whether production moves; return the exit code that says so."""
    try:
        if not session.home().exists():
            result = _broken(f"there is no home at `{session.home().root}`")
            found = None
        else:
            with session.reader() as store, store.reading():
                found = standstill.production(store, now=time.time())
            result = check(found, time.time())
    except D0Error as error:
        result, found = _broken(str(error)), None
    if json:
        emit_json(_document(result, found))
    else:
        emit(clean(result.headline))
    return result.code


def _broken(why: str) -> Check:
    return Check("standstill", f"stands still: {why}", ExitCode.DATABASE)


def _document(result: Check, found: Production | None) -> "reports.Check":
    return {
        "state": result.state,
        "headline": result.headline,
        "code": int(result.code),
        "cause": found.cause if found else None,
        "daemon": found.driven if found else False,
        "failed": sum(found.failures.values()) if found else 0,
        "unfit": found.unfit if found else 0,
        "nodes": {one.name: one.node.state for one in found.nodes} if found else {},
        "stopped": {one.name: one.standing.cause for one in found.stopped} if found else {},
        "commands": list(result.commands),
    }
