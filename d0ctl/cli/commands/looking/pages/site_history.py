"""`d0ctl history` of all or a node: actions, ends of jobs, outages of nodes, and failures."""

import time

from d0ctl.cli.commands.looking.usage_report import mention_archives, readers
from d0ctl.cli.schemas import history as documents
from d0ctl.cli.schemas.fill import fill
from d0ctl.cli.terminal.output import emit_json, sheet, show
from d0ctl.show.drawing.remark_texts import remark
from d0ctl.show.history import logbook_page
from d0ctl.show.history.spent_values import without_spent
from d0ctl.store.history import logbook, notable
from d0ctl.store.history.logbook import JobFailures
from d0ctl.store.history.notable import Notable
from d0ctl.store.nodes import draining
from d0ctl.store.nodes.draining import Outage
from d0ctl.store.views.shapes import ActionView
from d0ctl.units import iso

MOST_SHOWN = 500
"""How many actions and ends of jobs are drawn."""

MOST_OUTAGES = 50
"""How many outages are drawn, the latest ones."""

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
    actions, outages = list[ActionView](), list[Outage]()
    ended, failures = list[Notable](), list[JobFailures]()
    for opened in readers(since, with_archives=with_archives):
        with opened as store, store.reading():
            if not store.home.archive or not with_archives:
                actions = without_spent(store, logbook.actions(store, since, most + 1, node=node))
                outages = draining.outages(
                    store, since, MOST_IN_DOCUMENT if json else MOST_OUTAGES, node=node
                )
            ended += [] if node else notable.ended_jobs(store, since, most, until=now)
            failures += logbook.failures(store, since, MOST_IN_DOCUMENT, node=node)
    ended = sorted(ended, key=lambda job: job.at, reverse=True)[:most]
    failures.sort(key=lambda failure: failure.recorded, reverse=True)
    if not json:
        drawing = sheet()
        logbook_page.draw(drawing, actions, ended, failures, outages, now, most)
        show(drawing)
        if not with_archives:
            mention_archives(since, can_add=True)
        return
    document: documents.Logbook = {
        "since": None if period is None else iso(since),
        "actions": [fill(documents.Action, action, reason=remark(action.note))
                    for action in actions[:most]],
        "jobs": [fill(documents.EndedJob, job, job=job.subject, status=job.state)
                 for job in ended],
        "outages": [fill(documents.Outage, outage) for outage in outages],
        "failures": [fill(documents.JobFailures, failure) for failure in failures],
    }  # fmt: skip
    emit_json(document)
