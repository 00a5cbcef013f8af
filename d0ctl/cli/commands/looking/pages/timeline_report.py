"""`d0ctl report timeline`: nodes or lines of a job as rows, time as columns; or CSV, or JSON."""

import csv as separated
import sys
import time
from collections.abc import Sequence
from typing import Annotated

import typer

from d0ctl import select
from d0ctl.cli import options, session
from d0ctl.cli.commands.looking.usage_report import Csv
from d0ctl.cli.schemas import history
from d0ctl.cli.schemas.fill import fill
from d0ctl.cli.terminal import completion
from d0ctl.cli.terminal.output import emit_json, sheet, show
from d0ctl.errors import BadUsage
from d0ctl.show.history import time_rows, timeline_page
from d0ctl.show.history.time_rows import TimeRow
from d0ctl.store.history import attempt_spans
from d0ctl.store.history.attempt_spans import MOST, AttemptSpan
from d0ctl.store.views import browse
from d0ctl.units import iso

WIDTH = 100
"""The width of the page if stdout is no terminal."""

MOST_IN_DOCUMENT = 100_000
"""How many attempts are printed besides those that run, the last ones; this takes 3 s."""

Job = Annotated[
    str | None,
    typer.Argument(metavar="JOB", autocompletion=completion.selectors, show_default=False,
                   help="A job: its lines are the rows; without one, the slots of all nodes are."),
]  # fmt: skip


def timeline(job: Job = None, csv: Csv = False, json: options.Json = False) -> None:
    """Draw when and where packages ran, and how they ended."""
    if csv and json:
        raise BadUsage("one of `--csv` and `--json`")
    now = time.time()
    wanted = None if job is None else select.parse(job)
    with session.reader() as store, store.reading():
        found = [] if wanted is None else browse.jobs(store, wanted.job)
        if found and wanted is not None and not (wanted.is_one and wanted.level == "job"):
            raise BadUsage(f"`{job}` is not one job",
                           hint=f"d0ctl report timeline {found[0].name}")  # fmt: skip
        known = None if wanted is None else browse.job(store, wanted.job)
        most = MOST_IN_DOCUMENT if csv or json else MOST
        spans = attempt_spans.latest(store, None if known is None else known.id, most)
    if csv or json:
        document = _document(spans, None if known is None else known.name, now)
        _print_csv(document) if csv else emit_json(document)
        return
    page = sheet(WIDTH)
    timeline_page.draw(page, spans, None if known is None else known.name, now)
    show(page)


def _document(spans: Sequence[AttemptSpan], job: str | None, now: float) -> history.Timeline:
    begin, end = timeline_page.extent(spans, now, MOST_IN_DOCUMENT)
    rows = time_rows.slots(spans, end, begin) if job is None else time_rows.lines(spans)
    slow = time_rows.stragglers(spans, now)
    return {
        "job": job,
        "begin": iso(begin) if spans else None,
        "end": iso(end) if spans else None,
        "rows": [_row(time_row, slow, now) for time_row in rows],
    }


def _row(row: TimeRow, slow: set[AttemptSpan], now: float) -> history.TimelineRow:
    attempts = [
        fill(
            history.TimelineAttempt, each, straggler=each in slow, run_time=_rounded(each.ran(now))
        )
        for each in row.spans
    ]
    return {"row": row.of, "slot": row.slot, "attempts": attempts}


def _rounded(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds, 3)


def _print_csv(document: history.Timeline) -> None:
    """Print a line for each attempt, with its row and slot; empty for what is not known yet."""
    writer = separated.writer(sys.stdout, lineterminator="\n")
    writer.writerow(["row", "slot", *history.TimelineAttempt.__annotations__])
    for row in document["rows"]:
        for attempt in row["attempts"]:
            values = {**attempt, "straggler": "yes" if attempt["straggler"] else "no"}
            writer.writerow([row["row"], row["slot"], *values.values()])
