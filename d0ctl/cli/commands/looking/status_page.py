"""One screen about all jobs, a job, a stage, a line, a package or a binary.

What only some of these need is imported late: imports are most of the time of a call.
"""

import sys
import time

from d0ctl.cli import session
from d0ctl.cli.terminal.output import emit, emit_json, is_terminal, sheet
from d0ctl.cli.terminal.output import show as print_sheet
from d0ctl.errors import NotFound
from d0ctl.select import Selector
from d0ctl.show import jobs, lists
from d0ctl.show.sheet import Sheet
from d0ctl.show.why.production import obstacles
from d0ctl.store.connection import Store
from d0ctl.store.nodes.standstill import production
from d0ctl.store.views import browse, choice
from d0ctl.store.views.shapes import JobSummary
from d0ctl.units import count

LOOK_S = 0.2
"""How often --watch asks whether anything has changed."""

MOST_LISTED = 200
"""How many packages a list on the screen holds."""


def show(
    wanted: Selector | None, *, watch: bool = False, now: bool = False, json: bool = False
) -> None:
    """Print what is meant, again after each change, or with the answer of the wrapper."""
    if not session.has_home():
        _without_home(wanted, json)
        return
    with session.reader() as store:
        if now:
            from d0ctl.cli.commands.looking import live_status

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
        emit(jobs.NO_JOBS)


def _once(store: Store, wanted: Selector | None, json: bool) -> None:
    with store.reading():
        if json:
            document = _document(store, wanted, time.time())
        else:
            page = _page(store, wanted, time.time())
    if json:
        emit_json(document)
    else:
        print_sheet(page)


def _is_overview(wanted: Selector | None) -> bool:
    return wanted is None or bool(
        wanted.depth == 1 and wanted.wild_level and not wanted.is_filtered
    )


def _jobs(store: Store, wanted: Selector | None) -> list[JobSummary]:
    pattern = wanted.job if wanted else "*"
    jobs = browse.jobs(store, pattern)
    if not jobs and pattern != "*":
        raise browse.no_such_job(store, pattern)
    return jobs


def _document(store: Store, wanted: Selector | None, now: float) -> object:
    """Read what is meant as JSON."""
    from d0ctl.cli import documents

    if wanted is None or _is_overview(wanted):
        return {"jobs": [documents.job(job) for job in _jobs(store, wanted)]}
    if not wanted.is_one:
        choice.choose(store, wanted, now=now, lenient=True)
        return {"packages": [documents.package_row(row, now) for row in choice.chosen(store)]}
    if wanted.level in ("package", "binary"):
        from d0ctl.cli import package_documents
        from d0ctl.show import read

        package = browse.package(store, wanted)
        if wanted.level == "package":
            return package_documents.package(store, package, now)
        return package_documents.binary(read.binary(store, package, wanted.binary.first))
    job = browse.job(store, wanted.job)
    if wanted.level == "job":
        return documents.job_card(store, job, now)
    stage = browse.stage(store, job, wanted)
    if wanted.level == "stage":
        return documents.stage_card(store, job, stage, now)
    return documents.line_card(store, job, stage, wanted.line.first, now)


def _page(store: Store, wanted: Selector | None, now: float) -> Sheet:
    """Read and draw what is meant."""
    page = sheet()
    if wanted is None or _is_overview(wanted):
        found = _jobs(store, wanted)
        jobs.draw(page, found, production(store, now=now), now)
        if found:
            _next(page, f"d0ctl status {found[0].name}", f"d0ctl why {found[0].name}")
    elif not wanted.is_one:
        _list(page, store, wanted, now)
    elif wanted.level in ("package", "binary"):
        _package(page, store, wanted, now)
    else:
        draw_part(page, store, wanted, now)
    return page


def _package(page: Sheet, store: Store, wanted: Selector, now: float) -> None:
    """Read and draw a package or a binary."""
    from d0ctl.show import binary, package, read

    if wanted.level == "binary":
        one = read.binary(store, browse.package(store, wanted), wanted.binary.first)
        binary.draw(page, one, now, package.SCREEN)
        _next(page, f"d0ctl why {one.path}", f"d0ctl logs {one.path}",
              f"d0ctl status {one.package.path}")  # fmt: skip
        return
    card = read.package(store, browse.package(store, wanted), now)
    package.draw(page, card, now, limits=package.SCREEN)
    path = card.view.path
    _next(page, *[f"d0ctl logs {path}"] * bool(card.attempts), f"d0ctl history {path}")


def draw_part(page: Sheet, store: Store, wanted: Selector, now: float) -> None:
    """Read and draw a job, stage or line; what stops all jobs stands above it."""
    from d0ctl.show import part, read

    card = read.part(store, wanted, now)
    if card.job.ended is None:
        jobs.stop(page, obstacles(production(store, now=now), now))
    part.draw(page, card, now)


def _list(page: Sheet, store: Store, wanted: Selector, now: float) -> None:
    number = choice.choose(store, wanted, now=now, lenient=True)
    rows = choice.chosen(store, MOST_LISTED)
    blocked = {job.name for job in browse.jobs(store, wanted.job) if job.blocked}
    lists.packages(page, rows, now, indent=0,
                   is_blocked=lambda row: row.path.partition("/")[0] in blocked)  # fmt: skip
    if not rows:
        page.say("no packages match")
    if number > len(rows):
        page.add((f"and {count(number - len(rows))} more: --json prints all", "faint"))


def _next(page: Sheet, *commands: str) -> None:
    """Add what to type next."""
    page.add()
    page.add(("    ".join(commands), "faint"))


def _watch(store: Store, wanted: Selector | None) -> None:
    """Draw again after each change of the database; print nothing in between."""
    seen = None
    while True:
        version = store.version()
        if version != seen:
            seen = version
            with store.reading():
                page = _page(store, wanted, time.time())
            if is_terminal(sys.stdout):
                sys.stdout.write("\x1b[H\x1b[2J\x1b[3J")
            print_sheet(page)
            sys.stdout.flush()
        time.sleep(LOOK_S)
