"""The choices of search, palette, filter and jump list, and their effects."""

from collections.abc import Callable, Collection, Iterable, Mapping
from functools import partial
from typing import Protocol

from msgspec.structs import replace

from d0ctl.actions import ACTIONS
from d0ctl.errors import D0Error
from d0ctl.show.not_here import ELSEWHERE, NOT_HERE
from d0ctl.store.tasks import views as task_views
from d0ctl.store.tasks.views import TaskSummary
from d0ctl_tui.app_interface import AppInterface
from d0ctl_tui.commands import MAIN, Command
from d0ctl_tui.read import saved_views
from d0ctl_tui.read.package_filter import PackageFilter
from d0ctl_tui.read.saved_views import SavedView
from d0ctl_tui.screens.dialogs.search_box import Choice

COMMAND = "d0ctl "
"""The begin of the command that a choice stands for."""


class Runner(Protocol):
    """A screen that runs commands, as the boxes over it know it."""

    dashboard: AppInterface

    def run_command(self, command: Command) -> None:
        """Run a command."""


class ScreenOver(Runner, Protocol):
    """A screen over the main one."""

    def leave_for(self, do: Callable[[], object]) -> None:
        """Close it, and do something on the main screen."""


class Reach(Runner, Protocol):
    """The effects of choices: the main screen, as the boxes over it know it."""

    def go_to(self, selector: str) -> None:
        """Go to a path."""

    def show_only(self, wanted: PackageFilter) -> None:
        """Show only these packages, as a list."""

    @property
    def selector(self) -> str | None:
        """Return the path of the selected row."""

    def show_view(self, view: SavedView) -> None:
        """Show the jobs and packages of a view."""


def best_first(choices: Iterable[Choice], typed: str) -> list[Choice]:
    """Return choices whose words are the typed text, begin with it, or contain it, before others.

    The command of a choice counts like its words; otherwise the order stays.
    """
    low = " ".join(typed.lower().split())

    def rank(choice: Choice) -> int:
        texts = [choice.label.lower().removeprefix(COMMAND)]
        if choice.about.startswith(COMMAND):
            texts.append(choice.about.removeprefix(COMMAND))
        if low in texts:
            return 0
        return 1 if any(text.startswith(low) for text in texts) else 2 + (low not in texts[0])

    return sorted(choices, key=rank) if low else [*choices]


def palette(screen: Reach, typed: str) -> list[Choice]:
    """Return every command whose words contain the typed text; first the verb of that name.

    A word of another program that none contains stands for the command that does the same.
    """
    found = _palette(screen, typed)
    ours = ELSEWHERE.get(typed.strip().lower())
    return found if found or ours is None else _palette(screen, ours)


def _palette(screen: Reach, typed: str) -> list[Choice]:
    low = typed.lower().split()
    found = of_commands(screen, MAIN, typed)
    here = {command.verb for command in MAIN}
    for name, action in ACTIONS.items():
        if name not in here and all(word in f"{action.title} {name}".lower() for word in low):
            task = _task_here(screen) if action.level == "task" else None
            found.append(Choice(action.title, f"d0ctl {name}", role="plain",
                                do=partial(screen.dashboard.plan_other, name, task)))  # fmt: skip
    return best_first([*found, *_views(screen, low), *_other_verbs(screen, low)], typed)


def palette_over(
    screen: ScreenOver, commands: Iterable[Command], main: Reach, typed: str
) -> list[Choice]:
    """Return the commands of a screen over the main one, then those that only the main one has."""
    found = of_commands(screen, commands, typed)
    known = {choice.about or choice.label for choice in of_commands(screen, commands, "")}
    return found + [
        replace(choice, do=partial(screen.leave_for, choice.do))
        for choice in palette(main, typed)
        if choice.do is not None and (choice.about or choice.label) not in known
    ]


def of_commands(screen: Runner, commands: Iterable[Command], typed: str) -> list[Choice]:
    """Return the commands whose words contain the typed ones."""
    low = typed.lower().split()
    return [
        _command(screen, command)
        for command in commands
        if all(word in f"{command.title} {command.verb}".lower() for word in low)
    ]


