"""What an action is: everything that the CLI, the dashboard and the history know about a verb."""

import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, Literal, NamedTuple, Protocol, TypeAlias, TypeVar

from d0ctl.actions.option import OptionsType, fields_of, supplied, typed
from d0ctl.errors import Refused
from d0ctl.select import Selector
from d0ctl.select.node_names import NodeNames, is_pattern
from d0ctl.store.connection import Selection, Store
from d0ctl.store.jobs.audit import AuditEntry

MOST_SHOWN = 50
"""How many packages or files of each kind a plan names; it counts the rest."""

PlanType = TypeVar("PlanType", bound="Plan")

Level: TypeAlias = Literal[
    "any", "line", "job", "node", "new node", "cluster", "researcher", "file", "job file",
    "throttle", "token", "task",
]  # fmt: skip
"""What an action applies to; `any` is a selection of jobs, stages, lines or packages."""


class Author(NamedTuple):
    """Who acts, why and when."""

    actor: str
    note: str | None
    now: float

    def note_or(self, past: str) -> str:
        """Return the note, or who did it if there is none."""
        return self.note or f"{past} by {self.actor}"


class Way(NamedTuple):
    """One of several ways to carry out an action: what it does, and the flags that are set."""

    title: str
    flags: frozenset[str] = frozenset()


class Target(Protocol):
    """What an action applies to: a selection, a node, files, a job file."""

    @property
    def brief(self) -> str:
        """The target in a few words, for use in a sentence."""

    @property
    def arguments(self) -> list[str]:
        """The words that name it on the command line."""


TargetType = TypeVar("TargetType", bound=Target)


@dataclass(frozen=True, slots=True)
class NodeName:
    """A node, cluster, researcher, token or task by its name."""

    brief: str

    @property
    def arguments(self) -> list[str]:
        """Its name."""
        return [self.brief]

    def __str__(self) -> str:
        return self.brief


def node_target(names: Sequence[str]) -> NodeName | NodeNames:
    """Return the target of an action that takes several nodes."""
    is_single = len(names) == 1 and not is_pattern(names[0])
    return NodeName(names[0]) if is_single else NodeNames(tuple(names))


class Person:
    """The person who asked for an action; this one can't answer and is shown nothing."""

    def confirms(self, notice: str, question: str) -> bool | None:
        """Return the answer to a question; None if there is nobody to answer."""
        return None

    def inform(self, line: str) -> None:
        """Show what has happened meanwhile."""

    def follow(self, done: int, total: int) -> None:
        """Show how many packages of a large action are done."""


@dataclass(frozen=True, slots=True)
class AnyRequest(Generic[TargetType, OptionsType]):
    """An action with its options, its target, and the person who asked for it."""

    action: "Action[Any, Any]"
    target: TargetType
    options: OptionsType
    person: Person = field(default_factory=Person, compare=False)
    originator: str | None = field(default=None, compare=False)  # of its jobs; None: this user

    @property
    def name(self) -> str:
        """The name of the action."""
        return self.action.name

    def arguments(self, reason: str = "") -> list[str]:
        """Return the words of the command that does the same."""
        arguments = ["d0ctl", *self.name.split(), *self.target.arguments, *typed(self.options)]
        return [*arguments, "--reason", reason] if reason else arguments

    def command(self, reason: str = "") -> str:
        """Return the command that does the same."""
        return shlex.join(self.arguments(reason))

    @property
    def way(self) -> Way | None:
        """The way that its flags select; None if there is just one."""
        flags = frozenset(
            option.name for option, _ in supplied(self.options) if option.kind == "flag"
        )
        return next((way for way in self.action.ways if way.flags == flags), None)

    def in_way(self, way: Way) -> "AnyRequest[TargetType, OptionsType]":
        """Return the same request with the flags of another way."""
        return replace(self, options=self.action.in_way(way, self.options))


Request: TypeAlias = AnyRequest[Selector, OptionsType]
"""A request for jobs, stages, lines or packages."""

NodeRequest: TypeAlias = AnyRequest[NodeName, OptionsType]


