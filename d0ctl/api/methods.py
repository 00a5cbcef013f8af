"""Methods of classes that are made from the table of actions."""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING
from inspect import Parameter, Signature
from os import PathLike
from typing import Any, TypeVar

from d0ctl.actions.action import Action, NodeName, Target
from d0ctl.actions.option import Field, fields_of
from d0ctl.actions.table import ACTIONS
from d0ctl.api.carry_out import carry_out_each, requests
from d0ctl.api.done import Done
from d0ctl.config import Home, find_home

BY_HAND = {"clone", "submit"}
"""Actions that return a job: their methods are written by hand."""

ActingClass = TypeVar("ActingClass", bound="type[Acting]")


class Acting(ABC):
    """What actions are methods of; `reason` is recorded; with `dry_run` nothing is done.

    Each method raises NotFound, Refused or BadUsage as its command does. With `keep_going`, what
    is refused is in `failures` of the result, and the others are done.
    """

    home: Home

    @abstractmethod
    def _targets(self, keep_going: bool) -> Iterable[Target]:
        """Return what an action is carried out on, one after the other."""

    def _act(
        self,
        name: str,
        options: Mapping[str, Any],
        reason: str | None,
        dry_run: bool,
        keep_going: bool = False,
    ) -> Done:
        wanted = requests(name, self._targets(keep_going), options)
        return carry_out_each(self.home, wanted, reason, dry_run, keep_going)


class Named(Acting):
    """Something of a home with a name, e.g. a cluster."""

    def __init__(self, name: str, *, home: str | PathLike[str] | None = None) -> None:
        self.name, self.home = name, find_home(home)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"

    def _targets(self, keep_going: bool) -> list[NodeName]:
        return [NodeName(self.name)]


def acting_on(kind: str) -> Callable[[ActingClass], ActingClass]:
    """Give a class the actions whose names begin with this word, as methods."""

    def give(cls: ActingClass) -> ActingClass:
        for name in ACTIONS:
            word, _, verb = name.rpartition(" ")
            if word == kind and name not in BY_HAND:
                setattr(cls, verb.replace("-", "_"), _Unread(cls, name))
        return cls

    return give


class _Unread:
    """Stands for the method of an action, which is imported when the method is used."""

    def __init__(self, cls: type[Acting], name: str) -> None:
        self._class, self._name = cls, name

    def __get__(self, instance: Acting | None, owner: type[Acting]) -> Any:
        method = _method(ACTIONS[self._name])
        method.__qualname__ = f"{self._class.__qualname__}.{method.__name__}"
        setattr(self._class, method.__name__, method)
        return method if instance is None else getattr(instance, method.__name__)


def _method(action: Action[Any, Any]) -> Callable[..., Done]:
    fields = fields_of(action.options)
    signature = _signature(fields)

    def method(*values: Any, **named: Any) -> Done:
        bound = signature.bind(*values, **named)
        bound.apply_defaults()
        options = bound.arguments
        acting, common = options.pop("self"), [options.pop(option.name) for option in _COMMON]
        done: Done = acting._act(action.name, options, *common)
        return done

    method.__name__ = action.name.rpartition(" ")[2].replace("-", "_")
    method.__doc__ = "\n".join([_sentence(action.help), *_described(fields)])
    method.__signature__ = signature  # type: ignore[attr-defined]
    return method


_SELF = Parameter("self", Parameter.POSITIONAL_OR_KEYWORD)
_COMMON = (
    Parameter("reason", Parameter.KEYWORD_ONLY, default=None, annotation=str | None),
    Parameter("dry_run", Parameter.KEYWORD_ONLY, default=False, annotation=bool),
    Parameter("keep_going", Parameter.KEYWORD_ONLY, default=False, annotation=bool),
)
"""The options of every action."""


def _signature(fields: Sequence[Field]) -> Signature:
    own = sorted(map(_parameter, fields), key=lambda parameter: parameter.kind)
    return Signature([_SELF, *own, *_COMMON], return_annotation=Done)


def _parameter(field: Field) -> Parameter:
    kind, default = _type(field)
    is_word = field.option.is_argument
    how = Parameter.POSITIONAL_OR_KEYWORD if is_word else Parameter.KEYWORD_ONLY
    return Parameter(field.name, how, default=default, annotation=kind)


def _type(field: Field) -> tuple[Any, Any]:
    """Return the type of an option, and its value if it is not given."""
    match field.option.kind:
        case "flag":
            return bool, False
        case "list" if field.default == {}:
            return Mapping[str, object] | None, None
        case "list" | "arguments":
            return str | Sequence[str], ()
        case "argument":
            return (str | int, Parameter.empty) if field.default is MISSING else (str | None, None)
    return str | float | None, None


def _sentence(text: str) -> str:
    """Return a sentence of the command line, with options as arguments are written."""
    return re.sub(r"--([a-z-]+)", lambda option: f"`{option[1].replace('-', '_')}`", text)


def _described(fields: Sequence[Field]) -> Iterator[str]:
    if fields:
        yield ""
        yield from (f"{field.name}: {_sentence(field.option.help)}" for field in fields)
