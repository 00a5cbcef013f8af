"""`d0ctl logs SELECTOR --failed`: how the logs of failed packages end, by the reason of failure."""

import time

import typer

from d0ctl import select
from d0ctl.cli import session
from d0ctl.cli.schemas import history as documents
from d0ctl.cli.schemas.fill import fill
from d0ctl.cli.terminal.output import emit_json, sheet, show
from d0ctl.errors import D0Error, ExitCode, NodeUnreachable, NotFound
from d0ctl.nodes.visits.peek import AttemptReader, visit
from d0ctl.show import failed_logs
from d0ctl.show.failed_logs import FailedLog, Logs
from d0ctl.show.visits import visiting
from d0ctl.show.why.common import unreadable_log
from d0ctl.store.connection import Store
from d0ctl.store.views import browse, failure_counts, selection
from d0ctl.units import clean

LINES = 10
"""How many lines of a log are printed by default."""

MOST_READ = 1000
"""How many failed packages are read, the latest first."""

MOST_VISITED = 8
"""How many logs are read on nodes: those of packages whose stderr was empty."""

TAIL = 8192
"""How many bytes of such a log are read."""

MOST_IN_DOCUMENT = 1000
"""How many packages with the same log a document names."""


def run(selector: str, lines: int, json: bool) -> None:
    """Print the logs; exits with 6 if a node that has one of them does not answer."""
    wanted = select.parse_all([selector], status=["failed"])
    now = time.time()
    with session.reader() as store:
        with store.reading():
            selected = selection.choose(store, wanted, now=now, lenient=True)
            failed = selected.count()
            failures = failure_counts.last_of_selected(selected, MOST_READ)
            earlier = 0 if failures else _earlier_failures(store, selector, now)
        logs = failed_logs.grouped(failures, lines)
        for log in _shown(logs):
            log.trouble = unreadable_log(store, log.failure.node_name) if log.lines else None
        answered = bool(store.home.archive) or _read_stdout(store, logs, lines)
    name = selector.partition(":")[0]
    if json:
        emit_json(_document(name, failed, logs))
    else:
        page = sheet()
        if logs:
            failed_logs.draw(page, logs, name, failed, now)
        else:
            page.say(failed_logs.no_failures(name, earlier))
        show(page)
    if not answered:
        raise typer.Exit(ExitCode.NODE)


def _earlier_failures(store: Store, selector: str, now: float) -> int:
    """Count the failed attempts of packages that are not failed now."""
    selected = selection.choose(store, select.parse(selector), now=now, lenient=True)
    return sum(reason.count for reason in failure_counts.reasons_of_selected(selected))


def _shown(logs: Logs) -> list[FailedLog]:
    return [log for found in logs.values() for log in found[: failed_logs.MOST_LOGS]]


def _read_stdout(store: Store, logs: Logs, lines: int) -> bool:
    """Read the end of stdout where stderr is empty; return whether all nodes answered."""
    silent = [log for log in _shown(logs) if not log.lines]
    down: dict[str, str] = {}
    for log in silent[:MOST_VISITED]:
        node = log.failure.node_name
        if node not in down:
            try:
                _read(store, log, lines)
            except NodeUnreachable as error:
                down[node] = str(error)
            except D0Error as error:
                log.trouble = clean(f"its log can't be read: {error}")
        if node in down:
            log.trouble = clean(f"its log can't be read: {down[node]}")
    return not down


def _read(store: Store, log: FailedLog, lines: int) -> None:
    package = browse.package(store, select.parse(log.failure.path))
    tried = visiting.attempt_of(store, package, log.failure.number)
    name = f"{log.failure.binary or 'startup'}.out"
    with visit(visiting.where(store, tried)) as here:
        log.lines = _tail(here, name).splitlines()[-lines:]
    log.stream = "stdout" if log.lines else None


def _tail(here: AttemptReader, name: str) -> str:
    """Return the end of a log that may be absent: a binary that never began has none."""
    try:
        data = here.read(name, -TAIL, TAIL).data
    except NotFound:
        return ""
    return data.decode("utf-8", "replace").rstrip()


def _document(selector: str, failed: int, logs: Logs) -> documents.FailedLogs:
    return {
        "selector": selector,
        "failed": failed,
        "reasons": [
            {"reason": reason, "packages": failed_logs.number_of(found),
             "logs": [_log(log) for log in found]}
            for reason, found in logs.items()
        ],
    }  # fmt: skip


def _log(log: FailedLog) -> documents.FailedLog:
    return fill(
        documents.FailedLog, log.failure, attempt=log.failure.number, node=log.failure.node_name,
        stream=log.stream, lines=log.lines, trouble=log.trouble, packages=log.number,
        alike=log.alike[:MOST_IN_DOCUMENT],
    )  # fmt: skip
