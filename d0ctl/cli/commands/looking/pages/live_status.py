"""`d0ctl status PACKAGE --now`: the card of a package, and what its wrapper reports now."""

import time

import typer

from d0ctl.cli import package_documents
from d0ctl.cli.terminal import output
from d0ctl.cli.terminal.output import emit_json, say
from d0ctl.errors import BadUsage, D0Error, ExitCode
from d0ctl.nodes.visits.peek import visit
from d0ctl.select import Selector
from d0ctl.show import card_contents, live_status
from d0ctl.show.cards import package
from d0ctl.show.cards.file_lists import SCREEN
from d0ctl.show.live_status import LiveStatus
from d0ctl.show.visits import visiting
from d0ctl.store.connection import Store
from d0ctl.store.views import browse
from d0ctl.store.views.shapes.of_package import AttemptView
from d0ctl.units import clean


def show(store: Store, wanted: Selector | None, json: bool) -> None:
    """Show a package; exits with 6 when its wrapper can't be asked."""
    if wanted is None or not (wanted.is_one and wanted.level == "package"):
        raise BadUsage(
            "--now asks about one package", hint="d0ctl status JOB/STAGE/LINE/PACKAGE --now"
        )
    with store.reading():
        view, now = browse.package(store, wanted), time.time()
        document = package_documents.package(store, view, now) if json else None
        card = card_contents.package(store, view, now)
    status, failed = _ask(store, card.attempts)
    if document is not None:
        emit_json({**document, "now": package_documents.live_status(status)})
    else:
        sheet = output.sheet()
        package.draw(sheet, card, time.time(), limits=SCREEN)
        sheet.add()
        if status is not None:
            live_status.draw(sheet, status)
        elif not failed:
            sheet.say(live_status.NOT_RUNNING)
        output.show(sheet)
    if failed:
        raise typer.Exit(ExitCode.NODE)


def _ask(store: Store, attempts: list[AttemptView]) -> tuple[LiveStatus | None, bool]:
    """Ask the wrapper of the running attempt; return its answer, and whether asking failed."""
    if not attempts or attempts[-1].ended is not None:
        return None, False
    node = clean(attempts[-1].node_name)
    try:
        with visit(visiting.where(store, attempts[-1])) as here:
            status = live_status.read(here.status(), time.time())
    except D0Error as error:
        say(live_status.from_database(f"node `{node}`", str(error)))
        return None, True
    if status.state == "running" and status.report is None:
        say(live_status.from_database(f"the wrapper on `{node}`", status.message))
        return status, True
    return status, False
