"""Actions of the dashboard: those of the command line."""

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from msgspec import Struct

from d0ctl import actions
from d0ctl.actions import ACTIONS, undo
from d0ctl.actions.action import AnyRequest, NeedsOption, NodeName, Plan, Target, Way, node_target
from d0ctl.actions.jobs.submit import SubmitPlan
from d0ctl.actions.option import are_values, hint, read_words, supplied
from d0ctl.config import Home
from d0ctl.errors import BadUsage, D0Error, NotFound, Refused
from d0ctl.select import Selector
from d0ctl.show.cards import job_files
from d0ctl.store.connection import Store
from d0ctl.store.jobs import audit
from d0ctl.store.opening import open_store, writer
from d0ctl.store.sqlite_errors import database_errors
from d0ctl.units import clean, count
from d0ctl_tui.read.marks import Marks
from d0ctl_tui.read.recommended_values import recommended_values

Lines = Sequence[tuple[str, str]]
"""Lines with the role of each."""


class Preview(Struct, frozen=True):
    """What an action would do, in words, and whether that is nothing."""

    lines: Lines
    is_empty: bool = False


class Done(Struct, frozen=True):
    """What an action has done, in words, the commands that undo it, and the name of a new job."""

    lines: Lines
    undo: Sequence[str] = ()
    job: str = ""


class PlannedAction(Struct, frozen=True):
    """An action with its target and options, as the dialog shows it."""

    request: AnyRequest[Any, Any]

    @property
    def title(self) -> str:
        """The action and its target."""
        return f"{self.request.name} {self.request.target.brief}"

    @property
    def destroys(self) -> bool:
        """Whether something may be lost by it."""
        return self.request.action.destroys

    @property
    def hint(self) -> str:
        """Examples of its optional values; empty if it takes none."""
        return hint(self.request.options)

    @property
    def lacks_values(self) -> bool:
        """Whether it changes nothing without one of these values, and has none yet."""
        return self.request.action.needs_values and not any(supplied(self.request.options))

    @property
    def next_way(self) -> Way | None:
        """The way after the present one; None if there is just one."""
        ways, now = _ways(self.request), self.request.way
        return ways[(ways.index(now) + 1) % len(ways)] if now in ways else None

    def way_out(self, home: Home) -> Way | None:
        """Return its next way, if that is not refused as the present one is."""
        with suppress(D0Error):
            self.switched().preview(home)
            return self.next_way
        return None

    def switched(self) -> "PlannedAction":
        """Return the same action in its next way."""
        way = self.next_way
        return self if way is None else PlannedAction(self.request.in_way(way))

    def aimed_at(self, target: Target) -> "PlannedAction":
        """Return the same action on something else."""
        return PlannedAction(replace(self.request, target=target))

    def with_values(self, text: str) -> "PlannedAction":
        """Return the same action with values such as `memory=8GB`. Raises BadUsage."""
        options = read_words(self.request.options, text)
        return PlannedAction(replace(self.request, options=options))

    def takes(self, text: str) -> bool:
        """Return whether all words of a text name values of it, as `memory=8GB` does."""
        return are_values(self.request.options, text)

    def command(self, reason: str) -> str:
        """Return the command that does the same."""
        return self.request.command(reason)

    def preview(self, home: Home) -> Preview:
        """Return what it would do, and warnings. Raises D0Error if it is refused."""
        with writer(home) as store:
            plan = self._plan(store, time.time())
        warnings = job_files.warnings(plan.warnings, self.request.target.brief)
        lines = [*actions.describe(plan)]
        more = [text for warning in warnings if (text := clean(warning)) not in lines]
        shown = [*((line, "plain") for line in lines), *((text, "warn") for text in more)]
        return Preview(shown, plan.is_empty)

    def _plan(self, store: Store, now: float) -> Plan:
        try:
            return actions.preview(store, self.request, now=now)
        except NeedsOption as error:
            error.values = recommended_values(store, self.request.target, now)
            raise

    def apply(self, home: Home, actor: str, reason: str, seen: int | None, now: float) -> Done:
        """Do it, and return what was done. Raises D0Error if it is refused.

        With `seen`, from `latest`, it is refused if another person changed the same since.
        """
        with writer(home) as store:
            plan = actions.apply(store, self.request, actor=actor, note=reason or None,
                                 now=now, seen=seen)  # fmt: skip
        done = [*actions.report(plan), *filter(None, [undo.sentence(plan)])]
        lines = [(line, "plain" if line.startswith(" ") else "good") for line in done]
        job = plan.job if isinstance(plan, SubmitPlan) else ""
        return Done(lines, [plan.undo] if plan.undo else [], job)


