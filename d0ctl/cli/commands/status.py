"""`d0ctl status`: one screen about all jobs, a job, a stage, a line or a package."""

import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Annotated

import typer

from d0ctl import select
from d0ctl.cli import documents, options, session
from d0ctl.cli.terminal.output import emit, emit_json, is_terminal, refuse_both, sheet, show
from d0ctl.errors import NotFound
from d0ctl.select import Selector
from d0ctl.show.sheet import Sheet
from d0ctl.store.connection import Store
from d0ctl.store.views import browse
from d0ctl.store.views.shapes import PackageView
from d0ctl.units import clean

app = typer.Typer(add_completion=False, rich_markup_mode=None)

LOOK_S = 0.2
"""How often --watch asks whether anything has changed."""

MOST_LISTED = 200
"""How many packages a list on the screen holds."""


@app.command()
def status(
    selector: options.MaybeTarget = None,
    status: options.Status = None,
    reason: options.Reason = None,
    node: options.Node = None,
    older_than: options.OlderThan = None,
    watch: Annotated[
        bool, typer.Option("--watch", "-w", help="Draw it anew whenever something changes.")
    ] = False,
    now: Annotated[
        bool, typer.Option("--now", help="Ask the wrapper of a package how it stands.")
    ] = False,
    check: Annotated[
        bool,
        typer.Option(
            "--check",
            help="Print one line for monitors: exit 0 moves or idle, 1 failures, 5 stands still.",
        ),
    ] = False,
    json: options.Json = False,
) -> None:
    """Show all jobs, or all about one or a part of it."""
    refuse_both(watch, json, "--watch and --json")
    refuse_both(watch, now, "--watch and --now")
    filtered = bool(status or reason or node or older_than)
    if check:
        from d0ctl.cli import check as monitor

        refuse_both(check, bool(selector or filtered or watch or now), "--check and other choices")
        raise typer.Exit(monitor.run(json))
    wanted = None
    if selector is not None or filtered:
        wanted = select.parse(selector or "*", status=status or (), reason=reason, node=node,
                              older_than=older_than, with_binary=True)  # fmt: skip
    if not session.has_home():
        _without_home(wanted, json)
        return
    with session.reader() as store:
        if now:
            from d0ctl.cli import live_status

            live_status.show(store, wanted, json)
        elif watch:
            _watch(store, wanted)
        else:
            _once(store, wanted, json)


def _without_home(wanted: Selector | None, json: bool) -> None:
    if wanted is not None:
        raise NotFound(f"there is no job `{wanted.job}`, nor any other", hint="d0ctl run FILE")
    if json:
        emit_json({"jobs": []})
    else:
        emit("no jobs yet: try `d0ctl run FILE`")


def _once(store: Store, wanted: Selector | None, json: bool) -> None:
    with store.reading():
        draw = _drawing(store, wanted, json)
    draw()


def _drawing(store: Store, wanted: Selector | None, json: bool) -> Callable[[], None]:
    """Read all that is to be shown; what is returned prints it."""
    now = time.time()
    if wanted is None or (wanted.depth == 1 and wanted.wild_level and not wanted.is_filtered):
        from d0ctl.cli import show_jobs

        return show_jobs.drawing(store, wanted.job if wanted else "*", json, now)
    if not wanted.is_one:
        return _listing(store, wanted, json, now)
    if wanted.level == "job":
        from d0ctl.cli import show_job

        return show_job.drawing(store, browse.job(store, wanted.job), json, now)
    if wanted.level == "binary":
        return _binary(store, browse.package(store, wanted), wanted.binary.first, json, now)
    if wanted.level == "package":
        return _package(store, browse.package(store, wanted), json, now)
    from d0ctl.cli import show_part

    job = browse.job(store, wanted.job)
    stage = browse.stage(store, job, wanted)
    if wanted.level == "stage":
        return show_part.stage(store, job, stage, json, now)
    return show_part.line(store, job, stage, wanted.line.first, json, now)


def _package(store: Store, view: PackageView, json: bool, now: float) -> Callable[[], None]:
    if json:
        return partial(emit_json, documents.package(store, view))
    from d0ctl.show import package, read

    card = read.package(store, view, now)
    logs = [f"d0ctl logs {view.path}"] if card.attempts else []
    page = sheet()
    package.draw(page, card, now, limits=package.SCREEN)
    return partial(_print, page, *logs, f"d0ctl history {view.path}")


def _binary(
    store: Store, view: PackageView, number: int, json: bool, now: float
) -> Callable[[], None]:
    from d0ctl.show import binary, package, read

    card = read.binary(store, view, number)
    if json:
        return partial(emit_json, documents.binary(card))
    page = sheet()
    binary.draw(page, card, now, package.SCREEN)
    path = card.path
    return partial(_print, page, f"d0ctl why {path}", f"d0ctl logs {path}",
                   f"d0ctl status {view.path}")  # fmt: skip


def _print(page: Sheet, *commands: str) -> None:
    """Print a card, and what to type next."""
    show(page)
    emit()
    emit((clean("    ".join(commands)), "faint"))


def _listing(store: Store, wanted: Selector, json: bool, now: float) -> Callable[[], None]:
    number = browse.choose(store, wanted, now=now, lenient=True)
    rows = browse.chosen(store, -1 if json else MOST_LISTED)
    if json:
        return lambda: emit_json({"packages": [documents.package_row(row) for row in rows]})
    from d0ctl.cli import show_part

    blocked = {job.name for job in browse.jobs(store, wanted.job) if job.blocked}
    return lambda: show_part.packages(rows, number, now, blocked)


def _watch(store: Store, wanted: Selector | None) -> None:
    """Draw again after each change of the database; print nothing in between."""
    seen = None
    while True:
        version = store.version()
        if version != seen:
            seen = version
            with store.reading():
                draw = _drawing(store, wanted, json=False)
            if is_terminal(sys.stdout):
                sys.stdout.write("\x1b[H\x1b[2J\x1b[3J")
            draw()
            sys.stdout.flush()
        time.sleep(LOOK_S)
