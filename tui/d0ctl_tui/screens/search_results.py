"""The choices of search, palette, filter and jump list, and their effects."""

from collections.abc import Callable, Container, Iterable, Sequence
from functools import partial
from typing import Protocol

from d0ctl import select
from d0ctl.actions import ACTIONS
from d0ctl.errors import BadUsage, D0Error
from d0ctl.model import STATUS_OF, Phase, Status
from d0ctl.show.drawing import signs
from d0ctl.store.connection import Store, open_store
from d0ctl.store.sqlite_errors import database_errors
from d0ctl.store.views import outline, search
from d0ctl.store.views.search import Found
from d0ctl_tui.app_interface import AppInterface
from d0ctl_tui.commands import MAIN, Command
from d0ctl_tui.screens.search_box import Choice

NEED_A_PERSON = (Phase.FAILED, Phase.HELD, Phase.UNREACHABLE)
"""Phases that a package seldom leaves by itself; `n` walks through them."""


class Reach(Protocol):
    """The effects of choices: the main screen, as the boxes over it know it."""

    dashboard: AppInterface

    def run_command(self, command: Command) -> None:
        """Run a command."""

    def go_to(self, selector: str) -> None:
        """Go to a path."""

    def totals(self) -> dict[str, int]:
        """Return how many packages are in each phase."""

    def filter_by(self, name: str, phases: Iterable[str]) -> None:
        """Show only packages in these phases."""

    def select_by(self, wanted: select.Selector) -> None:
        """Show only the packages of a selector."""

    def show_named(self, stage: str, name: str) -> None:
        """Show only the packages of a stage with this name."""

    def show_message(self, word: str) -> None:
        """Show only packages with recent failures whose messages contain a word."""

    def show_reason(self, reason: str) -> None:
        """Show only packages that failed recently for a reason."""


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
            found.append(Choice(action.title, f"d0ctl {name}", look="plain",
                                do=partial(screen.dashboard.plan_other, name)))  # fmt: skip
    return found


def nodes(dashboard: AppInterface, words: str) -> list[Choice]:
    """Return the nodes whose names contain the typed text."""
    return [
        Choice(node.name, node.state)
        for node in dashboard.snapshot.nodes
        if words.lower() in node.name.lower()
    ]


def words(known: Iterable[str], typed: str) -> list[Choice]:
    """Return the words that contain the typed text."""
    return [Choice(word) for word in known if typed.lower() in word]


def actions(screen: Reach, offered: Container[str], words: str) -> list[Choice]:
    """Return the offered actions whose title contains the typed text."""
    return [
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
    counts = screen.totals()
    choices = [
        Choice("needs a person", "failed, held, unreachable",
               signs.short(sum(counts.get(phase, 0) for phase in NEED_A_PERSON)), look="bad",
               do=partial(screen.filter_by, "needs a person", NEED_A_PERSON))
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
                  do=partial(screen.filter_by, name, phases))  # fmt: skip


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
    return [Choice(str(wanted), "show these", kind="filter", do=partial(screen.select_by, wanted))]


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
        "reason": partial(screen.show_reason, one.name),
        "package": partial(screen.show_named, one.job, one.name),
        "message": partial(screen.show_message, one.name),
    }
    return Choice(one.name, one.about, kind=one.kind, do=actions[one.kind])


def _path_of(store: Store, one: Found) -> str | None:
    if one.package is None:
        return None
    rows = outline.packages_by_id(store, [one.package])
    return rows[one.package].path if one.package in rows else None
