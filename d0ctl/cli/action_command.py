"""Commands of the actions, built from their table."""

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import MISSING, replace
from inspect import Parameter, Signature
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from d0ctl import actions, select
from d0ctl.actions import ACTIONS, Action, undo
from d0ctl.actions.action import AnyRequest, NodeName, Target, node_target
from d0ctl.actions.option import Option, fields_of, read
from d0ctl.actions.selection import one_by_one
from d0ctl.cli import changing, likely_words, obstacles, options, session
from d0ctl.cli.changing import (
    Changing,
    ChangingSeveral,
    Choosing,
    ChoosingFiles,
    Submitting,
    chosen_files,
    job_file,
    selection,
)
from d0ctl.cli.global_options import finished
from d0ctl.cli.terminal import completion
from d0ctl.cli.terminal.errors import report
from d0ctl.cli.terminal.fast_typer import single
from d0ctl.cli.terminal.output import emit, say
from d0ctl.cli.terminal.person import AtTerminal
from d0ctl.errors import D0Error, ExitCode, NotFound
from d0ctl.store.connection import Store
from d0ctl.store.jobs import audit
from d0ctl.units import clean


def _packages(offered: completion.Completer) -> Any:
    return Annotated[list[str], typer.Argument(
        metavar="SELECTOR", autocompletion=offered,
        help="Jobs, stages, lines or packages, as one selection: reco001, reco001/2/1-10, "
        "'reco001/2/*:failed'.",
    )]  # fmt: skip


def _part_of_job(help: str) -> Any:
    return Annotated[list[str], typer.Argument(
        metavar="JOB", autocompletion=completion.job_names, help=help,
    )]  # fmt: skip


TARGETS: dict[str, Any] = {
    "any": _packages(completion.selectors),
    "set-status": _packages(completion.targets_or_statuses),
    "line": Annotated[list[str], typer.Argument(
        metavar="LINE", autocompletion=completion.selectors,
        help="Lines, as one selection: reco001/1/4, reco001/1/1-10.",
    )],
    "job": Annotated[list[str], typer.Argument(
        metavar="JOB", autocompletion=completion.job_names, help="Jobs by name, or `*`.",
    )],
    "update": _part_of_job(
        "A job; with --again or --accept also a stage, line or package of one: reco001/2."
    ),
    "clone": _part_of_job("A job, or a stage, line or package of one: reco001, reco001/2."),
    "node": options.NodeName,
    "nodes": options.NodeNames,
    "new node": Annotated[str, typer.Argument(metavar="NAME", help="Name of the new node.")],
    "cluster": Annotated[str, typer.Argument(metavar="NAME", help="A cluster.")],
    "researcher": Annotated[
        str, typer.Argument(metavar="NAME", help="A researcher, or a new one.")
    ],
    "task": Annotated[
        str, typer.Argument(metavar="TASK", autocompletion=completion.job_names, help="A task.")
    ],
    "token": Annotated[str, typer.Argument(metavar="NAME", help="A token of the REST interface.")],
    "file": options.Files,
    "job file": options.JobFileOrCommand,
    "throttle": Annotated[
        list[str],
        typer.Argument(
            metavar="KIND NAME", help="node, researcher or job, and a name or a pattern."
        ),
    ],
}  # fmt: skip
"""What can be selected, by the level of an action, or its name."""


