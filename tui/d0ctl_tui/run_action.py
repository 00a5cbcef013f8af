"""What the dashboard does to jobs and nodes: the actions of the command line."""

import shlex
import time
from contextlib import suppress
from dataclasses import replace
from typing import Any

from msgspec import Struct

from d0ctl import actions
from d0ctl.actions import ACTIONS, Request
from d0ctl.actions.action import Way
from d0ctl.actions.nodes import node
from d0ctl.actions.option import hint, read_words
from d0ctl.config import Home
from d0ctl.errors import D0Error
from d0ctl.select import Selector
from d0ctl.store.connection import open_store
from d0ctl.store.nodes import draining
from d0ctl.store.sqlite_errors import told


class JobAction(Struct, frozen=True):
    """An action on jobs or packages."""

    request: Request[Any]

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
        """Examples of the values it can be given; empty if it takes none."""
        return hint(self.request.options)

    @property
    def next_way(self) -> Way | None:
        """The way after the present one; None if there is just one."""
        ways, now = self.request.action.ways, self.request.way
        return ways[(ways.index(now) + 1) % len(ways)] if now in ways else None

    def switched(self) -> "JobAction":
        """Return the same action in its next way."""
        way = self.next_way
        return self if way is None else JobAction(self.request.in_way(way))

    def with_values(self, text: str) -> "JobAction":
        """Return the same action with values as `memory=8GB`. Raises BadUsage."""
        options = read_words(self.request.options, text)
        return JobAction(replace(self.request, options=options))

    def command(self, reason: str) -> str:
        """Return the command that does the same."""
        return self.request.command(reason)

    def preview(self, home: Home) -> list[str]:
        """Return what it would do. Raises D0Error if it is refused."""
        with open_store(home) as store, told(home):
            return actions.describe(actions.preview(store, self.request, now=time.time()))

    def apply(self, home: Home, actor: str, reason: str, seen: int | None) -> list[str]:
        """Do it, and return what was done. Raises D0Error if it is refused.

        With `seen`, from `latest`, it is refused if somebody changed the same since.
        """
        with open_store(home) as store, told(home):
            plan = actions.apply(store, self.request, actor=actor, note=reason or None,
                                 now=time.time(), seen=seen)  # fmt: skip
        return [*actions.report(plan), *([f"to undo: {plan.undo}"] if plan.undo else [])]


class NodeAction(Struct, frozen=True):
    """A node is drained, or resumed."""

    verb: str
    name: str
    destroys = False
    hint = ""
    next_way = None

    @property
    def title(self) -> str:
        """The verb and the node."""
        return f"{self.verb} {self.name}"

    def switched(self) -> "NodeAction":
        """Return itself: there is only one way."""
        return self

    def with_values(self, text: str) -> "NodeAction":
        """Return itself: it takes no values."""
        return self

    def command(self, reason: str) -> str:
        """Return the command that does the same."""
        words = ["d0ctl", "node", self.verb, self.name]
        return shlex.join([*words, "--reason", reason] if reason else words)

    def preview(self, home: Home) -> list[str]:
        """Return what it would do. Raises NotFound, and Refused if it is so already."""
        with open_store(home, read_only=True) as store, told(home):
            return node.preview(store, self.verb, self.name)

    def apply(self, home: Home, actor: str, reason: str, seen: int | None) -> list[str]:
        """Do it. Raises Refused if it is so already."""
        with open_store(home) as store, told(home):
            act = draining.drain if self.verb == "drain" else draining.resume
            act(store, self.name, actor=actor, note=reason or None, now=time.time())
        return [f"{'drained' if self.verb == 'drain' else 'resumed'} `{self.name}`"]


AnyAction = JobAction | NodeAction


def latest(home: Home) -> int | None:
    """Return the number of the last action of anybody; None if it can't be read."""
    with suppress(D0Error), open_store(home, read_only=True) as store, told(home):
        return actions.latest(store)
    return None


def level(verb: str) -> str:
    """Return the level of rows that an action is for; empty for any."""
    found = ACTIONS[verb].level
    return "" if found == "any" else found


def misfit(verb: str, wanted: Selector) -> str:
    """Return why an action can't be for this selection; empty if it can."""
    if level(verb) == "line" and any(part.depth < 3 for part in wanted.parts):
        return f"`{verb}` is for lines: choose a line, or a package of one"
    return ""


def first_way(verb: str, wanted: Selector, **options: Any) -> JobAction:
    """Return an action in the first of its ways."""
    request = actions.request(verb, wanted, **options)
    ways = request.action.ways
    return JobAction(request.in_way(ways[0]) if ways else request)
