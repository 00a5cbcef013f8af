"""What an action is: all that the CLI, the dashboard and the history know about a verb."""

import shlex
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Generic, Literal, NamedTuple, TypeVar

from d0ctl.actions.option import OptionsType, fields_of, given, typed
from d0ctl.errors import Refused
from d0ctl.select import Selector
from d0ctl.store.connection import Store
from d0ctl.store.jobs.audit import Deed

MOST_SHOWN = 50
"""How many packages or files of each kind a plan names; it counts the rest."""

PlanType = TypeVar("PlanType", bound="Plan")


class Author(NamedTuple):
    """Who acts, why and when."""

    actor: str
    note: str | None
    now: float

    def note_or(self, past: str) -> str:
        """Return the note; without one, who did it."""
        return self.note or f"{past} by {self.actor}"


class Way(NamedTuple):
    """One of several ways to carry out an action: what it does, and the flags that are set."""

    title: str
    flags: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Request(Generic[OptionsType]):
    """An action with its options, and what it is meant for."""

    action: "Action[OptionsType, Any]"
    target: Selector
    options: OptionsType

    @property
    def name(self) -> str:
        """The name of the action."""
        return self.action.name

    def command(self, reason: str = "") -> str:
        """Return the command that does the same."""
        target = self.target
        words = ["d0ctl", self.name, *map(str, target.parts), *typed(self.options)]
        words += ["--failed-for", target.reason] if target.reason else []
        words += ["--node", target.node] if target.node else []
        words += ["--older-than", f"{target.older_than:g}s"] if target.older_than else []
        words += ["--reason", reason] if reason else []
        return shlex.join(words)

    @property
    def way(self) -> Way | None:
        """The way that its flags choose; None if there is just one."""
        flags = frozenset(option.name for option, _ in given(self.options) if option.kind == "flag")
        return next((way for way in self.action.ways if way.flags == flags), None)

    def in_way(self, way: Way) -> "Request[OptionsType]":
        """Return the same request with the flags of another way."""
        return replace(self, options=self.action.in_way(way, self.options))


class Change(NamedTuple):
    """A package that a plan changes, and the phase it is in now."""

    path: str
    phase: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What an action would do; an action that has more to say defines a subclass.

    Lists name the first few; the numbers beside them count all. `jobs` are changed by a flag of
    their rows, else the packages in `phases` are changed and those in `kept` are not.
    """

    request: Request[Any]
    packages: int = 0
    jobs: tuple[str, ...] = ()
    phases: Mapping[str, int] = field(default_factory=dict)
    changes: tuple[Change, ...] = ()
    kept: Mapping[str, int] = field(default_factory=dict)
    undo: str | None = None
    """The command that undoes it; None if nothing can."""
    seen: int = 0
    """The number of the last action of anybody when the plan was made."""


class Forestalled(Refused):
    """Refused, perhaps because of what somebody did to the packages before.

    `apply` and `preview` add to the message who that was.
    """

    def __init__(self, message: str, *, hint: str | None = None, deed: Deed | None = None) -> None:
        super().__init__(message, hint=hint)
        self.deed = deed


def _as_it_is(store: Store, request: Request[Any], now: float) -> Request[Any]:
    return request


def _nothing_more(store: Store, plan: Plan, now: float) -> None:
    pass


def _no_undo(plan: Plan) -> str | None:
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Action(Generic[OptionsType, PlanType]):
    """A verb that changes jobs.

    `prepare` runs before the transaction in which it is planned and carried out (`act`), `follow`
    after it. `level` is what its selectors name.
    """

    name: str
    help: str
    """One imperative sentence."""
    more_help: str = ""
    example: str
    """A command line, without `d0ctl` and the name."""
    past: str | Callable[[Deed], str]
    """What somebody did, before its target: `held`."""
    plan: Callable[[Store, Request[OptionsType], float], PlanType]
    act: Callable[[Store, PlanType, Author], None]
    describe: Callable[[PlanType], Iterator[str]]
    """What a plan would do, a sentence a line."""
    report: Callable[[PlanType], Iterator[str]]
    """What was done, a sentence a line."""
    options: type[OptionsType]
    level: Literal["any", "line", "job"] = "any"
    question: str = ""
    """What a person on a terminal is asked before."""
    destroys: bool = False
    starts_packages: bool = False
    """Whether packages can start afterwards that could not before."""
    undo: Callable[[PlanType], str | None] = _no_undo
    is_flag: bool = False
    """Whether it only changes a flag of whole jobs, whatever else is done to their packages."""
    conflicts: frozenset[str] = frozenset()
    """Actions on the same whole jobs that it must not follow unseen, nor they it."""
    prepare: Callable[[Store, Request[OptionsType], float], Request[OptionsType]] = _as_it_is
    follow: Callable[[Store, PlanType, float], None] = _nothing_more
    key: str
    """Its key in the dashboard."""
    title: str
    """What the dashboard says of its key."""
    ways: tuple[Way, ...] = ()
    """The ways the dashboard offers; it begins with the first."""

    def request(
        self, target: Selector, options: OptionsType | None = None, **given: Any
    ) -> Request[OptionsType]:
        """Return the request of this action for a target."""
        return Request(self, target, self.options(**given) if options is None else options)

    def in_way(self, way: Way, options: OptionsType) -> OptionsType:
        """Return the options with the flags of a way."""
        flags = {
            name: option.name in way.flags
            for name, option, _ in fields_of(options)
            if option.kind == "flag"
        }
        return replace(options, **flags)

    def is_in_the_way(self, other: "Action[Any, Any]") -> bool:
        """Whether the other action on a whole job forbids this one, planned before it."""
        return (
            self.name == other.name
            or other.name in self.conflicts
            or self.name in other.conflicts
        )  # fmt: skip
