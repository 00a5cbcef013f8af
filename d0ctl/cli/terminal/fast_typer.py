"""Typer, converting words into values without pydantic, and with errors in d0ctl's words.

The import of pydantic would cost each call, and each TAB, more than everything else.
"""

import re
import shlex
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperGroup

from d0ctl.errors import BadUsage

_UsageError: Any = typer.BadParameter.__base__
"""The error that Typer raises for all wrong usage; it exports only this kind of it."""

_OUR_WORDS = (
    (r"^(No such command '.+?')\..*", r"\1"),
    (r"'([^']+)'", r"`\1`"),
    (r"^No such option: (\S+)", r"no such option `\1`"),
    (r" \(Possible options: ([^,)]+).*\)$", r": did you mean `\1`?"),
    (r"\. Did you mean", ": did you mean"),
    (r"^Got unexpected extra argument\S* \((.+)\)$", r"unexpected argument `\1`"),
    (r"\.$", ""),
)
"""What its messages become: one line like all others."""


_NO_COMMAND = re.compile(r"No such command '(.+?)'")
_EXTRA = re.compile(r"Got unexpected extra argument\S* \((.+)\)")

_KINDS: dict[Any, Callable[[Any], Any]] = {
    str: str, int: int, float: float, bool: bool, Path: Path,
}  # fmt: skip

LEAST_PREFIX = 3
"""From how many letters on the beginning of an option is enough to guess it."""

_NUMBERS = {int: "integer", float: "number"}


def single() -> typer.Typer:
    """Return the app of one command."""
    return typer.Typer(add_completion=False, rich_markup_mode=None)


def group(help: str, cls: type[TyperGroup] = TyperGroup) -> typer.Typer:
    """Return the app of a command that has commands of its own."""
    return typer.Typer(cls=cls, add_completion=False, rich_markup_mode=None, no_args_is_help=True,
                       help=help)  # fmt: skip


def built(app: typer.Typer) -> Any:
    """Return the command of an app; a group of one command stays a group."""
    if app.info.no_args_is_help is True:
        return typer.main.get_group(app)
    return typer.main.get_command(app)


class Plain:
    """Stands for Typer's way to convert the value of one parameter."""

    def __init__(self, kind: Any, least: float | None, most: float | None) -> None:
        self._kind, self._least, self._most = kind, least, most

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        """Return the value, or BadParameter as Typer would raise it."""
        if param.multiple or param.nargs == -1:
            return tuple(self._convert(each, param, ctx) for each in value or ())
        return None if value is None else self._convert(value, param, ctx)

    def _convert(self, value: Any, param: Any, ctx: Any) -> Any:
        try:
            converted = _KINDS[self._kind](value)
        except ValueError as error:
            raise typer.BadParameter(
                f"{value!r} is not a valid {_NUMBERS[self._kind]}.", ctx=ctx, param=param
            ) from error
        if self._least is not None and not converted >= self._least:
            raise typer.BadParameter(f"{value} is less than {self._least}.", ctx=ctx, param=param)
        if self._most is not None and not converted <= self._most:
            raise typer.BadParameter(f"{value} is more than {self._most}.", ctx=ctx, param=param)
        return converted


def convert_plain_values(command: Any) -> None:
    """Let a command and its subcommands convert plain values themselves, also those of --help."""
    get_params = command.get_params
    command.get_params = lambda ctx: plain(get_params(ctx))
    for part in getattr(command, "commands", {}).values():
        convert_plain_values(part)


def plain(parameters: list[Any]) -> list[Any]:
    """Return the same parameters: plain values avoid pydantic, and arguments show no type."""
    for parameter in parameters:
        if parameter.param_type_name == "argument":
            parameter.display_type_rich = lambda ctx: None  # its name says more than its type
        descriptor = getattr(parameter, "type_descriptor", None)
        kind = getattr(descriptor, "annotation", None)
        if kind == list[str]:
            kind = str
        if descriptor is not None and kind in _KINDS:
            info = descriptor.parameter_info
            found = Plain(kind, info.min, info.max)
            parameter.get_runtime_param = lambda found=found: found
    return parameters


@contextmanager
def reworded_usage_errors() -> Iterator[None]:
    """Raise BadUsage for words that Typer refuses; a group without a command shows its help."""
    try:
        yield
    except _UsageError as error:
        if type(error).__name__ == "NoArgsIsHelpError":
            raise
        _drop_far_guesses(error)
        hint = _meant(error) or _help_of(error.ctx)
        message = error.format_message()
        for pattern, ours in _OUR_WORDS:
            message = re.sub(pattern, ours, message)
        message = message[:1].lower() + message[1:]
        raise BadUsage(message, hint=hint) from error


def _drop_far_guesses(error: Any) -> None:
    """Keep only the options that a misspelt one may be: Typer takes `--all` for `--wall-time`."""
    if guesses := getattr(error, "possibilities", None):
        from d0ctl.jobfile.yaml.faults import near

        typed = error.option_name.strip("-")
        is_long = len(typed) >= LEAST_PREFIX
        error.possibilities = [
            guess for guess in guesses if near(typed, [guess.strip("-")], 0.7)
            or (is_long and guess.startswith(f"--{typed}"))
        ]  # fmt: skip


