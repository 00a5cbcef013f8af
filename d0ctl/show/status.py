"""The output of `status` about jobs, one part, or a list of packages.

Modules that only some of these need are imported late: imports take most of the time of a call.
"""

from collections.abc import Sequence

from d0ctl.schedule.horizon import NO_HORIZON, Horizon
from d0ctl.select import Selector
from d0ctl.show import lists
from d0ctl.show.cards import jobs
from d0ctl.show.drawing.archived import is_possible
from d0ctl.show.drawing.sheet import Sheet
from d0ctl.show.why.production import Obstacle, obstacles
from d0ctl.store.connection import Store
from d0ctl.store.nodes import site
from d0ctl.store.nodes.standstill import production
from d0ctl.store.views import browse, selection
from d0ctl.store.views.job_files import eta
from d0ctl.store.views.selection import located
from d0ctl.store.views.shapes import JobSummary
from d0ctl.units import count

MOST_LISTED = 200
"""How many packages a list on the screen holds."""


def is_overview(wanted: Selector | None) -> bool:
    """Return whether the selection is a list of jobs."""
    return wanted is None or bool(
        wanted.depth == 1 and wanted.wildcard_level and not wanted.is_filtered
    )


def jobs_of(store: Store, wanted: Selector | None) -> list[JobSummary]:
    """Return the selected jobs. Raises NotFound."""
    pattern = wanted.job if wanted else "*"
    jobs = browse.jobs(store, pattern)
    if not jobs and pattern != "*":
        raise browse.no_such_job(store, pattern)
    return jobs


def draw(page: Sheet, store: Store, wanted: Selector | None, now: float) -> None:
    """Read and draw the selection."""
    wanted = wanted and located(store, wanted)
    if wanted is None or is_overview(wanted):
        shown_jobs = jobs_of(store, wanted)
        all_jobs = production(store, now=now)
        troubled = all_jobs.failures or {job.name for job in all_jobs.stopped}
        troubled = {*troubled, *all_jobs.blocked, *(task.name for task in all_jobs.tasks)}
        horizon = _horizon(store, shown_jobs, now)
        tasks = site.ended_tasks(store, [job.id for job in shown_jobs])
        jobs.draw(page, shown_jobs, all_jobs, now, horizon, tasks)
        if shown_jobs:
            order = [job for job in shown_jobs if job.is_held_by_d0ctl and job.ended is None]
            order += sorted((job for job in shown_jobs if job.name in troubled),
                            key=lambda job: bool(job.hold or job.pause))  # fmt: skip
            order += [job for job in shown_jobs if horizon.stragglers(job.id)]
            first = [*order, shown_jobs[0]][0].name
            _next(page, f"d0ctl status {first}", f"d0ctl why {first}")
    elif not wanted.is_one:
        _list(page, store, wanted, now)
    elif wanted.level in ("package", "binary"):
        _package(page, store, wanted, now)
    else:
        draw_part(page, store, wanted, now)


def _horizon(store: Store, jobs: Sequence[JobSummary], now: float) -> Horizon:
    """Return what is left of all jobs, if one of these has not ended."""
    if all(job.ended is not None for job in jobs):
        return NO_HORIZON
    return eta.horizon(store, now=now)


def _package(page: Sheet, store: Store, wanted: Selector, now: float) -> None:
    """Read and draw a package or a binary."""
    from d0ctl.show import card_contents
    from d0ctl.show.cards import binary, package
    from d0ctl.show.cards.file_lists import SCREEN
    from d0ctl.show.why.common import log_commands

    if wanted.level == "binary":
        view = browse.package(store, wanted)
        binary_card = card_contents.binary(store, view, wanted.binary.first, now)
        binary.draw(page, binary_card, now, SCREEN)
        logs = log_commands(store, binary_card.path, binary_card.tries)
        _next(page, f"d0ctl why {binary_card.path}", *logs, f"d0ctl status {view.path}")
        return
    card = card_contents.package(store, browse.package(store, wanted), now)
    package.draw(page, card, now, limits=SCREEN)
    path = card.view.path
    _next(page, *log_commands(store, path, card.attempts), f"d0ctl history {path}")


def draw_part(
    page: Sheet,
    store: Store,
    wanted: Selector,
    now: float,
    *,
    driven: bool | None = None,
    at_end: bool = False,
) -> None:
    """Read and draw a job, stage or line, below anything that stops all jobs.

    If this process drives the job itself, the page says so; `at_end` it says the reason last.
    """
    from d0ctl.show import card_contents
    from d0ctl.show.cards import part

    card = card_contents.part(store, wanted, now, driven=driven)
    stops: list[Obstacle] = []
    if card.job.ended is None:
        stops = obstacles(production(store, now=now, driven=driven), now)
    jobs.stop(page, stops)
    above = [text for stop in stops for text in (stop.text, *stop.commands)]
    part.draw(page, card, now, above, at_end=at_end)


def _list(page: Sheet, store: Store, wanted: Selector, now: float) -> None:
    selected = selection.choose(store, wanted, now=now, lenient=True)
    number, rows = selected.count(), selection.packages(selected, MOST_LISTED)
    blocked: dict[str, str] = {}
    if blocked_jobs := [job for job in browse.jobs(store, wanted.job) if job.blocked]:
        from d0ctl.show.why.phases import leftovers  # late: few jobs are blocked

        blocked = {job.name: leftovers.no_input(store, job.id) for job in blocked_jobs}
    lists.packages(page, rows, now, indent=0,
                   no_input=lambda row: blocked.get(row.path.partition("/")[0], ""),
                   late=eta.straggler_ids(store, None, now=now))  # fmt: skip
    if not rows:
        page.say("no packages match")
    if number > len(rows):
        page.add((f"and {count(number - len(rows))} more: --json prints all", "faint"))


def _next(page: Sheet, *commands: str) -> None:
    """Add what to type next."""
    page.add()
    possible = [command for command in commands if is_possible(command, page.archive)]
    page.add(("    ".join(possible), "faint"))
