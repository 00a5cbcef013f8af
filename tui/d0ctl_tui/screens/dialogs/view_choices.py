"""The choices of filters, orders and saved views, and their effects."""

import re
from functools import partial
from typing import Protocol

from msgspec.structs import replace

from d0ctl.errors import D0Error
from d0ctl.model import Phase, Status, phase_word
from d0ctl.show.drawing import signs
from d0ctl.store.views import outline
from d0ctl.store.views.finding import job_list, package_order
from d0ctl.store.views.finding.job_list import JobList
from d0ctl.store.views.shapes import JobSummary
from d0ctl_tui.app_interface import AppInterface
from d0ctl_tui.read import saved_views
from d0ctl_tui.read.package_filter import PackageFilter
from d0ctl_tui.read.saved_views import SavedView
from d0ctl_tui.screens.dialogs import order_choices
from d0ctl_tui.screens.dialogs.order_choices import Sorting
from d0ctl_tui.screens.dialogs.search_box import Choice
from d0ctl_tui.screens.dialogs.search_results import best_first

ALL_JOBS = "of all jobs"
"""The choice that offers the filters of all listed jobs."""

ALIASES = {
    "needs a person": "problems trouble attention errors",
    "successful": "done finished ended completed", "canceled": "killed cancelled removed",
    "failed": "errors broken", "running": "now live", "waiting": "pending queued blocked",
    "my jobs": "mine own", "jobs of all people": "everybody others",
    "active jobs": "unfinished current", "all jobs": "hidden everything",
    "ended jobs, too": "hidden finished done", "jobs that ended long ago, too": "hidden old",
    "hide jobs": "hidden old today yesterday week month",
}  # fmt: skip
"""Other words that find a choice, by the begin of its label."""

SPANS = {"today": 1.0, "yesterday": 2.0, "week": 7.0, "month": 30.0}
"""Words for a number of days."""

DAYS = 7.0
"""Jobs that ended so many days ago are hidden, unless another number is typed."""


class Shown(Protocol):
    """What the main screen shows, as the boxes over it know it."""

    dashboard: AppInterface
    view: SavedView

    @property
    def scope(self) -> JobSummary | None:
        """Return the job that a filter is limited to."""

    @property
    def around(self) -> PackageFilter | None:
        """Return the packages around the selected row, as a filter."""

    @property
    def number_around(self) -> int:
        """Return how many packages these are."""

    def show_only(self, wanted: PackageFilter) -> None:
        """Show only these packages, as a list."""

    def filter_all_jobs(self) -> None:
        """Show only packages in some state, of all listed jobs."""

    def list_jobs(self, wanted: JobList) -> None:
        """List these jobs."""

    def show_view(self, view: SavedView) -> None:
        """Show the jobs and packages of a view."""


def filters(screen: Shown, typed: str) -> list[Choice]:
    """Return the states that a filter can show, with the number of packages, and jobs to list."""
    return _filters(screen, typed, screen.scope)


def filters_of_all(screen: Shown, typed: str) -> list[Choice]:
    """Return the same for all listed jobs, wherever the cursor is."""
    return _filters(screen, typed, None)


def _filters(screen: Shown, typed: str, scope: JobSummary | None) -> list[Choice]:
    source = screen.dashboard.source
    jobs = [scope.id] if scope else list(source.jobs)
    counts: dict[str, int] = source.ask(lambda store: outline.totals(store, jobs), {})
    snapshot = screen.dashboard.snapshot
    needing = [snapshot.needing[job].get(phase, 0) for job in jobs
               for phase in snapshot.needing_phases.get(job, ())]  # fmt: skip
    late = len(source.stragglers.ids(jobs))
    number = sum(needing) + late
    if source.error is not None:
        return [Choice(f"the numbers can't be read: {source.error}", role="bad")]
    about = "unacknowledged failures, held, unreachable, stuck, stragglers"
    job = scope.name if scope else ""
    choices = [Choice("needs a person", about, signs.short(number), role="bad",
                      do=partial(screen.show_only, PackageFilter("person", job=job)))]  # fmt: skip
    if late or typed:
        choices.append(Choice("stragglers", "run much longer than expected", signs.short(late),
                              role=signs.role(signs.STRAGGLER) if late else "faint",
                              do=partial(screen.show_only,
                                         PackageFilter("straggler", job=job))))  # fmt: skip
    states = dict.fromkeys([*map(str, Status), *map(phase_word, Phase)])
    choices += [_state(screen, PackageFilter("state", state, job), counts) for state in states]
    others = _job_filters(screen, typed.strip().lower())
    if scope and len(source.jobs) > 1:
        others.insert(0, Choice(ALL_JOBS, "instead of one", do=screen.filter_all_jobs))
    return _by_fit(choices, others, typed.strip().lower())


def _by_fit(states: list[Choice], jobs: list[Choice], low: str) -> list[Choice]:
    """Return the choices that fit a typed text: by their words, else by others, else by letters."""
    if not low:
        return [*states[:1], *jobs, *states[1:]]
    offered = [*states, *jobs]
    named = [choice for choice in offered if low in _text_of(choice)]
    if named:
        return best_first(named, low)
    meant = [choice for choice in offered for label, aliases in ALIASES.items()
             if choice.label.startswith(label) and f" {low}" in f" {aliases}"]  # fmt: skip
    if meant:
        return meant
    letters = re.compile(".*".join(map(re.escape, low.replace(" ", ""))))
    spelled = [choice for choice in offered if letters.search(_text_of(choice))]
    return sorted(spelled, key=lambda choice: letters.search(choice.label) is None)


