"""One screen about all jobs, a job, a stage, a line, a package or a binary.

Modules that only some of these need are imported late: imports take most of the time of a call.
"""

import os
import sys
import time

from d0ctl.cli import session
from d0ctl.cli.terminal.output import emit, emit_json, is_terminal, sheet
from d0ctl.cli.terminal.output import show as print_sheet
from d0ctl.errors import NotFound
from d0ctl.select import Selector
from d0ctl.show import status
from d0ctl.show.cards import jobs
from d0ctl.show.drawing.sheet import Sheet
from d0ctl.store.connection import Store
from d0ctl.store.views import browse, selection
from d0ctl.store.views.selection import located

LOOK_S = 0.2
"""How often --watch checks whether anything has changed."""

ANYWAY_S = 2.0
"""After how long it draws again on a terminal without any change: ages grow."""


def show(
    wanted: Selector | None, *, watch: bool = False, now: bool = False, json: bool = False
) -> None:
    """Print the selection, again after each change, or with the answer of the wrapper."""
    if not session.has_home():
        _without_home(wanted, json)
        return
    with session.reader() as store:
        if now:
            from d0ctl.cli.commands.looking.pages import live_status

            live_status.show(store, wanted and located(store, wanted), json)
        elif watch:
            _watch(store, wanted)
        else:
            _once(store, wanted, json)


def _without_home(wanted: Selector | None, json: bool) -> None:
    if wanted is not None:
        raise NotFound(
            f"there is no job `{wanted.job}`; the home has no jobs", hint="d0ctl run FILE"
        )
    if json:
        emit_json({"jobs": [], "obstacles": []})
    else:
        emit(jobs.NO_JOBS)


def _once(store: Store, wanted: Selector | None, json: bool) -> None:
    with store.reading():
        if json:
            document = _document(store, wanted, time.time())
        else:
            page = _page(store, wanted)
    if json:
        emit_json(document)
    else:
        print_sheet(page)


def _document(store: Store, wanted: Selector | None, now: float) -> object:
    """Read the selection as JSON."""
    from d0ctl.cli import documents

    wanted = wanted and located(store, wanted)
    if wanted is None or status.is_overview(wanted):
        return documents.overview(store, status.jobs_of(store, wanted), now)
    if not wanted.is_one:
        selected = selection.choose(store, wanted, now=now, lenient=True)
        rows = selection.packages(selected)
        return {"packages": [documents.package_row(row, now) for row in rows]}
    if wanted.level in ("package", "binary"):
        from d0ctl.cli import package_documents
        from d0ctl.show import card_contents

        package = browse.package(store, wanted)
        if wanted.level == "package":
            return package_documents.package(store, package, now)
        return package_documents.binary(
            card_contents.binary(store, package, wanted.binary.first, now)
        )
    job = browse.job(store, wanted.job)
    if wanted.level == "job":
        return documents.job_card(store, job, now)
    stage = browse.stage(store, job, wanted)
    if wanted.level == "stage":
        return documents.stage_card(store, job, stage, now)
    return documents.line_card(store, job, stage, wanted.line.first, now)


def _page(store: Store, wanted: Selector | None, *, watch: bool = False) -> Sheet:
    page = sheet()
    page.typed = f"d0ctl status {wanted} --watch" if watch else ""
    status.draw(page, store, wanted, time.time())
    return page


def _watch(store: Store, wanted: Selector | None) -> None:
    """Draw again after each change of the database."""
    if is_terminal(sys.stdout) and os.environ.get("TERM") != "dumb":
        _watch_on_screen(store, wanted)
        return
    seen = None
    while True:
        if (version := store.version()) != seen:
            seen = version
            with store.reading():
                page = _page(store, wanted, watch=True)
            print_sheet(page)
            sys.stdout.flush()
        time.sleep(LOOK_S)


def _watch_on_screen(store: Store, wanted: Selector | None) -> None:
    """Draw in place until the person quits, also now and then for the times on the page."""
    from d0ctl.cli.terminal.live_screen import LiveScreen

    with LiveScreen() as screen:
        seen, due = None, 0.0
        while True:
            version = store.version()
            if version != seen or time.monotonic() >= due or screen.is_resized:
                seen, due = version, time.monotonic() + ANYWAY_S
                with store.reading():
                    page = _page(store, wanted, watch=True)
                screen.draw(page, time.time())
            key = screen.wait(LOOK_S)
            if key == "quit":
                return
            if key:
                due = 0.0
