"""The choices of search, palette, filter and jump list, and their effects."""

import time
from array import array
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import partial
from typing import Protocol

from d0ctl import select
from d0ctl.actions import ACTIONS
from d0ctl.errors import BadUsage, D0Error
from d0ctl.model import STATUS_OF, Phase, Status
from d0ctl.select import Selector
from d0ctl.show.drawing import signs
from d0ctl.store.connection import Store
from d0ctl.store.opening import open_store
from d0ctl.store.sqlite_errors import database_errors
from d0ctl.store.tasks import views as task_views
from d0ctl.store.tasks.views import TaskSummary
from d0ctl.store.views import activity, outline, search
from d0ctl.store.views.search import Found
from d0ctl.store.views.shapes import JobSummary
from d0ctl_tui.app_interface import AppInterface
from d0ctl_tui.commands import MAIN, Command
from d0ctl_tui.screens.dialogs.search_box import Choice

NEED_A_PERSON = (Phase.FAILED, Phase.HELD, Phase.UNREACHABLE)
"""Phases that a package seldom leaves by itself; `n` walks through them."""


class Reach(Protocol):
    """The effects of choices: the main screen, as the boxes over it know it."""

    dashboard: AppInterface

    def run_command(self, command: Command) -> None:
        """Run a command."""

    def go_to(self, selector: str) -> None:
        """Go to a path."""

    def show_only(
        self, name: str, read: Callable[[Store], "array[int]"], selector: Selector | None = None
    ) -> None:
        """Show only the packages with these ids, all of a selector if there is one."""

    @property
    def selector(self) -> str | None:
        """Return the path of the selected row."""

    @property
    def scope(self) -> JobSummary | None:
        """Return the job that a filter is limited to."""


def palette(screen: Reach, words: str) -> list[Choice]:
    """Return every command whose words contain the typed text."""
    low = words.lower().split()
    found = []
    for command in MAIN:
        text = f"{command.title} {command.verb}".lower()
        if all(word in text for word in low):
            found.append(_command(screen, command))
    here = {command.verb for command in MAIN}
    for name, action in ACTIONS.items():
        if name not in here and all(word in f"{action.title} {name}".lower() for word in low):
            task = _task_here(screen) if action.level == "task" else None
            found.append(Choice(action.title, f"d0ctl {name}", look="plain",
                                do=partial(screen.dashboard.plan_other, name, task)))  # fmt: skip
    return found


def nodes(dashboard: AppInterface, words: str) -> list[Choice]:
    """Return the nodes whose names contain the typed text."""
    return [
        Choice(node.name, node.state)
        for node in dashboard.snapshot.nodes
        if words.lower() in node.name.lower()
    ]


def _task_here(screen: Reach) -> str | None:
    """Return the task that is selected, or above the selected row."""
    name = (screen.selector or "").partition("/")[0]
    return name if screen.dashboard.source.is_task(name) else None


def tasks(dashboard: AppInterface, words: str) -> list[Choice]:
    """Return the tasks whose names contain the typed text."""
    none: list[TaskSummary] = []
    return [
        Choice(task.name, task.status)
        for task in dashboard.source.ask(task_views.tasks, none)
        if words.lower() in task.name.lower()
    ]


def words(known: Iterable[str], typed: str) -> list[Choice]:
    """Return the words that contain the typed text."""
    return [Choice(word) for word in known if typed.lower() in word]


def actions(screen: Reach, offered: Collection[str], words: str) -> list[Choice]:
    """Return the offered actions whose title contains the typed text, those on tasks first."""
    of_task = [ACTIONS[verb] for verb in offered if ACTIONS[verb].level == "task"]
    return [
        Choice(action.title, f"d0ctl {action.name}", look="plain")
        for action in of_task
        if words.lower() in action.title.lower()
    ] + [
        _command(screen, command)
        for command in MAIN
        if command.verb in offered and words.lower() in command.title.lower()
    ]


def _command(screen: Reach, command: Command) -> Choice:
    return Choice(
        command.title, f"d0ctl {command.verb}" if command.verb else "", command.key,
        look="plain", do=partial(screen.run_command, command),
    )  # fmt: skip


def filters(screen: Reach, words: str) -> list[Choice]:
    """Return the states that a filter can show, with how many packages are in each."""
    jobs, source = _jobs(screen), screen.dashboard.source
    counts: dict[str, int] = source.ask(lambda store: outline.totals(store, jobs), {})
    needing: dict[str, int] = source.ask(lambda store: _needing(store, jobs), {})
    choices = [
        Choice("needs a person", "failed and not acknowledged, held, unreachable",
               signs.short(sum(needing.values())), look="bad", do=partial(_show_needing, screen))
    ]  # fmt: skip
    for status in Status:
        phases = [phase for phase in Phase if STATUS_OF[phase] is status]
        choices.append(_filter(screen, str(status), phases, counts))
    choices += [
        _filter(screen, str(phase), [phase], counts)
        for phase in Phase
        if str(phase) not in set(Status)
    ]
    low = words.lower()
    fit = [choice for choice in choices if low in f"{choice.words} {choice.about}".lower()]
    return sorted(fit, key=lambda one: not one.words.startswith(low))


