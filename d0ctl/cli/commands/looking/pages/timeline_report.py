"""`d0ctl report timeline`: nodes or lines of a job as rows, time as columns."""

import time
from typing import Annotated

import typer

from d0ctl import select
from d0ctl.cli import session
from d0ctl.cli.terminal import completion
from d0ctl.cli.terminal.output import sheet, show, terminal_columns
from d0ctl.errors import BadUsage
from d0ctl.show.drawing.sheet import ENDLESS
from d0ctl.show.history import timeline_page
from d0ctl.store.history import attempt_spans
from d0ctl.store.views import browse

WIDTH = 100
"""The width of the page if stdout is no terminal."""

Job = Annotated[
    str | None,
    typer.Argument(metavar="JOB", autocompletion=completion.selectors, show_default=False,
                   help="A job: its lines are the rows; without one, the slots of all nodes are."),
]  # fmt: skip


def timeline(job: Job = None) -> None:
    """Draw when and where packages ran, and how they ended."""
    now = time.time()
    wanted = None if job is None else select.parse(job)
    if wanted is not None and not (wanted.is_one and wanted.level == "job"):
        raise BadUsage(f"`{job}` is not one job", hint=f"d0ctl report timeline {wanted.job}")
    with session.reader() as store, store.reading():
        known = None if wanted is None else browse.job(store, wanted.job)
        spans = attempt_spans.latest(store, None if known is None else known.id)
    columns = terminal_columns()
    page = sheet(WIDTH if columns == ENDLESS else columns)
    timeline_page.draw(page, spans, None if known is None else known.name, now)
    show(page)
