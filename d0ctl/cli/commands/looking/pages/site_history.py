"""`d0ctl history` of all or a node: actions, ends of jobs, outages of nodes, and failures."""

import time

from d0ctl.cli.commands.looking.usage_report import mention_archives, readers
from d0ctl.cli.schemas import history as documents
from d0ctl.cli.schemas.fill import fill
from d0ctl.cli.terminal.output import emit_json, sheet, show
from d0ctl.show.drawing.remark_texts import remark
from d0ctl.show.history import logbook_page
from d0ctl.show.history.logbook_page import Logbook
from d0ctl.units import iso

MOST_SHOWN = 500
"""How many actions and ends of jobs are drawn."""

MOST_IN_DOCUMENT = 10_000


def show_all(
    period: float | None, node: str | None, *, with_archives: bool = False, json: bool
) -> None:
    """Print what happened, perhaps only on a node or within a period until now; on request also to
    the jobs of archives, on which the database still has all actions.
    """
    now = time.time()
    since = 0.0 if period is None else now - period
    most = MOST_IN_DOCUMENT if json else MOST_SHOWN
    whole = Logbook()
    for opened in readers(since, with_archives=with_archives):
        with opened as store, store.reading():
            if store.home.archive and with_archives:
                archived = logbook_page.read_jobs(store, since, now, most, node)
                whole = whole.with_jobs(archived, most)
            else:
                whole = logbook_page.read(store, since, now, most, node)
    if not json:
        drawing = sheet()
        logbook_page.draw(drawing, whole, now, most)
        show(drawing)
        if not with_archives:
            mention_archives(since, can_add=True)
        return
    document: documents.Logbook = {
        "since": None if period is None else iso(since),
        "actions": [fill(documents.Action, action, reason=remark(action.note))
                    for action in whole.actions[:most]],
        "jobs": [fill(documents.EndedJob, job, job=job.subject, status=job.state)
                 for job in whole.ended],
        "outages": [fill(documents.Outage, outage) for outage in whole.outages],
        "failures": [fill(documents.JobFailures, failure) for failure in whole.failures],
    }  # fmt: skip
    emit_json(document)
