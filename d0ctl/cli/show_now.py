"""`d0ctl status PACKAGE --now`: what the database knows, and what the wrapper says at once."""

import time

import typer

from d0ctl.cli import documents, present, show_package, visiting
from d0ctl.cli.terminal.output import emit, emit_json, say
from d0ctl.errors import BadUsage, D0Error, ExitCode
from d0ctl.nodes.peek import visit
from d0ctl.select import Selector
from d0ctl.store.connection import Store
from d0ctl.store.views import browse
from d0ctl.store.views.shapes import AttemptView
from d0ctl.units import clean


def show(store: Store, wanted: Selector | None, json: bool) -> None:
    """Show a package; exits with 6 when its wrapper can't be asked."""
    if wanted is None or not (wanted.is_one and wanted.level == "package"):
        raise BadUsage(
            "--now asks about one package", hint="d0ctl status JOB/STAGE/LINE/PACKAGE --now"
        )
    with store.reading():
        one = browse.package(store, wanted)
        tries = browse.attempts(store, one.id)
        document = documents.package(store, one) if json else {}
        draw = show_package.drawing(store, one, False, time.time())
    found, trouble = _ask(store, tries)
    if json:
        emit_json({**document, "now": present.document(found) if found else None})
    else:
        draw()
        emit()
        _draw(found, trouble)
    if trouble:
        raise typer.Exit(ExitCode.NODE)


def _ask(store: Store, tries: list[AttemptView]) -> tuple[present.Present | None, bool]:
    """What the wrapper of the attempt under way says, and whether it could not be asked."""
    if not tries or tries[-1].ended is not None:
        return None, False
    node = clean(tries[-1].node_name)
    try:
        with visit(visiting.where(store, tries[-1])) as here:
            found = present.present(here.status())
    except D0Error as error:
        say(f"d0ctl: node `{node}` can't be asked, so this is what the database knows: "
            f"{clean(str(error))}")  # fmt: skip
        return None, True
    if found.state == "running" and found.told is None:
        say(f"d0ctl: the wrapper on `{node}` can't be asked, so this is what the database knows: "
            f"{clean(found.message)}")  # fmt: skip
        return found, True
    return found, False


def _draw(found: present.Present | None, trouble: bool) -> None:
    if found is not None:
        present.draw(found)
    elif not trouble:
        emit("now    no attempt is under way, so there is nobody to ask")