class Actions(TyperGroup):
    """A group of commands that also has the actions of its name."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return its own commands and the actions."""
        mine = f"{self.name} "
        return sorted({*self.commands, *(name.removeprefix(mine) for name in ACTIONS
                                         if name.startswith(mine))})  # fmt: skip

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return its own command, or that of an action; None if there is none of that name."""
        name = f"{self.name} {cmd_name}"
        if name in ACTIONS and cmd_name not in self.commands:
            self.commands[cmd_name] = finished(command(name), cmd_name)
        return self.commands.get(cmd_name)


def command(
    name: str, run: Callable[..., None] | None = None, more: Iterable[Parameter] = ()
) -> typer.Typer:
    """Return the command of an action; `run` does the work instead, with more options."""
    action, extra = ACTIONS[name], tuple(more)

    def start(target: Any, **values: Any) -> None:
        own = {option.name: values.pop(option.name) for option in extra}
        texts = {field.removesuffix("_"): text for field, text in values.items()}
        if isinstance(target, list | str):
            targets = [target] if isinstance(target, str) else target
            likely_words.refuse_swapped(action, targets, texts)
            likely_words.refuse_value(action, targets)
            likely_words.refuse(name, targets)
            if action.level == "any":
                likely_words.refuse_state(name, targets)
        request = AnyRequest(action, _target(action, target), read(action.options, texts),
                             AtTerminal())  # fmt: skip
        (run or carry_out)(request, **own)

    start.__signature__ = Signature([*_parameters(action), *extra])  # type: ignore[attr-defined]
    app = single()
    app.command(
        name.rpartition(" ")[2],
        cls=_CLASSES.get(action.level, Changing),
        help="\n\n".join(filter(None, (action.help, action.more_help))),
        epilog=f"Example: d0ctl {name} {action.example}\n\nExit status: {action.exit_status}.",
    )(start)
    return app


_CLASSES: dict[str, type[Changing]] = {
    "any": Choosing,
    "line": ChangingSeveral,
    "job": ChangingSeveral,
    "file": ChoosingFiles,
    "job file": Submitting,
}
"""Commands that take filters besides their target."""


def _target(action: Action[Any, Any], texts: Any) -> Target:
    match action.level:
        case "any":
            return selection(texts)
        case "line" | "job":
            return select.parse_all(texts)
        case "file":
            return chosen_files(texts)
        case "job file":
            return job_file(texts)
        case "node" if action.several:
            return node_target(texts)
        case "throttle":
            from d0ctl.actions.throttles.throttle_set import parse

            return parse(texts)
    return NodeName(texts)


def _parameters(action: Action[Any, Any]) -> Iterator[Parameter]:
    level = f"{action.level}s" if action.several else action.level
    yield parameter("target", TARGETS.get(action.name) or TARGETS[level])
    for field, option, default in fields_of(action.options):
        name = f"{field}_"  # a filter may have the name of a field, e.g. `status`
        if option.is_argument:
            taken = typer.Argument(metavar=option.metavar, help=option.help, show_default=False)
            kind = str | None if option.kind == "argument" else list[str] | None
            is_needed = default is MISSING
            yield parameter(name, Annotated[str if is_needed else kind, taken],
                            Parameter.empty if is_needed else None)  # fmt: skip
        else:
            yield parameter(name, Annotated[_KINDS[option.kind], _option(option)], _unset(option))


_KINDS: dict[str, Any] = {"flag": bool, "value": str | None, "list": list[str] | None}


def _unset(option: Option) -> Any:
    return False if option.kind == "flag" else None


def _option(option: Option) -> Any:
    if option.kind == "flag":
        return typer.Option(option.name, help=option.help)
    offered = completion.node_names if option.completes == "node" else None
    offered = completion.parameters if option.name == "--set" else offered
    return typer.Option(option.name, metavar=option.metavar, help=option.help,
                        autocompletion=offered)  # fmt: skip


def parameter(name: str, annotation: Any, default: Any = Parameter.empty) -> Parameter:
    """Return a parameter of a command."""
    return Parameter(name, Parameter.KEYWORD_ONLY, annotation=annotation, default=default)


def carry_out(request: AnyRequest[Any, Any]) -> None:
    """Show the plan or apply it; a person on a terminal is asked first if the action says so.

    With --keep-going, the same for each job and selector, but one archive for all; exits with the
    code of the first failure.
    """
    if not changing.keeps_going():
        _carry_out(request)
        return
    with opened(request) as store:
        wanted = [replace(request, target=part) for part in one_by_one(store, request.target)]
        requests, errors = actions.together(store, wanted, now=time.time())
    code = errors[0].exit_code if errors else ExitCode.DONE
    for error in errors:
        report(error)
    for part in requests:
        try:
            _carry_out(part)
        except D0Error as error:
            report(error)
            code = code or error.exit_code
    if code:
        raise typer.Exit(code)


def _carry_out(request: AnyRequest[Any, Any]) -> None:
    action = request.action
    if changing.is_rehearsal():
        for line in actions.describe(rehearse(request)):
            emit(line)
        return
    with opened(request) as store:
        plan = act(store, request)
        obstacle = (obstacles.sentence(store, plan) if action.starts_packages
                    else obstacles.undelivered(store, plan))  # fmt: skip
    for line in actions.report(plan):
        emit(line)
    if action.notice:
        say(action.notice)
    if undoing := undo.sentence(plan):
        say(clean(undoing))
    if obstacle:
        say(obstacle)


def opened(request: AnyRequest[Any, Any]) -> AbstractContextManager[Store]:
    """Open the store for an action. Raises NotFound for a node if there is no home."""
    action = request.action
    if action.may_be_first:
        return session.open_or_create()
    if action.level == "node" and not session.has_home():
        raise NotFound(f"there is no node `{request.target.arguments[0]}`",
                       hint="d0ctl node add NAME [user@]host")  # fmt: skip
    return session.writer()


def rehearse(request: AnyRequest[Any, Any]) -> Any:
    """Plan an action and change nothing."""
    with changing.rehearsal() if request.action.may_be_first else opened(request) as store:
        return actions.preview(store, request, now=time.time())


def act(store: Store, request: AnyRequest[Any, Any]) -> Any:
    """Apply an action; if it asks first, only if a person on a terminal agrees.

    It is refused if another person has changed the same packages since it began.
    """
    action, seen = request.action, audit.latest(store)
    if action.question and not changing.is_confirmed():
        plan = actions.preview(store, request, now=time.time())
        changing.confirm(plan.request.action.question, actions.describe(plan))
    try:
        return actions.apply(store, request, actor=session.actor(), note=changing.reason(),
                             now=time.time(), seen=seen)  # fmt: skip
    finally:
        if isinstance(request.person, AtTerminal):
            request.person.end()