def with_help(command: Any) -> None:
    """Add a hint at its help to a command that finds wrong usage itself and has no better hint.

    An option without its value, too, is then known to be one of this command.
    """
    run, parse, make_parser = command.invoke, command.parse_args, command.make_parser

    def with_one_value(context: Any) -> Any:
        parser = make_parser(context)
        read = parser.parse_args

        def parsed(args: list[str]) -> Any:
            found = read(args=args)
            if not context.resilient_parsing:  # TAB asks, too
                _refuse_twice(found[2], context)
            return found

        parser.parse_args = parsed
        return parser

    def parse_args(context: Any, arguments: list[str]) -> Any:
        try:
            return parse(context, arguments)
        except _UsageError as error:
            error.ctx = error.ctx or context
            raise

    def invoke(context: Any) -> Any:
        try:
            return run(context)
        except BadUsage as error:
            error.hint = error.hint or _help_of(context)
            raise

    command.parse_args, command.invoke, command.make_parser = parse_args, invoke, with_one_value


def _refuse_twice(options: list[Any], context: Any) -> None:
    """Raise a usage error if one of these options has two values: only the last would count."""
    seen = set[str]()
    for option in options:
        if option.param_type_name == "option" and not (option.multiple or option.is_flag):
            if option.name in seen:
                raise _UsageError(
                    f"`{option.opts[0]}` takes one value, and is given twice", context
                )
            seen.add(option.name)


_OPTIONS = {"--name": "--as", "--tail": "--lines", "--last": "--lines", "--param": "--set",
            "--parameter": "--set", "--why": "--reason", "--comment": "--reason",
            "--dir": "--copy", "--on": "--node", "--nodes": "--node"}  # fmt: skip
"""Options that people type, and those that a command has for it."""

_SYNONYMS = {
    "del": "remove", "delete": "remove", "ls": "list", "rm": "remove", "stat": "status",
    "undrain": "resume",
}  # fmt: skip
"""Commands of other programs, and those that do it here; words that are near to their opposite."""


def _meant(error: Any) -> str | None:
    """Return a hint at the command of a group, or at the option, that was probably meant."""
    message = error.format_message()
    extra, typed = _EXTRA.match(message), _NO_COMMAND.match(message)
    if not error.ctx:
        return None
    if synonym := _synonym(error):
        return synonym
    if extra and (part := _part(error.ctx, extra[1])):
        return part
    if extra and any("--node" in parameter.opts for parameter in error.ctx.command.params):
        from d0ctl.cli import likely_words  # late: it imports the actions

        others = extra[1].split()
        if any(likely_words.is_selector(word) for word in others):
            return f"one at a time: type the command again for {shlex.join(others)}"
        options = " ".join(f"--node {name}" for name in others)
        return f"if these are nodes: {options}"
    if extra and any("--shell" in parameter.opts for parameter in error.ctx.command.params):
        return f"{error.ctx.command_path} --shell {extra[1]}"
    if typed is None:
        return None
    from d0ctl.jobfile.yaml.faults import near

    commands, path = error.ctx.command.list_commands(error.ctx), error.ctx.command_path
    if path.endswith(" policy") and typed[1] in ("add", "change", "edit", "list", "set"):
        return ("d0ctl site show   # policies are in the site file; `d0ctl site apply FILE` "
                "changes them")  # fmt: skip
    meant = near(_SYNONYMS.get(typed[1], typed[1]), commands)
    return f"did you mean `{path} {meant}`?" if meant else None


def _synonym(error: Any) -> str | None:
    """Return a hint at the option that has another name in other programs."""
    typed = getattr(error, "option_name", "")
    ours = _OPTIONS.get(typed)
    has = {option for parameter in error.ctx.command.params for option in parameter.opts}
    if typed == "--nodes" and has >= {"--on", "--node"}:
        error.possibilities = None  # the message would name one of them
        return "`--on NODE` says where to run, `--node NODE` chooses packages that are there"
    if ours in (getattr(error, "possibilities", None) or ()):
        return None  # the message names it
    has_it = ours in has
    return f"did you mean `{ours}`?" if ours and has_it else None


def _part(context: Any, word: str) -> str | None:
    """Return a hint at the stage or file of a job that was typed as a word of its own."""
    kinds = {parameter.name: parameter.param_type_name for parameter in context.command.params}
    job = next((context.params.get(name) for name in kinds if kinds[name] == "argument"), None)
    if not isinstance(job, str) or not job or " " in word:
        return None
    from d0ctl.cli import likely_words  # late: it imports the actions

    return likely_words.part_of(context.command_path, job, word)


def _help_of(context: Any) -> str:
    return f"{context.command_path if context else 'd0ctl'} --help"
