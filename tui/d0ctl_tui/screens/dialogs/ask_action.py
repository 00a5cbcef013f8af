"""From a key or a line of the palette to the dialog of an action: ask for missing values."""

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import MISSING
from functools import partial
from typing import Any

from d0ctl.actions import ACTIONS
from d0ctl.actions.action import Target
from d0ctl.actions.option import Option, fields_of
from d0ctl.errors import D0Error, NotFound, Refused
from d0ctl.select import Selector
from d0ctl.store.connection import Store
from d0ctl.store.jobs import audit
from d0ctl.store.jobs.audit import AuditEntry
from d0ctl.store.views.shapes import JobSummary, LineSummary, StageSummary
from d0ctl_tui.app_interface import AppInterface
from d0ctl_tui.read.marks import Marks
from d0ctl_tui.run_action import (
    QUESTIONS,
    PlannedAction,
    first_way,
    level,
    misfit,
    target,
    together,
)
from d0ctl_tui.screens.dialogs import search_results, undoing
from d0ctl_tui.screens.dialogs.refused_action import RefusedAction
from d0ctl_tui.screens.dialogs.search_box import Choice, Find, Finder, QuestionBox
from d0ctl_tui.screens.offered_actions import MOST_TRIED, applicable, applicable_to_task

Go = Callable[[str | None], None]
"""The function that gets an answer; None if there was none."""


def choose(dashboard: AppInterface, screen: search_results.Reach, marks: Marks) -> None:
    """Offer the actions on marked or selected rows."""
    if not marks:
        dashboard.show_notice("nothing is selected")
        return

    task = marks.only if dashboard.source.is_task(marks.only) else None
    several = [] if len(marks) < 2 else dashboard.source.tasks_among(marks.names)

    def take(choice: Choice | None) -> None:
        if choice is None or not choice.about:
            return
        verb = choice.about.removeprefix("d0ctl ")
        if several:
            on_tasks(dashboard, verb, several, marks)
        elif ACTIONS[verb].level == "task":
            on_other(dashboard, verb, task, marks)
        else:
            on_rows(dashboard, verb, marks, possible.get(verb))

    subject = marks.only or f"{len(marks):,} selected"
    possible: Mapping[str, Target] = {}
    offered = [] if task is None else applicable_to_task(dashboard.home, task)
    if several:
        offered = [of_task(verb) for verb in ACTIONS if of_task(verb)]
    else:
        possible = applicable(dashboard.home, marks, _packages(dashboard, marks))
        offered += [verb for verb in possible if task is None or not of_task(verb)]
    find = partial(search_results.actions, screen, offered)
    dashboard.app.push_screen(Finder(dashboard, f"act on {subject}", find), take)


def _packages(dashboard: AppInterface, marks: Marks) -> int:
    """Return how many packages are below the marked rows; of many rows, how many are marked."""
    if len(marks) > MOST_TRIED:
        return len(marks)
    rows = (dashboard.source.row(dashboard.places.resolve(path)) for path in marks.names)
    groups = (JobSummary, StageSummary, LineSummary)
    return sum(sum(row.counts.values()) if isinstance(row, groups) else 1 for row in rows)


def on_rows(
    dashboard: AppInterface, verb: str, marks: Marks, instead: Target | None = None
) -> None:
    """Show what an action would do to marked rows, or to some packages of them; to tasks, if these
    are rows of tasks.
    """
    if own := of_task(verb):
        if dashboard.source.is_task(marks.only):
            on_other(dashboard, own, marks.only, marks)
            return
        if len(marks) > 1 and (several := dashboard.source.tasks_among(marks.names)):
            on_tasks(dashboard, own, several, marks)
            return
    wanted = marks.selection(level(verb))
    if wanted is None:
        dashboard.show_notice("nothing is selected")
    elif too_high := misfit(verb, marks, wanted):
        dashboard.show_notice(too_high)
    else:
        _with_argument(dashboard, verb, instead or wanted, marks)


def on_tasks(dashboard: AppInterface, verb: str, names: Sequence[str], marks: Marks) -> None:
    """Show what an action would do to several tasks, if no other rows are marked."""
    planned = [first_way(verb, target(verb, name)) for name in names]
    if len(names) < len(marks):
        why = "tasks and other rows are marked: mark only one kind"
        dashboard.plan(RefusedAction(planned[0].request, why))
    else:
        dashboard.plan(together(planned), marks)


def of_task(verb: str) -> str:
    """Return the action on tasks that takes the place of one on jobs; empty if none does."""
    return f"task {verb}" if f"task {verb}" in ACTIONS else ""