def _filter(screen: Reach, name: str, phases: Sequence[Phase], counts: dict[str, int]) -> Choice:
    number = sum(counts.get(phase, 0) for phase in phases)
    about = ", ".join(phases) if len(phases) > 1 else ""
    look = signs.role(name) if number else "faint"
    return Choice(name, about, signs.short(number), look=look,
                  do=partial(_show_phases, screen, name, phases))  # fmt: skip


def _jobs(screen: Reach) -> list[int]:
    return [screen.scope.id] if screen.scope else list(screen.dashboard.source.jobs)


def _needing(store: Store, jobs: Sequence[int]) -> dict[str, int]:
    """Return how many packages of these jobs need a person, by phase."""
    found: dict[str, int] = {}
    for job, phases in activity.needing_a_person(store).items():
        for phase in NEED_A_PERSON if job in jobs else ():
            found[phase] = found.get(phase, 0) + phases.get(phase, 0)
    return found


def _show_needing(screen: Reach) -> None:
    """Show only packages that need a person, of the jobs in the scope of a filter."""
    read = partial(outline.in_phases, jobs=_jobs(screen), phases=NEED_A_PERSON, acknowledged=False)
    screen.show_only("needs a person", read)


def _show_phases(screen: Reach, name: str, phases: Sequence[Phase]) -> None:
    """Show only packages in these phases, of the jobs in the scope of a filter."""
    jobs, wanted = _jobs(screen), list(phases)
    job = screen.scope.name if screen.scope else "*"
    states = (name,) if name in select.states() else tuple(wanted)
    read = partial(outline.in_phases, jobs=jobs, phases=wanted)
    screen.show_only(name, read, Selector(job, states=states))


def jumps(screen: Reach, words: str) -> list[Choice]:
    """Offer visited rows, the latest first."""
    return [
        Choice(place, do=partial(screen.go_to, place))
        for place in reversed(screen.dashboard.places.been)
        if words.lower() in place.lower()
    ]


def everywhere(screen: Reach, words: str) -> list[Choice]:
    """Return the matches of a path or a word in names, reasons and messages; in a thread."""
    words = words.strip()
    if not words:
        return []
    home = screen.dashboard.home
    try:
        with open_store(home, read_only=True) as store, database_errors(home):
            return [*_path(screen, words), *_found(screen, store, words)]
    except D0Error as error:
        return [Choice(str(error), look="bad", do=lambda: None)]


def _path(screen: Reach, words: str) -> list[Choice]:
    """Return the path itself, if the text is one."""
    if "/" not in words and ":" not in words:
        return []
    try:
        wanted = select.parse(words, with_binary=True)
    except BadUsage:
        return []
    if wanted.level == "binary":
        show = partial(screen.dashboard.show_card, words)
        return [Choice(words, "show it", kind="binary", do=show)]
    if wanted.is_one:
        return [Choice(str(wanted), "go there", kind="path", do=partial(screen.go_to, words))]

    def show_these() -> None:
        read = partial(outline.selected, wanted=wanted, now=time.time())
        screen.show_only(str(wanted), read, wanted)

    return [Choice(str(wanted), "show these", kind="filter", do=show_these)]


def _found(screen: Reach, store: Store, words: str) -> list[Choice]:
    choices = [_choice(screen, one) for one in search.jobs(store, words)]
    choices += [_choice(screen, stage) for stage in search.stages(store, words)]
    choices += [_choice(screen, node) for node in search.nodes(store, words)]
    choices += [_choice(screen, reason) for reason in search.reasons(store, words)]
    choices += [_choice(screen, package) for package in search.packages(store, words)]
    choices += [_choice(screen, message) for message in search.messages(store, words)]
    job, name = select.file_of_job(words) or ("", words)
    files = search.files(store, outline.job_ids(store), name)
    for one in (file for file in files if job in ("", file.job)):
        path = _path_of(store, one)
        about = f"{one.about}  {path or 'from outside'}"
        show = partial(screen.dashboard.show_card, f"{one.job}:{one.name}")
        choices.append(Choice(one.name, about, kind="file", do=show))
    return choices


def _choice(screen: Reach, one: Found) -> Choice:
    actions: dict[str, Callable[[], object]] = {
        "job": partial(screen.go_to, one.name),
        "stage": partial(screen.go_to, one.name),
        "node": partial(screen.dashboard.show_nodes, one.name),
    }
    show = partial(screen.show_only, one.name, partial(_packages, one=one))
    return Choice(one.name, one.about, kind=one.kind, do=actions.get(one.kind, show))


def _packages(store: Store, one: Found) -> "array[int]":
    """Return the packages that failed for a reason, or with a word, or have a name in a stage."""
    match one.kind:
        case "reason":
            return array("q", search.failed_for(store, one.name))
        case "message":
            return array("q", search.failed_saying(store, one.name))
    job, _, number = one.job.rpartition("/")
    return array("q", search.named(store, job, int(number), one.name))


def _path_of(store: Store, one: Found) -> str | None:
    if one.package is None:
        return None
    rows = outline.packages_by_id(store, [one.package])
    return rows[one.package].path if one.package in rows else None
