"""throttle set: limit how much of nodes, researchers or jobs runs and starts at once."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from shlex import quote
from typing import Any

from d0ctl.actions import undo, wording
from d0ctl.actions.action import Action, AnyRequest, Author, Plan
from d0ctl.actions.option import Options, ValueType, value
from d0ctl.errors import BadUsage
from d0ctl.schedule.quota import Throttle
from d0ctl.sitefile.people.shares import KINDS, THROTTLE_TYPES
from d0ctl.store.clusters import cluster_views, throttles
from d0ctl.store.connection import Store
from d0ctl.store.nodes.site import setting, throttle_rules
from d0ctl.store.views import names
from d0ctl.units import listed

EXAMPLES = {"node": "farm02", "researcher": "emmy", "job": "test-*"}
"""A name of each kind, for hints."""

NONE = "none"
"""Stands for no limit."""


OTHER_WORDS = {
    "user": "researcher", "person": "researcher", "originator": "researcher", "host": "node",
    "machine": "node", "worker": "node", "production": "job", "task": "job",
}  # fmt: skip
"""Words that people write for a kind."""


@dataclass(frozen=True, slots=True)
class ThrottleName:
    """A throttle by what it limits."""

    kind: str
    pattern: str

    @property
    def brief(self) -> str:
        """The throttle in a few words, as in the site file."""
        return f"{self.kind} {self.pattern}"

    @property
    def arguments(self) -> list[str]:
        """The words that name it on the command line."""
        return [self.kind, self.pattern]

    def __str__(self) -> str:
        return self.brief


def parse(arguments: Sequence[str]) -> ThrottleName:
    """Read a kind and a name or pattern; `plan` asks for the kind of a name alone.

    Raises BadUsage.
    """
    parts = " ".join(arguments).split()
    if len(parts) == 1 and parts[0] not in KINDS:
        return ThrottleName("", parts[0])
    if len(parts) != 2 or parts[0] not in KINDS:
        kind = _nearest_kind(parts)
        name = parts[-1] if parts and parts[-1] not in KINDS else EXAMPLES[kind]
        raise _without_kind(" ".join(parts), ThrottleName(kind, name))
    return ThrottleName(*parts)


def _without_kind(typed: str, meant: ThrottleName, limits: str = "") -> BadUsage:
    """Return the error that words do not begin with what the throttle limits."""
    limits = limits or "--max-running 50"
    command = f"d0ctl throttle set {meant.kind} {quote(meant.pattern)} {limits}"
    return BadUsage(f"`{typed}` is not a throttle: write {listed(KINDS, 'or')}, then its name",
                    hint=command)  # fmt: skip


def _nearest_kind(arguments: Sequence[str]) -> str:
    """Return the kind that was probably meant."""
    from d0ctl.jobfile.yaml.faults import near  # late: only an error needs it

    word = arguments[0] if arguments else ""
    kind = OTHER_WORDS.get(word) or (near(word, KINDS) if len(arguments) > 1 else None)
    return kind or (word if word in KINDS else "node")


def _kind_of(store: Store, name: str) -> str:
    """Return what has this name or matches it; anybody who submits a job is a researcher."""
    known = {"node": names.nodes(store), "researcher": _researchers(store),
             "job": names.jobs(store)}  # fmt: skip
    kinds = (kind for kind in known if any(fnmatchcase(other, name) for other in known[kind]))
    return next(kinds, "researcher")


def _limit(key: str) -> ValueType:
    def read(text: str) -> Any:
        try:
            return NONE if text == NONE else THROTTLE_TYPES[key].convert(text)
        except ValueError as error:
            expected = THROTTLE_TYPES[key].expected
            raise ValueError(f"it takes {expected}, or `{NONE}`, not `{text}`") from error

    return ValueType(read)


@dataclass(frozen=True, slots=True)
class ThrottleOptions(Options):
    """Options of throttle set."""

    max_running: int | str | None = value(
        "--max-running", "N", "Largest number of packages on nodes at once, or `none`.",
        type=_limit("max-running"), example="4", log=lambda limit: [str(limit)],
    )  # fmt: skip
    max_launches: str | None = value(
        "--max-launches", "N/TIME", "Most packages sent to nodes in a time, or `none`.",
        type=_limit("max-launches"), example="100/1m", log=lambda limit: [limit],
    )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class ThrottlePlan(Plan):
    """The limits before and after."""

    before: Mapping[str, Any]
    after: Mapping[str, Any]
    is_known: bool = True
    """Whether a node, researcher or job of that name is there."""
    smaller: tuple[Throttle, ...] = ()
    """Other throttles that apply to the same names, and allow less."""

    @property
    def limits(self) -> Mapping[str, tuple[Any, Any]]:
        """Each limit that changes, before and after."""
        pairs = {key: (self.before.get(key, NONE), self.after.get(key, NONE))
                 for key in THROTTLE_TYPES}  # fmt: skip
        return {key: pair for key, pair in pairs.items() if pair[0] != pair[1]}


def plan(
    store: Store, request: AnyRequest[ThrottleName, ThrottleOptions], now: float
) -> ThrottlePlan:
    """Plan the limits. Raises BadUsage for a name without its kind."""
    options, target = request.options, request.target
    if target.kind in ("", "job"):
        _refuse_selector(store, target, options)
    limits = {"max-running": options.max_running, "max-launches": options.max_launches}
    changes = {key: limit for key, limit in limits.items() if limit is not None}
    before = (setting(store, "throttles") or {}).get(request.target.brief, {})
    after = {key: limit for key, limit in {**before, **changes}.items() if limit != NONE}
    return ThrottlePlan(request=request, before=before, after=after,
                        is_known=_is_known(store, request.target),
                        smaller=tuple(_smaller(store, request.target, after)),
                        is_empty=bool(changes) and after == before)  # fmt: skip


def _refuse_selector(store: Store, name: ThrottleName, options: ThrottleOptions) -> None:
    """Raise BadUsage for a name without its kind, and for a part of a job."""
    job, _, part = name.pattern.partition("/")
    kind = name.kind or _kind_of(store, job)
    if kind == "job" and (part or not (name.kind or options.max_launches)):
        what = "part of a job" if part else "a job"
        raise BadUsage(f"`{name.pattern}` is {what}: `limit` sets its limits",
                       hint=f"d0ctl limit {quote(name.pattern)} --max-running 50")  # fmt: skip
    if not name.kind:
        raise _without_kind(name.pattern, ThrottleName(kind, name.pattern), _typed(options))


def _typed(options: ThrottleOptions) -> str:
    """Return the limits as they were typed; empty if none was."""
    limits = (("--max-running", options.max_running), ("--max-launches", options.max_launches))
    return " ".join(f"{option} {limit}" for option, limit in limits if limit is not None)


def _is_known(store: Store, name: ThrottleName) -> bool:
    known = {"node": names.nodes, "job": names.jobs}.get(name.kind, _researchers)
    return any(fnmatchcase(known_name, name.pattern) for known_name in known(store))


def _smaller(store: Store, name: ThrottleName, limits: Mapping[str, Any]) -> Iterator[Throttle]:
    """Yield the other throttles of the same names that allow fewer packages at once."""
    most = limits.get("max-running", 0)
    for rule in throttle_rules(store):
        is_other = rule.kind == name.kind and rule.name != name.brief
        is_smaller = rule.max_running is not None and rule.max_running < most
        if is_other and is_smaller and _overlap(rule.pattern, name.pattern):
            yield rule


def _overlap(pattern: str, other: str) -> bool:
    return fnmatchcase(pattern, other) or fnmatchcase(other, pattern)


def _researchers(store: Store) -> list[str]:
    return [researcher.name for researcher in cluster_views.researchers(store)]


def change(store: Store, plan: ThrottlePlan, by: Author) -> None:
    """Put the limits in force. Raises BadUsage if none was given."""
    name = plan.request.target.brief
    if not plan.limits:
        raise BadUsage("no limit is given", hint=f"d0ctl throttle set {name} --max-running 4")
    throttles.change(store, name, plan.after)


def undo_set(plan: ThrottlePlan) -> str | None:
    """Return the command that undoes it."""
    options = [
        word for key, (before, _) in plan.limits.items() for word in (f"--{key}", str(before))
    ]
    return (
        undo.command("throttle set", plan.request.target.arguments, *options) if options else None
    )


def describe(plan: ThrottlePlan) -> Iterator[str]:
    """Say what the limits would be."""
    yield _said(plan, "would change limits of")
    yield from _unknown(plan)
    yield from _also(plan)


def report(plan: ThrottlePlan) -> Iterator[str]:
    """Say what the limits are now."""
    yield _said(plan, "limits of")
    yield from _unknown(plan)
    yield from _also(plan)


def _also(plan: ThrottlePlan) -> Iterator[str]:
    """Say which other throttles apply as well: the smallest limit holds."""
    for rule in plan.smaller:
        yield (f"throttle `{rule.name}` applies as well and allows {rule.max_running:,}: "
               "the smallest limit holds")  # fmt: skip


def _unknown(plan: ThrottlePlan) -> Iterator[str]:
    """Say that nothing has that name yet: it may be misspelt."""
    name = plan.request.target
    if plan.limits and not plan.is_known and plan.after:
        yield f"there is no {name.kind} `{name.pattern}` yet"


def _said(plan: ThrottlePlan, verb: str) -> str:
    if not plan.limits and not plan.is_empty:
        return "no limit is given"
    return wording.new_values(verb, plan.limits, plan.request.target.brief, "limits")


ACTION = Action(
    name="throttle set",
    help="Set or lift limits of nodes, researchers or jobs.",
    more_help="`none` lifts a limit. Running packages continue. The next `site apply` restores the "
    "limits of the site file. `limit` is for a single job or stage.",
    example="researcher emmy --max-running 50 --max-launches 100/1m",
    exit_status="0 done, 2 bad usage",
    past="changed limits of",
    options=ThrottleOptions,
    plan=plan,
    act=change,
    undo=undo_set,
    describe=describe,
    report=report,
    level="throttle",
    may_be_first=True,
    starts_packages=True,
    title="throttle set: limit nodes, people or jobs",
)
