"""The request of the command that undoes an action, as the history keeps it."""

import shlex
from collections.abc import Sequence
from dataclasses import MISSING
from typing import Any

from d0ctl.actions import ACTIONS
from d0ctl.actions.action import AnyRequest, Target
from d0ctl.actions.option import Field, Options, fields_of, read
from d0ctl.errors import BadUsage
from d0ctl.select import parse_all
from d0ctl_tui import run_action

ON_ROWS = ("any", "line", "job")


def request_of(command: str) -> AnyRequest[Any, Any]:
    """Return the request of a command line. Raises BadUsage if it is not that of one action."""
    arguments = shlex.split(command)[1:]
    names = (" ".join(arguments[:number]) for number in (2, 1))
    verb = next((name for name in names if name in ACTIONS), "")
    if not verb:
        raise BadUsage(f"`{command}` is no action")
    texts, rest = _options(fields_of(ACTIONS[verb].options), arguments[len(verb.split()) :])
    target, values = _target(verb, rest)
    options: Options = read(ACTIONS[verb].options, texts | values)
    request = AnyRequest(ACTIONS[verb], target, options)
    if request.arguments()[1:] != arguments:
        raise BadUsage(f"`{command}` is more than an action")
    return request


def _options(fields: Sequence[Field], arguments: Sequence[str]) -> tuple[dict[str, Any], list[str]]:
    """Return the texts of options by field, and the other words."""
    by_name = {field.option.name: field for field in fields if not field.option.is_argument}
    texts: dict[str, Any] = {}
    rest: list[str] = []
    left = iter(arguments)
    for word in left:
        if word not in by_name:
            rest.append(word)
            continue
        name, option, _ = by_name[word]
        match option.kind:
            case "flag":
                texts[name] = True
            case "list":
                texts.setdefault(name, []).append(next(left, ""))
            case _:
                texts[name] = next(left, "")
    return texts, rest


def _target(verb: str, arguments: Sequence[str]) -> tuple[Target, dict[str, Any]]:
    """Return the target that they name, and the texts of the argument after it."""
    fields = fields_of(ACTIONS[verb].options)
    argument = next((field for field in fields if field.option.is_argument), None)
    if ACTIONS[verb].level in ON_ROWS:
        number = len(arguments) - (argument is not None and argument.default is MISSING)
        target: Target = parse_all(arguments[:number])
    else:
        number = 2 if ACTIONS[verb].level == "throttle" else 1
        number = len(arguments) if ACTIONS[verb].several else number
        target = run_action.target(verb, " ".join(arguments[:number]))
    rest = list(arguments[number:])
    if argument is None or not rest:
        return target, {}
    return target, {argument.name: rest if argument.option.kind == "arguments" else rest[0]}