def undo_last(dashboard: AppInterface) -> None:
    """Show what would undo the action of the box that was just closed for that, else the last
    action of this person, also if that takes several commands.
    """
    of_box, dashboard.undo_of_box = dashboard.undo_of_box, ()
    if dashboard.is_past():
        return
    if of_box:
        _plan_undo(dashboard, of_box)
        return
    actor = dashboard.actor
    none: list[AuditEntry] = []
    entries = dashboard.source.ask(lambda store: audit.latest_of(store, actor), none)
    commands = [entry.undo for entry in entries if entry.undo is not None]
    if not entries:
        dashboard.show_notice(f"{actor} has done nothing yet that could be undone")
    elif not commands:
        dashboard.show_notice(f"no command undoes your last action, `{entries[-1].verb}`: "
                              "history shows what it changed")  # fmt: skip
    else:
        _plan_undo(dashboard, commands)


def _plan_undo(dashboard: AppInterface, commands: Sequence[str]) -> None:
    """Show what the commands that undo an action would do; copy them if they are not one action."""
    try:
        undone = [PlannedAction(undoing.request_of(command)) for command in _each(commands)]
    except D0Error:
        dashboard.copy("; ".join(commands))
        dashboard.show_notice("not undone yet: the commands that do it are copied")
    else:
        dashboard.plan(undone[0] if len(undone) == 1 else together(undone))


def _each(commands: Sequence[str]) -> list[str]:
    """Return the commands one by one, if all are of the same verb; else as they are."""
    found = [part for command in commands for part in command.split(" && ")]
    verbs = {part.split()[1] for part in found if " " in part}
    return found if len(verbs) == 1 else [*commands]


def on_other(
    dashboard: AppInterface, verb: str, name: str | None, marks: Marks | None = None
) -> None:
    """Show what an action would do to a node, task, files or a job file; ask which one."""

    def go(written: str | None) -> None:
        if not written:
            return
        try:
            _with_argument(dashboard, verb, target(verb, written.strip()), marks)
        except D0Error as error:
            dashboard.show_notice(str(error))

    asked = ACTIONS[verb].level
    known = {"node": search_results.nodes, "task": search_results.tasks}.get(asked)
    if known is None:

        def check(written: str) -> None:
            if written.strip():
                target(verb, written.strip())

        title = f"{verb}: {QUESTIONS[asked]}"
        dashboard.app.push_screen(QuestionBox(dashboard, title, check=check), go)
    elif name is not None:
        go(name)
    else:
        _choose(dashboard, f"{verb}: which {asked}", partial(known, dashboard), go)


def _with_argument(dashboard: AppInterface, verb: str, wanted: Target, marks: Marks | None) -> None:
    """Ask for the argument of an action if it has one, and show what it would do."""
    fields = fields_of(ACTIONS[verb].options)
    argument = next((each for each in fields if each.option.is_argument), None)
    if argument is None:
        dashboard.plan(first_way(verb, wanted), marks)
        return
    name, option, default = argument

    def read(written: str) -> dict[str, Any]:
        arguments = written.split()
        if not arguments and default is not MISSING:
            return {}
        text = arguments if option.kind == "arguments" else written.strip()
        return {name: option.type.read(text)}

    def go(written: str | None) -> None:
        if written is not None:
            dashboard.plan(first_way(verb, wanted, **read(written)), marks)

    present = _present(dashboard, option, wanted, marks)
    title = f"{verb} {wanted.brief}: {present}{option.help.rstrip('.')}"
    if option.choices:
        _choose(dashboard, title, partial(search_results.known_words, option.choices), go)
    else:
        box = QuestionBox(dashboard, title.replace("[", "\\["), check=read)
        dashboard.app.push_screen(box, go)


def _present(dashboard: AppInterface, option: Option, wanted: Target, marks: Marks | None) -> str:
    """Return what a value is now; empty if that is not known, or for too many parts of jobs."""
    read = option.present
    is_quick = isinstance(wanted, Selector) and wanted.names_jobs
    if read is None or not (is_quick or (marks and _packages(dashboard, marks) <= MOST_TRIED)):
        return ""

    def find(store: Store) -> str:
        with suppress(NotFound, Refused):  # the dialog says so
            return read(store, wanted, time.time())
        return ""

    found = dashboard.source.ask(find, "")
    return f"{found}; " if found else ""


def _choose(dashboard: AppInterface, title: str, find: Find, go: Go) -> None:
    dashboard.app.push_screen(
        Finder(dashboard, title, find), lambda choice: go(choice.label if choice else None)
    )
