"""What the dashboard does to jobs and nodes: the verbs of the command line, and nothing else."""

import shlex
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from d0ctl import verbs
from d0ctl.config import Home
from d0ctl.errors import D0Error
from d0ctl.select import Selector, Span, parse
from d0ctl.store import nodes
from d0ctl.store.connection import open_store
from d0ctl.store.trouble import told
from d0ctl.verbs import VERBS, Changes, Plan, Request
from d0ctl_tui.wishes import options

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

    def command(self, reason: str) -> str:
        """What to type for it."""
        request = self.request
        words = ["d0ctl", request.verb, str(request.target)]
        words += [str(request.priority)] if request.priority is not None else []
        words += ["--drop-outputs"] if request.drop_outputs else []
        words += ["--running"] if request.running else []
        words += ["--hard"] if request.hard else []
        words += options(request.changes)
        words += ["--reason", reason] if reason else []
        return shlex.join(words)

    def preview(self, home: Home, speech: Speech) -> list[str]:
        """What it would do, in words. Raises D0Error where it is refused."""
        with open_store(home) as store, told(home):
            return speech.describe(verbs.preview(store, self.request))

    def apply(self, home: Home, speech: Speech, reason: str, seen: int | None) -> list[str]:
        """Do it; what was done, in words. Raises D0Error where it is refused.

        With `seen`, of `latest`, also where somebody did something to the same since.
        """
        with open_store(home) as store, told(home):
            plan = verbs.apply(
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

    def preview(self, home: Home, speech: Speech) -> list[str]:
        """What it would do. Raises NotFound."""
        with open_store(home, read_only=True) as store, told(home):
            row = nodes.named(store, self.name)
            here = int(store.value("node_in_use", node=row["id"]))
        if self.verb == "drain":
            return [f"`{self.name}` would take nothing new", f"{here} packages there go on"]
        return [f"`{self.name}` would take packages again"]

    def apply(self, home: Home, speech: Speech, reason: str, seen: int | None) -> list[str]:
        """Do it. Raises Refused where it is so already."""
        with open_store(home) as store, told(home):
            act = nodes.drain if self.verb == "drain" else nodes.resume
            act(store, self.name, actor=speech.actor, note=reason or None)
        return [f"{'drained' if self.verb == 'drain' else 'resumed'} `{self.name}`"]


AnyDeed = Deed | NodeDeed

OPTIONS = {
    "drop_outputs": ("drop the outputs, too", "keep the outputs"),
    "running": ("what runs, too", "leave what runs"),
    "hard": ("end what runs, too", "let what runs end"),
}
"""What can be switched on and off in a request, and how that is called."""


def switch(deed: AnyDeed) -> str:
    """What of a deed can be switched; empty where nothing can."""
    if not isinstance(deed, Deed):
        return ""
    return next((name for name in OPTIONS if name in VERBS[deed.request.verb].takes), "")


def switched(deed: AnyDeed) -> AnyDeed:
    """The same deed the other way."""
    name = switch(deed)
    if not name or not isinstance(deed, Deed):
        return deed
    change: dict[str, Any] = {name: not getattr(deed.request, name)}
    return Deed(replace(deed.request, **change))


def takes_changes(deed: AnyDeed) -> bool:
    """Whether a deed can be done with other wishes than before."""
    return isinstance(deed, Deed) and "changes" in VERBS[deed.request.verb].takes


def changed(deed: AnyDeed, changes: Changes) -> AnyDeed:
    """The same deed with other wishes."""
    return Deed(replace(deed.request, changes=changes)) if isinstance(deed, Deed) else deed


def latest(home: Home) -> int | None:
    """The last thing that anybody has done; None where it can't be read."""
    with suppress(D0Error), open_store(home, read_only=True) as store, told(home):
        return verbs.latest(store)
    return None


def misfit(verb: str, selectors: Sequence[str]) -> str:
    """Why a verb can't be meant for these; empty where it can."""
    level = _level(verb)
    if level == "line" and any(selector.count("/") < 2 for selector in selectors):
        return f"`{verb}` is for lines: choose a line, or a package of one"
    return ""


def made(verb: str, selectors: Sequence[str], priority: int | None = None) -> list[Deed]:
    """The calls of a verb for what is meant."""
    meant = targets(selectors, _level(verb))
    return [Deed(Request(verb, target, priority=priority)) for target in meant]


def _level(verb: str) -> str:
    level = VERBS[verb].level
    return "" if level == "any" else level


def targets(selectors: Iterable[str], level: str = "") -> list[Selector]:
    """What is meant by several paths: neighbours become a range; `level` cuts or is kept."""
    wanted = [parse(selector) for selector in selectors]
    if level:
        wanted = list(dict.fromkeys(_at(one, level) for one in wanted))
    return _ranges(wanted)


def _at(one: Selector, level: str) -> Selector:
    depth = {"job": 1, "stage": 2, "line": 3, "package": 4}[level]
    if one.depth <= depth:
        return one
    parts = str(one).split("/")[:depth]
    return parse("/".join(parts))


def _ranges(wanted: Sequence[Selector]) -> list[Selector]:
    groups: dict[tuple[int, str], list[int]] = {}
    found: list[Selector] = []
    for one in wanted:
        front, _, last = str(one).rpartition("/")
        if one.depth > 1 and one.is_one and last.isdigit():
            groups.setdefault((one.depth, front), []).append(int(last))
        elif one not in found:
            found.append(one)
    for (_, front), numbers in groups.items():
        found += [parse(f"{front}/{span}") for span in _spans(sorted(set(numbers)))]
    return found


def _spans(numbers: Sequence[int]) -> list[Span]:
    spans: list[Span] = []
    for number in numbers:
        if spans and spans[-1].last == number - 1:
            spans[-1] = Span(spans[-1].first, number)
        else:
            spans.append(Span(number, number))
    return spans