class PlannedActions(PlannedAction, frozen=True):
    """The same action on several tasks, or with several values: where it is refused, nothing is
    changed.
    """

    others: tuple[PlannedAction, ...]

    @property
    def _all(self) -> list[PlannedAction]:
        return [PlannedAction(self.request), *self.others]

    @property
    def title(self) -> str:
        """The action, and on how many tasks, or by how many commands."""
        noun = "task" if self.request.action.level == "task" else "command"
        return f"{self.request.name}: {count(len(self._all), noun)}"

    def switched(self) -> "PlannedActions":
        """Return the same actions in their next way."""
        return together([action.switched() for action in self._all])

    def with_values(self, text: str) -> "PlannedActions":
        """Return the same actions with values. Raises BadUsage."""
        return together([action.with_values(text) for action in self._all])

    def command(self, reason: str) -> str:
        """Return the commands that do the same."""
        return "; d0ctl ".join(
            action.command(reason).removeprefix("d0ctl " if at else "")
            for at, action in enumerate(self._all)
        )

    def preview(self, home: Home) -> Preview:
        """Return what each would do, or why it is refused. Raises D0Error if all are."""
        return Preview(self._each(lambda action: action.preview(home).lines))

    def apply(self, home: Home, actor: str, reason: str, seen: int | None, now: float) -> Done:
        """Do them, and return what was done. Raises D0Error if all are refused."""
        undo: list[str] = []

        def do(action: PlannedAction) -> Lines:
            done = action.apply(home, actor, reason, seen, now)
            undo.extend(done.undo)
            return done.lines

        return Done(self._each(do), undo)

    def _each(self, do: Callable[[PlannedAction], Lines]) -> Lines:
        lines: list[tuple[str, str]] = []
        refused: list[D0Error] = []
        for action in self._all:
            try:
                lines += do(action)
            except (BadUsage, NotFound, Refused) as error:
                refused.append(error)
        if not lines:
            raise refused[0]
        return lines + [(str(error), "warn") for error in refused]


def together(all_of_them: Sequence[PlannedAction]) -> PlannedActions:
    """Return the same action on several tasks, or with several values, as one."""
    return PlannedActions(all_of_them[0].request, tuple(all_of_them[1:]))


def latest(home: Home) -> int | None:
    """Return the number of the last action by anybody; None if it can't be read."""
    with suppress(D0Error), open_store(home, read_only=True) as store, database_errors(home):
        return audit.latest(store)
    return None


def level(verb: str) -> str:
    """Return the level of rows that an action is for; empty for any."""
    action = ACTIONS[verb]
    return "" if action.level == "any" or action.part_ways is not None else action.level


def misfit(verb: str, marks: Marks, wanted: Selector) -> str:
    """Return why an action does not fit marked rows, or their selection; empty if it does."""
    if level(verb) == "job" and any("/" in name for name in marks.names):
        return f"`{verb}` is for whole jobs: choose a job"
    if level(verb) == "line" and any(part.depth < 3 for part in wanted.parts):
        return f"`{verb}` is for lines: choose a line, or a package of one"
    return ""


def target(verb: str, text: str) -> Target:
    """Return the typed target. Raises BadUsage."""
    match ACTIONS[verb].level:
        case "file":
            from d0ctl.actions.file_choice import parse

            return parse(text)
        case "job file":
            from d0ctl.actions.jobs.submit import JobFile

            return JobFile(text)
        case "throttle":
            from d0ctl.actions.throttles import throttle_set

            return throttle_set.parse(text.split())
        case "node" if ACTIONS[verb].several:
            return node_target(text.split() or [text])
    return NodeName(text)


QUESTIONS = {
    "file": "which files, as JOB:NAME", "job file": "which job file",
    "new node": "name of the node", "cluster": "name of the cluster",
    "researcher": "name of the researcher", "token": "name of the token",
    "throttle": "of what, e.g. researcher emmy",
}  # fmt: skip
"""The question for the target of an action, by its level."""


def first_way(verb: str, wanted: Target, **options: Any) -> PlannedAction:
    """Return an action in the first of its ways."""
    request = actions.request(verb, wanted, **options)
    ways = _ways(request)
    return PlannedAction(request.in_way(ways[0]) if ways else request)


def _ways(request: AnyRequest[Any, Any]) -> tuple[Way, ...]:
    """Return the ways of an action on its target; a part of a job may have fewer."""
    action, wanted = request.action, request.target
    if action.part_ways is None or not isinstance(wanted, Selector) or wanted.names_jobs:
        return action.ways
    return action.part_ways
