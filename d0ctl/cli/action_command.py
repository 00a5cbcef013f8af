"""Commands of the actions, built from their table."""

import time
from collections.abc import Iterator
from inspect import Parameter, Signature
from typing import Annotated, Any

import typer

from d0ctl import actions, select
from d0ctl.actions import ACTIONS, Action, Request
from d0ctl.actions.option import Option, fields_of, read
from d0ctl.cli import changing, session
from d0ctl.cli.changing import Changing, Choosing, chosen
from d0ctl.cli.terminal import completion
from d0ctl.cli.terminal.output import emit, say
from d0ctl.errors import BadUsage
from d0ctl.store.nodes.standstill import any_driver
from d0ctl.units import clean

EXIT_STATUS = "Exit status: 0 done, 2 bad usage, 3 nothing matches, 4 refused in this state."

TARGETS: dict[str, Any] = {
    "any": Annotated[
        list[str],
        typer.Argument(
            metavar="SELECTOR",
            autocompletion=completion.selectors,
            help="Jobs, stages, lines or packages, as one selection: reco001, reco001/2/1-10, "
            "'reco001/2/*:failed'.",
        ),
    ],
    "line": Annotated[
        list[str],
        typer.Argument(
            metavar="LINE",
            autocompletion=completion.selectors,
            help="Lines, as one selection: reco001/1/4, reco001/1/1-10.",
        ),
    ],
    "job": Annotated[
        list[str],
        typer.Argument(
            metavar="JOB", autocompletion=completion.job_names, help="Jobs by name, or `*`."
        ),
    ],
}
"""What is selected, by the level of an action."""


def command(name: str) -> typer.Typer:
    """Return the command of an action."""
    action = ACTIONS[name]

    def run(selector: list[str], **given: Any) -> None:
        texts = {field.removesuffix("_"): text for field, text in given.items()}
        _refuse_swapped(action, selector, texts)
        target = chosen(selector) if action.level == "any" else select.parse_all(selector)
        carry_out(action.request(target, read(action.options, texts)))

    run.__signature__ = Signature(list(_parameters(action)))  # type: ignore[attr-defined]
    app = typer.Typer(add_completion=False, rich_markup_mode=None)
    app.command(
        name,
        cls=Choosing if action.level == "any" else Changing,
        help="\n\n".join(filter(None, (action.help, action.more_help))),
        epilog=f"Example: d0ctl {name} {action.example}\n\n{EXIT_STATUS}",
    )(run)
    return app


def _refuse_swapped(action: Action[Any, Any], selectors: list[str], texts: dict[str, Any]) -> None:
    """Raise BadUsage if the value of an argument comes before the selector."""
    for field, option, _ in fields_of(action.options):
        if selectors[0] in option.choices and "/" in texts[field]:
            raise BadUsage(
                f"the selector comes before the {option.metavar.lower()}",
                hint=f"d0ctl {action.name} {texts[field]} {selectors[0]}",
            )


def _parameters(action: Action[Any, Any]) -> Iterator[Parameter]:
    yield _parameter("selector", TARGETS[action.level])
    for field, option, _ in fields_of(action.options):
        name = f"{field}_"  # a filter may have the name of a field, as `status`
        if option.kind == "argument":
            taken = typer.Argument(metavar=option.metavar, help=option.help)
            yield _parameter(name, Annotated[str, taken])
        else:
            yield _parameter(name, Annotated[_KINDS[option.kind], _option(option)], _unset(option))


_KINDS: dict[str, Any] = {"flag": bool, "value": str | None, "list": list[str] | None}


def _unset(option: Option) -> Any:
    return False if option.kind == "flag" else None


def _option(option: Option) -> Any:
    if option.kind == "flag":
        return typer.Option(option.name, help=option.help)
    offered = completion.node_names if option.completes == "node" else None
    return typer.Option(option.name, metavar=option.metavar, help=option.help,
                        autocompletion=offered)  # fmt: skip


def _parameter(name: str, annotation: Any, default: Any = Parameter.empty) -> Parameter:
    return Parameter(name, Parameter.KEYWORD_ONLY, annotation=annotation, default=default)


def carry_out(request: Request[Any]) -> None:
    """Show the plan or apply it; a person on a terminal is asked before if the action says so.

    It is refused if somebody has changed the same packages since it began.
    """
    action = request.action
    with session.writer() as store:
        seen = actions.latest(store)
        if changing.is_rehearsal():
            for line in actions.describe(actions.preview(store, request, now=time.time())):
                emit(line)
            return
        if action.question and not changing.is_confirmed():
            plan = actions.preview(store, request, now=time.time())
            changing.confirm(action.question, actions.describe(plan))
        plan = actions.apply(store, request, actor=session.actor(), note=changing.reason(),
                             now=time.time(), seen=seen)  # fmt: skip
        is_driven = not action.starts_packages or any_driver(store)
    for line in actions.report(plan):
        emit(line)
    if plan.undo:
        say(clean(f"to undo: {plan.undo}"))
    if plan.packages and not is_driven:
        say("no daemon is running, so nothing new starts: d0ctl daemon start")
