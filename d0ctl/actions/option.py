"""Options of actions: fields of a dataclass, from which the CLI and the dashboard are built."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import MISSING, dataclass, field, fields, replace
from datetime import datetime, timedelta
from typing import Any, Literal, NamedTuple, TypeVar

from d0ctl.errors import BadUsage
from d0ctl.units import format_size, format_time, parse_amount, parse_time, time_without_unit


class ValueType(NamedTuple):
    """How a value is read and written.

    `read` takes a text, or all the texts of an option that may be repeated, and raises
    ValueError; `write` returns such texts.
    """

    read: Callable[[Any], Any]
    write: Callable[[Any], Iterable[str]] = lambda value: [str(value)]


TEXT = ValueType(str)


@dataclass(frozen=True, slots=True)
class Option:
    """How people write a field of the options: its name, its help, and the type of its value."""

    name: str
    kind: Literal["flag", "value", "list", "argument", "arguments"]
    help: str
    metavar: str = ""
    type: ValueType = TEXT
    example: str = ""
    """A value that the dashboard shows as an example."""
    completes: str = ""
    """The names that TAB offers: `node`."""
    choices: tuple[str, ...] = ()
    log: Callable[[Any], Iterable[str]] | None = None
    """What the history records of the value; None for nothing: it may be a secret."""
    least: int | None = None
    """The smallest number that is accepted."""
    present: Callable[[Any, Any, float], str] | None = None
    """What it is now of a target in a store, for the dashboard to ask for another: `now 50`."""

    @property
    def is_argument(self) -> bool:
        """Whether it is written without its name."""
        return self.kind in ("argument", "arguments")


@dataclass(frozen=True, slots=True)
class Options:
    """The options of an action that has none; the others define a subclass."""


OptionsType = TypeVar("OptionsType", bound=Options)


class Field(NamedTuple):
    """A field of the options."""

    name: str
    option: Option
    default: Any


def flag(name: str, help: str, **more: Any) -> Any:
    """Make a field that is set by an option without a value; the history records it."""
    option = Option(name, "flag", help, log=lambda _: [""], **more)
    return field(default=False, metadata={"option": option})


def value(name: str, metavar: str, help: str, **more: Any) -> Any:
    """Make a field that is None unless its option is given."""
    option = Option(name, "value", help, metavar, **more)
    return field(default=None, metadata={"option": option})


def values(name: str, metavar: str, help: str, *, none: Callable[[], Any], **more: Any) -> Any:
    """Make a field whose option may be repeated; `none` makes its value if it is not given."""
    option = Option(name, "list", help, metavar, **more)
    return field(default_factory=none, metadata={"option": option})


def argument(metavar: str, help: str, **more: Any) -> Any:
    """Make a required field, whose value is written after the selectors."""
    return field(metadata={"option": Option(metavar, "argument", help, metavar, **more)})


def maybe_argument(metavar: str, help: str, **more: Any) -> Any:
    """Make a field that may be given after the target; it is None if it is not."""
    option = Option(metavar, "argument", help, metavar, **more)
    return field(default=None, metadata={"option": option})


def arguments(metavar: str, help: str, **more: Any) -> Any:
    """Make a field of all words after the target; there may be none."""
    option = Option(metavar, "arguments", help, metavar, type=NAMES, **more)
    return field(default=(), metadata={"option": option})


def fields_of(options: type[Options] | Options) -> list[Field]:
    """Return the fields that people can write, in the order of `--help`."""
    return [
        Field(each.name, each.metadata["option"],
              each.default if each.default_factory is MISSING else each.default_factory())
        for each in fields(options)
        if "option" in each.metadata
    ]  # fmt: skip


def read(
    kind: type[OptionsType], texts: Mapping[str, Any], *, are_fields_named: bool = False
) -> OptionsType:
    """Make options from texts by field; for a flag the value says whether it was given.

    Raises BadUsage; with `are_fields_named` it names the field in place of the option.
    """
    values: dict[str, Any] = {}
    for name, option, _ in fields_of(kind):
        written = texts.get(name)
        if (
            written is None
            or written is False
            or (not written and option.kind in ("list", "arguments"))
        ):
            continue
        try:
            values[name] = True if option.kind == "flag" else option.type.read(written)
        except ValueError as error:
            quoted = f"`{name}`" if are_fields_named else _quoted(option)
            raise BadUsage(f"{quoted}: {error}") from error
    return kind(**values)


def _quoted(option: Option) -> str:
    """Return the name of an option as messages have it; arguments have no name to type."""
    return option.name if option.is_argument else f"`{option.name}`"


def _known(options: Options) -> dict[str, tuple[str, Option]]:
    """Return the optional values by the word for each: the name of the field, and the option."""
    return {
        option.name.removeprefix("--"): (name, option)
        for name, option, _ in fields_of(options)
        if option.kind in ("value", "list")
    }


def are_values(options: Options, text: str) -> bool:
    """Return whether there are words, and all of them are for `read_words`, with a value each."""
    named = [word.removeprefix("--").partition("=") for word in text.split()]
    known = _known(options)
    return bool(named) and all(equals and name in known for name, equals, _ in named)


def read_words(options: OptionsType, text: str) -> OptionsType:
    """Read the optional values from words such as `memory=8GB`; flags and arguments stay.

    Raises BadUsage.
    """
    known = _known(options)
    texts: dict[str, Any] = {}
    unread = iter(text.split())
    for word in unread:
        written, equals, value = word.removeprefix("--").partition("=")
        if word == f"--{written}":
            value = equals = next(unread, "")  # as on the command line
        if written in known and not equals:
            option = known[written][1]
            raise BadUsage(f"`{written}` has no value",
                           hint=f"e.g. {written}={option.example or option.metavar}")  # fmt: skip
        if written not in known:
            raise BadUsage(
                f"`{word}` is not one of {', '.join(known)}", hint=f"e.g. {hint(options)}"
            )
        name, option = known[written]
        if option.kind == "list":
            texts.setdefault(name, []).append(value)
        else:
            texts[name] = value
    values = read(type(options), texts) if texts else None
    changes = {
        name: default if values is None else getattr(values, name)
        for name, option, default in fields_of(options)
        if option.kind in ("value", "list")
    }
    return replace(options, **changes)


def hint(options: type[Options] | Options) -> str:
    """Return examples for `read_words`; empty if an action has no optional values."""
    return " ".join(
        f"{option.name.removeprefix('--')}={option.example}"
        for _, option, _ in fields_of(options)
        if option.example
    )


def supplied(options: Options) -> Iterator[tuple[Option, Any]]:
    """Yield the options that were given, with their values."""
    for name, option, default in fields_of(options):
        if (value := getattr(options, name)) != default:
            yield option, value


def typed(options: Options) -> list[str]:
    """Return the words that give these options on the command line, arguments first."""
    arguments: list[str] = []
    for option, value in sorted(supplied(options), key=lambda pair: not pair[0].is_argument):
        if option.is_argument:
            arguments += option.type.write(value)
        elif option.kind == "flag":
            arguments.append(option.name)
        else:
            arguments += [word for text in option.type.write(value) for word in (option.name, text)]
    return arguments


def logged(options: Options) -> str:
    """Return what the history records of the options."""
    return " ".join(
        f"{'' if option.is_argument else option.name} {text}".strip()
        for option, found in supplied(options)
        if option.log is not None
        for text in option.log(found)
    )


def _positive(read: Callable[[str], Any]) -> Callable[[str], Any]:
    """Return a reader that refuses zero."""

    def read_positive(text: str) -> Any:
        if found := read(text):
            return found
        raise ValueError(f"it must be more than 0, not `{text}`")

    return read_positive


def _number(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 6):
        raise ValueError(f"`{text}` is not a number")
    return int(text)


def pairs(texts: Iterable[str]) -> dict[str, str]:
    """Read each NAME=VALUE. Raises ValueError."""
    found = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not (equals and name.strip()) or "\0" in text:
            raise ValueError(f"it takes NAME=VALUE, not `{text}`")
        found[name.strip()] = value
    return found


def write_pairs(found: Mapping[str, str]) -> list[str]:
    """Write each as NAME=VALUE."""
    return [f"{name}={value}" for name, value in found.items()]


def _time(text: str) -> float:
    """Read a time; a small number without a unit is hardly meant as seconds."""
    if meant := time_without_unit(text):
        raise ValueError(f"`{text}` would be {meant}")
    return parse_time(text)


def _clock(text: str) -> str:
    if not re.fullmatch(r"(?a)([01]?\d|2[0-3]):[0-5]\d", text.strip()):
        raise ValueError(f"`{text}` is not a time of day such as `21:30`")
    return text.strip()


def next_at(clock: str, now: float) -> float:
    """Return when it is next that time of day, in the local time zone."""
    hour, minute = map(int, clock.split(":"))
    at = datetime.fromtimestamp(now).replace(hour=hour, minute=minute, second=0, microsecond=0)
    return (at if at.timestamp() > now else at + timedelta(days=1)).timestamp()


SIZE = ValueType(_positive(parse_amount), lambda size: [format_size(size)])
TIME = ValueType(_positive(_time), lambda time: [format_time(time)])
NUMBER = ValueType(_positive(_number))
COUNT = ValueType(_number)
CLOCK = ValueType(_clock)
NAMES = ValueType(tuple, list)