def _other_verbs(screen: Reach, low: Iterable[str]) -> list[Choice]:
    """Return the verbs that are no actions: the key that shows the same, or why there is none."""
    found = []
    for verb, action in SEEN.items():
        command = next(command for command in MAIN if command.action == action)
        if all(word in f"{verb} {command.title}".lower() for word in low):
            found.append(Choice(command.title, f"d0ctl {verb}", _key(screen, command), role="plain",
                                do=partial(screen.run_command, command)))  # fmt: skip
    for verb, why in NOT_HERE.items():
        if all(word in verb for word in low):
            command_line = f"d0ctl {verb}"
            found.append(Choice(command_line, f"not here, enter copies it: {why}", role="faint",
                                do=partial(screen.dashboard.copy, command_line)))  # fmt: skip
    return found


def _views(screen: Reach, low: Iterable[str]) -> list[Choice]:
    """Return the saved views whose names contain the typed words."""
    try:
        known = saved_views.load()
    except D0Error:
        return []
    return [
        Choice(f"view {name}", view.summary, role="plain", do=partial(screen.show_view, view))
        for name, view in known.items()
        if all(word in f"view {name}".lower() for word in low)
    ]


def nodes(dashboard: AppInterface, typed: str) -> list[Choice]:
    """Return the nodes whose names contain the typed text."""
    found = (
        Choice(node.name, node.state)
        for node in dashboard.snapshot.nodes
        if typed.lower() in node.name.lower()
    )
    return best_first(found, typed)


def _task_here(screen: Reach) -> str | None:
    """Return the task that is selected, or above the selected row."""
    name = (screen.selector or "").partition("/")[0]
    return name if screen.dashboard.source.is_task(name) else None


def tasks(dashboard: AppInterface, typed: str) -> list[Choice]:
    """Return the tasks whose names contain the typed text."""
    none: list[TaskSummary] = []
    found = (
        Choice(task.name, task.status)
        for task in dashboard.source.ask(task_views.tasks, none)
        if typed.lower() in task.name.lower()
    )
    return best_first(found, typed)


def known_words(known: Iterable[str], typed: str) -> list[Choice]:
    """Return the words that contain the typed text."""
    return best_first((Choice(word) for word in known if typed.lower() in word), typed)


def actions(screen: Reach, offered: Collection[str], typed: str) -> list[Choice]:
    """Return the offered actions whose title contains the typed text, those on tasks first.

    Those on rows that are not offered are named at the end.
    """
    found = best_first(_actions(screen, offered, typed), typed) + _impossible(offered, typed)
    ours = ELSEWHERE.get(typed.strip().lower())
    return found if found or ours is None else actions(screen, offered, ours)


def _actions(screen: Reach, offered: Collection[str], typed: str) -> list[Choice]:
    of_task = [ACTIONS[verb] for verb in offered if ACTIONS[verb].level == "task"]
    return [
        Choice(action.title, f"d0ctl {action.name}", role="plain")
        for action in of_task
        if typed.lower() in action.title.lower()
    ] + [
        _command(screen, command)
        for command in MAIN
        if command.verb in offered and typed.lower() in command.title.lower()
    ]


def _impossible(offered: Collection[str], typed: str) -> list[Choice]:
    """Name the verbs on rows that are not offered; those on tasks take the places of others."""
    names = [command.verb for command in MAIN if command.verb
             and command.verb not in offered and f"task {command.verb}" not in offered
             and typed.lower() in command.title.lower()]  # fmt: skip
    return [Choice(f"not possible here now: {', '.join(names)}", role="faint")] if names else []


def _key(screen: Runner, command: Command) -> str:
    return screen.dashboard.with_keys([command])[0].key


def _command(screen: Runner, command: Command) -> Choice:
    return Choice(
        command.title, f"d0ctl {command.verb}" if command.verb else "", _key(screen, command),
        role="plain", do=partial(screen.run_command, command),
    )  # fmt: skip


def jumps(screen: Reach, typed: str) -> list[Choice]:
    """Offer visited rows, the latest first."""
    found = (
        Choice(path, do=partial(screen.go_to, path))
        for path in reversed(screen.dashboard.places.been)
        if typed.lower() in path.lower()
    )
    return best_first(found, typed)


SEEN: Mapping[str, str] = {
    "status": "fold_all", "why": "view", "eta": "view", "history": "logbook",
    "task history": "tasks", "report timeline": "timeline", "results": "peek",
    "logs": "log", "peek": "peek", "report failures": "failures", "node list": "nodes",
    "task list": "tasks", "task status": "tasks", "task why": "tasks", "top": "nodes",
    "tui": "app.help",
}  # fmt: skip
"""Verbs that only look, and the action of the key that shows the same."""
