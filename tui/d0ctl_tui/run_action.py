"""What the dashboard does to jobs and nodes: the verbs of the command line, and nothing else."""

import shlex
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from d0ctl import actions
from d0ctl.actions import VERBS, Changes, Plan, Request, node
from d0ctl.config import Home
from d0ctl.errors import D0Error
from d0ctl.select import Selector
from d0ctl.store.connection import open_store
from d0ctl.store.nodes import draining
from d0ctl.store.sqlite_errors import told
from d0ctl_tui.changes import options

Words = Callable[[Plan], list[str]]
"""A plan in words."""


@dataclass(frozen=True, slots=True)
class Speech:
    """How the command line tells of plans, and who acts."""

    describe: Words
    report: Words
    actor: str


@dataclass(frozen=True, slots=True)
class Deed:
    """One call of a verb, and the command that does the same."""

    request: Request

    @property
    def title(self) -> str:
        """The verb and what it is for."""
        return f"{self.request.verb} {self.request.target.brief}"

    def command(self, reason: str) -> str:
        """What to type for it."""
        request, target = self.request, self.request.target
        words = ["d0ctl", request.verb, *map(str, target.parts)]
        words += [str(request.priority)] if request.priority is not None else []
        words += [request.status] if request.status else []
        words += ["--failed-for", target.reason] if target.reason else []
        words += ["--node", target.node] if target.node else []
        words += ["--older-than", f"{target.older_than:g}s"] if target.older_than else []
        words += [option for name, option in FLAGS.items() if getattr(request, name)]
        words += options(request.changes)
        words += ["--reason", reason] if reason else []
        return shlex.join(words)

    def preview(self, home: Home, speech: Speech) -> list[str]:
        """What it would do, in words. Raises D0Error where it is refused."""
        with open_store(home) as store, told(home):
            return speech.describe(actions.preview(store, self.request))

    def apply(self, home: Home, speech: Speech, reason: str, seen: int | None) -> list[str]:
        """Do it; what was done, in words. Raises D0Error where it is refused.

        With `seen`, of `latest`, also where somebody did something to the same since.
        """
        with open_store(home) as store, told(home):
            plan = actions.apply(
                store, self.request, actor=speech.actor, note=reason or None, seen=seen
            )
        undo = [f"to take it back: {plan.undo}"] if plan.undo else []
        return [*speech.report(plan), *undo]


@dataclass(frozen=True, slots=True)
class NodeDeed:
    """A node is drained, or resumed."""

    verb: str
    name: str

    def command(self, reason: str) -> str:
        """What to type for it."""
        words = ["d0ctl", "node", self.verb, self.name]
        return shlex.join([*words, "--reason", reason] if reason else words)

    @property
    def title(self) -> str:
        """The verb and the node."""
        return f"{self.verb} {self.name}"

    def preview(self, home: Home, speech: Speech) -> list[str]:
        """What it would do. Raises NotFound, and Refused where it is so already."""
        with open_store(home, read_only=True) as store, told(home):
            return node.preview(store, self.verb, self.name)

    def apply(self, home: Home, speech: Speech, reason: str, seen: int | None) -> list[str]:
        """Do it. Raises Refused where it is so already."""
        with open_store(home) as store, told(home):
            act = draining.drain if self.verb == "drain" else draining.resume
            act(store, self.name, actor=speech.actor, note=reason or None, now=time.time())
        return [f"{'drained' if self.verb == 'drain' else 'resumed'} `{self.name}`"]


AnyDeed = Deed | NodeDeed

FLAGS = {
    "drop_outputs": "--drop-outputs", "running": "--running", "hard": "--hard",
    "partial": "--partial", "keep_results": "--keep-results",
}  # fmt: skip
"""Fields of a request that are options without a value."""

Variant = tuple[str, tuple[str, ...]]
"""One way to do a deed: what it is called, and the flags that are set."""

VARIANTS: Mapping[str, tuple[Variant, ...]] = {
    "kill-line": (("keep the outputs", ()), ("drop the outputs, too", ("drop_outputs",))),
    "remove": (("remove the results, too", ()), ("move the results aside", ("keep_results",))),
    "pause": (("leave what runs", ()), ("what runs, too", ("running",))),
    "kill": (("throw away what they have made", ()),
             ("keep what they have made, marked partial", ("partial",))),
    "finish": (("let what runs end", ()), ("end what runs, too", ("hard",)),
               ("end what runs, keep what it has made", ("hard", "partial"))),
}  # fmt: skip
"""The ways in which a verb can be done."""


def next_variant(deed: AnyDeed) -> Variant | None:
    """The way that comes after the present one; None where there is just one."""
    if not isinstance(deed, Deed) or deed.request.verb not in VARIANTS:
        return None
    ways = VARIANTS[deed.request.verb]
    flags = tuple(name for name in FLAGS if getattr(deed.request, name))
    now = [way for _, way in ways].index(flags)
    return ways[(now + 1) % len(ways)]


def switched(deed: AnyDeed) -> AnyDeed:
    """The same deed the next way."""
    way = next_variant(deed)
    if way is None or not isinstance(deed, Deed):
        return deed
    flags: dict[str, Any] = {name: name in way[1] for name in FLAGS}
    return Deed(replace(deed.request, **flags))


def takes_changes(deed: AnyDeed) -> bool:
    """Whether a deed can be done with other wishes than before."""
    return isinstance(deed, Deed) and "changes" in VERBS[deed.request.verb].takes


def changed(deed: AnyDeed, changes: Changes) -> AnyDeed:
    """The same deed with other wishes."""
    return Deed(replace(deed.request, changes=changes)) if isinstance(deed, Deed) else deed


def latest(home: Home) -> int | None:
    """The last thing that anybody has done; None where it can't be read."""
    with suppress(D0Error), open_store(home, read_only=True) as store, told(home):
        return actions.latest(store)
    return None


def level(verb: str) -> str:
    """The level of rows that a verb is for; empty for any."""
    found = VERBS[verb].level
    return "" if found == "any" else found


def misfit(verb: str, wanted: Selector) -> str:
    """Why a verb can't be meant for this; empty where it can."""
    if level(verb) == "line" and any(part.depth < 3 for part in wanted.parts):
        return f"`{verb}` is for lines: choose a line, or a package of one"
    return ""


def made(verb: str, wanted: Selector, **more: Any) -> Deed:
    """The call of a verb; lines are dropped with their outputs, unless that is switched off."""
    return Deed(Request(verb, wanted, drop_outputs=verb == "kill-line", **more))