def _days(low: str) -> float:
    """Return how many days a word means."""
    return next((days for word, days in SPANS.items() if low[:3] == word[:3]), DAYS)


def _text_of(choice: Choice) -> str:
    return f"{choice.kind} {choice.label} {choice.about}".lower()


def _state(screen: Shown, view: PackageFilter, counts: dict[str, int]) -> Choice:
    number = sum(counts.get(phase, 0) for phase in view.phases)
    about = ", ".join(view.phases) if len(view.phases) > 1 else ""
    role = signs.role(view.text) if number else "faint"
    return Choice(view.text, about, signs.short(number), role=role,
                  do=partial(screen.show_only, view))  # fmt: skip


def _job_filters(screen: Shown, low: str) -> list[Choice]:
    """Return which jobs can be listed; what applies already can be taken back."""
    now, actor = screen.view.jobs, screen.dashboard.actor
    days = float(low) if low.replace(".", "", 1).isdecimal() else _days(low)
    offered = [
        ("jobs of all people", replace(now, person="")) if now.person
        else ("my jobs", replace(now, person=actor)),
        ("ended jobs, too", replace(now, active=False)) if now.active
        else ("active jobs", replace(now, active=True)),
    ]  # fmt: skip
    if now.days is not None:
        offered.append(("jobs that ended long ago, too", replace(now, days=None)))
    if now.days != days:
        age = f"{days:g} {'day' if days == 1 else 'days'}"
        offered.append((f"hide jobs that ended {age} ago", replace(now, days=days)))
    if now.hides:
        offered.append(("all jobs", now.showing_all))
    return [
        Choice(label, kind="jobs", do=partial(screen.list_jobs, wanted))
        for label, wanted in offered
    ]


def orders(screen: Shown, typed: str) -> list[Choice]:
    """Return what packages around the selected row, and jobs, can be sorted by."""
    jobs = screen.view.jobs
    known = {order: largest for order, (_, largest) in job_list.ORDERS.items()}
    found = order_choices.choices(
        Sorting(known, jobs.order, jobs.reverse), typed, partial(_sort_jobs, screen), "jobs"
    )
    around = screen.around
    if around is None:
        return found
    packages = order_choices.choices(
        Sorting(package_order.ORDERS, around.order, around.reverse),
        typed, partial(_sort_packages, screen, around), "packages",
    )  # fmt: skip
    if screen.view.packages is not None:
        return packages
    at_job = "/" not in around.text
    return [*found, *packages] if at_job else [*packages, *found]


def _sort_jobs(screen: Shown, order: str, reverse: bool) -> None:
    if order != "age" and len(screen.dashboard.source.jobs) > job_list.MOST_SORTED:
        screen.dashboard.show_notice(
            f"more than {job_list.MOST_SORTED:,} jobs are listed by age only: "
            f"hide some by `{screen.dashboard.key_of('filter')}`"
        )
        return
    screen.list_jobs(replace(screen.view.jobs, order=order, reverse=reverse))


def _sort_packages(screen: Shown, around: PackageFilter, order: str, reverse: bool) -> None:
    wanted = replace(around, order=order, reverse=reverse)
    if wanted.is_sorted and screen.number_around > package_order.MOST_SORTED:
        screen.dashboard.show_notice(
            f"more than {package_order.MOST_SORTED:,} packages are listed by path only: "
            f"choose a stage or a line, or a state by `{screen.dashboard.key_of('filter')}`"
        )
        return
    screen.show_only(wanted)


def views(screen: Shown, typed: str) -> list[Choice]:
    """Return the saved views, and what can be saved under the typed name, or deleted if typed."""
    try:
        known = saved_views.load()
    except D0Error as error:
        return [Choice(str(error), role="bad")]
    name = typed.strip()
    shown = [
        Choice(known_name, view.summary, kind="show", do=partial(screen.show_view, view))
        for known_name, view in known.items()
        if _fits(name, "show", known_name)
    ]
    deleted = [
        Choice(known_name, view.summary, kind="delete", do=partial(_delete, screen, known_name))
        for known_name, view in known.items()
        if name.lower().startswith("delete") and _fits(name, "delete", known_name)
    ]
    if not name:
        return shown
    about = f"{screen.view.summary}{', in place of the old one' if name in known else ''}"
    saved = Choice(name, about, kind="save", do=partial(_save, screen, name))
    if shown:
        return [*best_first(shown, name), saved, *deleted]
    return [*deleted, saved]


def _fits(typed: str, verb: str, name: str) -> bool:
    """Return whether the name contains what is typed, or verb and name begin with it."""
    low = typed.lower()
    return low in name.lower() or f"{verb} {name.lower()}".startswith(" ".join(low.split()))


def _save(screen: Shown, name: str) -> None:
    key = screen.dashboard.key_of("views")
    _keep(screen, name, screen.view, f"saved as `{name}`: `{key}` shows it again")


def _delete(screen: Shown, name: str) -> None:
    _keep(screen, name, None, f"deleted `{name}`")


def _keep(screen: Shown, name: str, view: SavedView | None, notice: str) -> None:
    if screen.dashboard.read_only:
        screen.dashboard.show_notice("this dashboard is read-only and writes no files")
        return
    try:
        saved_views.save(name, view)
    except D0Error as error:
        screen.dashboard.show_notice(str(error))
    else:
        screen.dashboard.show_notice(notice, "good")