class Change(NamedTuple):
    """A package that a plan changes, and the phase it is in now."""

    path: str
    phase: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What an action would do; an action with more to say defines a subclass.

    Lists name the first few; the numbers beside them count all. `jobs` are changed by a flag of
    their rows, else the packages in `phases` are changed and those in `kept` are not.
    """

    request: AnyRequest[Any, Any]
    packages: int = 0
    jobs: tuple[str, ...] = ()
    phases: Mapping[str, int] = field(default_factory=dict)
    changes: tuple[Change, ...] = ()
    unchanged: Mapping[str, int] = field(default_factory=dict)
    selected: Selection | None = field(default=None, repr=False, compare=False)
    """The selected packages, until others are selected; None for anything else."""
    undo: str | None = None
    """The command that undoes it; None if nothing can."""
    seen: int = 0
    """The number of the last action by anybody when the plan was made."""
    is_empty: bool = False
    """Whether there is nothing to do."""

    @property
    def warnings(self) -> Sequence[str]:
        """What may be wrong with what it was made from."""
        return ()

    @property
    def selection(self) -> Selection:
        """The packages that it changes."""
        assert self.selected is not None, f"`{self.request.name}` selects no packages"
        return self.selected


class NeedsOption(Refused):
    """An action that is refused only without an option that its message names."""


class Conflict(Refused):
    """An action that is refused, perhaps because another person has changed the packages meanwhile.

    `apply` and `preview` add to the message who that was. `instead` is what may be selected
    instead, and in words.
    """

    def __init__(
        self,
        message: str,
        *,
        hint: str | None = None,
        entry: AuditEntry | None = None,
        instead: tuple[Target, str] | None = None,
    ) -> None:
        super().__init__(message, hint=hint)
        self.entry = entry
        self.instead = instead


def _as_it_is(store: Store, request: Any, now: float) -> Any:
    return request


def _nothing_more(store: Store, plan: Any, now: float) -> None:
    pass


def _one_line_result(plan: Any) -> Iterator[str]:
    yield f"{plan.request.action.past} `{plan.request.target.brief}`"


def _no_undo(plan: Any) -> str | None:
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Action(Generic[OptionsType, PlanType]):
    """A verb that changes something.

    `prepare` runs before the transaction in which it is planned and carried out (`act`), and
    `meet` too if it is carried out; `follow` runs after it. `level` is what it applies to.
    """

    name: str
    help: str
    """One imperative sentence."""
    more_help: str = ""
    example: str
    """A command line, without `d0ctl` and the name."""
    exit_status: str = "0 done, 2 bad usage, 3 nothing matches, 4 refused in this state"
    past: str | Callable[[AuditEntry], str]
    """The past tense, which comes before the target: `held`."""
    plan: Callable[[Store, Any, float], PlanType]
    act: Callable[[Store, PlanType, Author], PlanType | None]
    """Carry a plan out; it may return the plan with facts that were known only afterwards."""
    describe: Callable[[PlanType], Iterator[str]]
    """What a plan would do, one sentence per line."""
    report: Callable[[PlanType], Iterator[str]] = _one_line_result
    """What was done, one sentence per line."""
    notice: str = ""
    """What a person should know of the report, which a program reads without it."""
    options: type[OptionsType]
    level: Level = "any"
    several: bool = False
    """Whether it takes several nodes and patterns; its `prepare` selects the nodes."""
    question: str = ""
    """The question that a person on a terminal is asked first."""
    destroys: bool = False
    may_be_first: bool = False
    """Whether a home is created for it if there is none."""
    in_pieces: bool = False
    """Whether it acts in transactions of its own, because one would take too long."""
    starts_packages: bool = False
    """Whether packages can start afterwards that could not before."""
    undo: Callable[[PlanType], str | None] = _no_undo
    needs_values: bool = False
    """Whether it changes nothing without one of its options."""
    is_flag: bool = False
    """Whether it only changes a flag of whole jobs, whatever else is done to their packages."""
    conflicts: frozenset[str] = frozenset()
    """Actions on the same whole jobs that it conflicts with, if they happened since its plan."""
    prepare: Callable[[Store, Any, float], Any] = _as_it_is
    meet: Callable[[Store, Any, float], Any] = _as_it_is
    follow: Callable[[Store, PlanType, float], PlanType | None] = _nothing_more
    key: str = ""
    """Its key in the dashboard; without one it is in the palette."""
    title: str
    """Its title in the dashboard."""
    ways: tuple[Way, ...] = ()
    """The ways that the dashboard offers, the first one by default."""
    part_ways: tuple[Way, ...] | None = None
    """Those for a part of a job; None for the same ones, or if only whole jobs are taken."""

    def request(
        self, target: TargetType, options: OptionsType | None = None, **supplied: Any
    ) -> AnyRequest[TargetType, OptionsType]:
        """Return the request of this action for a target."""
        return AnyRequest(self, target, self.options(**supplied) if options is None else options)

    def in_way(self, way: Way, options: OptionsType) -> OptionsType:
        """Return the options with the flags of a way."""
        flags = {
            name: option.name in way.flags
            for name, option, _ in fields_of(options)
            if option.kind == "flag"
        }
        return replace(options, **flags)

    def conflicts_with(self, other: "Action[Any, Any]") -> bool:
        """Return whether this action conflicts with another one that was planned before it for
        whole jobs.
        """
        return (self.name == other.name or other.name in self.conflicts
                or self.name in other.conflicts)  # fmt: skip
