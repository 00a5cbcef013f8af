"""What can be done: every action of the command line, made from their table; and submission."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, Literal, TypeAlias

import msgspec
from litestar import Request, post
from litestar.datastructures import State
from litestar.handlers import HTTPRouteHandler
from msgspec import Meta, Struct

from d0ctl import select
from d0ctl.actions import ACTIONS, Action
from d0ctl.actions.action import NodeName, Target, node_target
from d0ctl.actions.file_choice import parse as parse_files
from d0ctl.actions.jobs.submit import JobFile
from d0ctl.actions.option import Option, fields_of
from d0ctl.actions.table import GROUPS
from d0ctl.api.carry_out import carry_out, requests
from d0ctl.cli.commands.rest.bearer import only
from d0ctl.cli.commands.rest.http_errors import RESPONSES
from d0ctl.errors import BadUsage
from d0ctl.store.rest.token_secrets import Role

Words: TypeAlias = str | list[str]

_WORDS: Any = str | Annotated[list[str], Meta(min_length=1)]
Value: TypeAlias = str | int | float | None


class Answer(Struct):
    """What an action did, or with `dry_run` what it would do."""

    packages: int
    lines: list[str]
    """Sentences, as the command line prints them."""
    undo: str | None
    """The command that undoes it; null if nothing can."""
    seen: int
    """The number of the last action before it. As `seen` of the next request, it refuses that if
    others have changed the same packages since."""
    job: str | None = None
    """The job that was submitted."""


class Common(Struct, kw_only=True, forbid_unknown_fields=True):
    """What every action takes; many generated clients send null for what is not given."""

    reason: str | None = None
    """Recorded in the history."""
    dry_run: bool | None = False
    """Only say what it would do."""
    seen: int | None = None
    """From an earlier answer: refuse if others have changed the same packages since."""


class Submission(Common, kw_only=True):
    """A job file to submit; its relative paths start where `d0ctl serve` was started."""

    text: Annotated[str, Meta(min_length=1, description="The job file, YAML or JSON.")]
    name: str | None = None
    parameters: dict[str, str] | None = None
    hold: bool | None = False
    force: bool | None = False


OPERATED = ("jobs", "packages", "files", "tasks")
"""The groups of actions that operators may carry out."""


def role_of(name: str) -> Role:
    """Return the role that an action needs: what concerns nodes or the site is for admins."""
    prefixes = tuple(prefix for folder, prefix in GROUPS.items() if folder not in OPERATED)
    return "admin" if name.startswith(prefixes) else "operator"


def _target(action: Action[Any, Any], target: Words) -> Target:
    """Read what an action applies to. Raises BadUsage."""
    texts = [target] if isinstance(target, str) else target
    match action.level:
        case "any" | "line" | "job":
            return select.parse_all(texts)
        case "throttle":
            from d0ctl.actions.throttles.throttle_set import parse

            return parse(target.split() if isinstance(target, str) else target)
        case "node" if action.several:
            return node_target(texts)
    if len(texts) != 1:
        raise BadUsage(f"it takes one name, not {len(texts)}")
    return parse_files(texts[0]) if action.level == "file" else NodeName(texts[0])


def _carried_out(request: Request[Any, Any, State], wanted: Any, data: Common) -> Answer:
    wanted = replace(wanted, originator=request.user.name)
    done = carry_out(request.app.state.home, wanted, data.reason, bool(data.dry_run),
                     by=request.user.actor, seen=data.seen)  # fmt: skip
    return Answer(done.packages, done.text.splitlines(), done.undo, done.seen, done.job or None)


def _body(name: str, action: Action[Any, Any]) -> type[Struct]:
    """Make the type of the body of an action from its options."""
    shape: list[tuple[Any, ...]] = [
        ("target", _described(_WORDS, f"As the argument of `d0ctl {name}`."))
    ]
    for field, option, default in fields_of(action.options):
        needed = option.kind == "argument" and default is not None
        absent = () if needed else (_ABSENT.get(option.kind),)
        shape.append((field, _described(_KINDS[option.kind](option, needed), option.help), *absent))
    title = "".join(word.capitalize() for word in name.replace("-", " ").split())
    return msgspec.defstruct(title, shape, bases=(Common,), kw_only=True,
                             forbid_unknown_fields=True)  # fmt: skip


def _described(kind: Any, text: str) -> Any:
    return Annotated[kind, Meta(description=text)]


def _value(option: Option, needed: bool) -> Any:
    if option.choices:
        return Literal[option.choices] if needed else Literal[option.choices] | None
    return str | int | float if needed else Value


_KINDS: Mapping[str, Any] = {
    "flag": lambda option, needed: bool | None,
    "value": _value,
    "argument": _value,
    "list": lambda option, needed: list[str] | None,
    "arguments": lambda option, needed: list[str] | None,
}

_ABSENT: Mapping[str, Any] = {"flag": False}
"""What an option is if it is not given; null for kinds that are not named here."""


def _handler(name: str) -> HTTPRouteHandler:
    """Make the handler of an action."""
    action = ACTIONS[name]
    body = _body(name, action)

    def act(data: Any, request: Request[Any, Any, State]) -> Answer:
        target = _target(action, data.target)
        values = {field.name: getattr(data, field.name) for field in fields_of(action.options)}
        [wanted] = requests(name, [target], values)
        return _carried_out(request, wanted, data)

    act.__annotations__["data"] = body
    act.__doc__ = "\n\n".join(filter(None, (action.help, action.more_help)))
    return post(
        f"/actions/{name.replace(' ', '/')}", summary=action.title, responses=RESPONSES,
        operation_id=name.replace(" ", "_").replace("-", "_"), guards=[only(role_of(name))],
        status_code=200, sync_to_thread=True,
    )(act)  # fmt: skip


@post("/jobs", summary="Submit a job file", operation_id="submit", guards=[only("operator")],
      responses=RESPONSES, status_code=200, sync_to_thread=True)  # fmt: skip
def submit(data: Submission, request: Request[Any, Any, State]) -> Answer:
    """Submit a job, as `d0ctl submit` does; with `dry_run`, check it and say what it has."""
    options = {"parameters": data.parameters, "name": data.name, "hold": data.hold,
               "force": data.force}  # fmt: skip
    [wanted] = requests("submit", [JobFile(data.name or "job", data.text)], options)
    return _carried_out(request, wanted, data)


def handlers() -> Sequence[HTTPRouteHandler]:
    """Return the handlers of all actions; a job file has its own way in."""
    names = [name for name in ACTIONS if ACTIONS[name].level != "job file"]
    return [submit, *(_handler(name) for name in names)]
