"""The options of every command that changes something.

Such a command is declared by `@app.command(cls=Changing)`, or by `cls=Choosing` if it acts on
packages. It does not list these options itself: it calls `reason`, `is_rehearsal`, `confirm`,
`selection`, `chosen_files` and `job_file`.
"""

import sys
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from copy import copy
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand
from typer.exceptions import TyperException

from d0ctl import select
from d0ctl.cli import likely_words, options, session
from d0ctl.cli.terminal.fast_typer import single
from d0ctl.cli.terminal.output import can_ask, confirmed, say
from d0ctl.errors import BadUsage, ExitCode
from d0ctl.store import opening
from d0ctl.store.connection import Store

if TYPE_CHECKING:
    from d0ctl.actions.file_choice import FileChoice
    from d0ctl.actions.jobs.submit import JobFile

_options: dict[str, Any] = {}
"""The values of the options of this call, by name."""


def _keep(context: typer.Context, parameter: typer.CallbackParam, value: Any) -> None:
    _options[str(parameter.name)] = value


def _recorded(annotated: Any) -> Any:
    """Return the same option, but its value is kept in `_options` and not passed to the command."""
    kind, option = annotated.__args__[0], copy(annotated.__metadata__[0])
    option.callback, option.expose_value = _keep, False
    return Annotated[kind, option]


_table = single()


@_table.command("change", add_help_option=False)
def _of_a_change(
    reason: _recorded(options.Because) = None,  # type: ignore[valid-type]
    dry_run: _recorded(options.DryRun) = False,  # type: ignore[valid-type]
    yes: _recorded(options.Yes) = False,  # type: ignore[valid-type]
) -> None:
    """The options of every command that changes something."""


@_table.command("choose", add_help_option=False)
def _of_a_choice(
    status: _recorded(options.Status) = None,  # type: ignore[valid-type]
    node: _recorded(options.Node) = None,  # type: ignore[valid-type]
    older_than: _recorded(options.OlderThan) = None,  # type: ignore[valid-type]
    failed_for: _recorded(options.FailedFor) = None,  # type: ignore[valid-type]
) -> None:
    """The filters of every command that changes packages."""


@_table.command("several", add_help_option=False)
def _of_several(
    keep_going: _recorded(options.KeepGoing) = False,  # type: ignore[valid-type]
) -> None:
    """The option of every command that changes several jobs or parts of them."""


@_table.command("files", add_help_option=False)
def _of_files(
    node: _recorded(options.OnNode) = None,  # type: ignore[valid-type]
    disposition: _recorded(options.OfDisposition) = None,  # type: ignore[valid-type]
) -> None:
    """The filters of every command that changes files."""


@_table.command("command", add_help_option=False)
def _of_a_command(
    array: _recorded(options.Array) = None,  # type: ignore[valid-type]
    each_line: _recorded(options.EachLine) = None,  # type: ignore[valid-type]
    stdin: _recorded(options.Stdin) = False,  # type: ignore[valid-type]
    input: _recorded(options.CommandInputs) = None,  # type: ignore[valid-type]
    output: _recorded(options.CommandOutputs) = None,  # type: ignore[valid-type]
    cpus: _recorded(options.CommandCpus) = None,  # type: ignore[valid-type]
    gpus: _recorded(options.CommandGpus) = None,  # type: ignore[valid-type]
    memory: _recorded(options.CommandMemory) = None,  # type: ignore[valid-type]
    wall_time: _recorded(options.CommandTime) = None,  # type: ignore[valid-type]
) -> None:
    """The options of every command that makes a job from a command."""


class Changing(TyperCommand):
    """A command that changes something: it takes `--reason`, `--dry-run` and `--yes`."""

    tables: tuple[str, ...] = ("change",)

    def __init__(self, *args: Any, **attributes: Any) -> None:
        super().__init__(*args, **attributes)
        commands = typer.main.get_group(_table).commands
        for name in self.tables:
            known = {option for own in self.params for option in own.opts}
            self.params += [p for p in commands[name].params if not known & set(p.opts)]

    def parse_args(self, context: Any, args: list[str]) -> list[str]:
        """Read the words; if one word is given for two arguments, the last argument is missing."""
        has_word = any(not word.startswith("-") for word in args)
        if "--" not in args:  # then the words behind are those of a command
            likely_words.refuse_parameter(args)
        try:
            return super().parse_args(context, args)
        except typer.BadParameter as error:
            last = [param for param in self.params if param.param_type_name == "argument"][-1]
            if has_word and error.param in self.params and getattr(error.param, "nargs", 1) == -1:
                error.param = last  # type: ignore[assignment]
            raise

    def invoke(self, context: Any) -> Any:
        """Run, and forget what was given."""
        try:
            return super().invoke(context)
        finally:
            _options.clear()


class ChangingSeveral(Changing):
    """A command that changes jobs or lines: it takes `--keep-going`, too."""

    tables = ("several", "change")


class Choosing(Changing):
    """A command that changes packages: it takes the filters of a selector, too."""

    tables = ("choose", "several", "change")


class ChoosingFiles(Changing):
    """A command that changes files: it takes the filters of files, too."""

    tables = ("files", "change")


class Submitting(Changing):
    """A command that submits a job file, or after `--` the words of a command."""

    tables = ("command", "change")

    def parse_args(self, context: Any, args: list[str]) -> list[str]:
        """Take out the words after `--`; the program takes the place of the job file."""
        _options["words"] = ()
        typed = [*args]
        if "--" in args:
            args = self._without_command(args)
        try:
            return super().parse_args(context, args)
        except TyperException as error:
            if type(error).__name__ == "MissingParameter":
                problem = "give a job file, or a command after `--`"
            elif "unexpected extra argument" not in str(error):
                raise
            elif has_command():
                problem = "give a job file, or a command after `--`, not both"
            else:
                likely_words.refuse_parameter(typed)
                likely_words.refuse_words(context.info_name, typed)
                problem = "one job file at a time; the words of a command come after `--`"
            raise BadUsage(problem, hint=_HOW.replace("submit", context.info_name)) from error

    def _without_command(self, args: list[str]) -> list[str]:
        """Return the words before `--`, with the program as the only argument."""
        at = args.index("--")
        arguments, before = args[at + 1 :], args[:at]
        for option, marker, length in _AT_THE_END:
            while option in arguments[-length:][:1] and marker in " ".join(arguments[:-length]):
                before, arguments = before + arguments[-length:], arguments[:-length]
        if not arguments:
            raise BadUsage("there is no command after `--`", hint=_HOW)
        _options["words"] = tuple(arguments)
        return [*before, "--", arguments[0]]


_HOW = "d0ctl submit --array 1-200 -- ./sim.sh {n}"

_AT_THE_END = (("--array", "{n", 2), ("--each-line", "{line", 2), ("--stdin", "{line", 1))
"""Options that may also stand after a command with their placeholder."""


def reason() -> str | None:
    """Return the reason that was given for the change."""
    return _options.get("reason")


def is_rehearsal() -> bool:
    """Return whether the command should only say what it would change."""
    return bool(_options.get("dry_run"))


def keeps_going() -> bool:
    """Return whether the command continues with other selectors after one that is refused."""
    return bool(_options.get("keep_going"))


def is_confirmed() -> bool:
    """Return whether the person asked not to be asked, or nobody is there to answer."""
    return bool(_options.get("yes")) or not can_ask()


def confirm(question: str, lines: Iterable[str] = ()) -> None:
    """Ask a person on a terminal, below these lines; a no ends the command with exit code 1."""
    if is_confirmed():
        return
    for line in lines:
        say(line)
    with asking():
        if not confirmed(question):
            raise EOFError


@contextmanager
def asking() -> Iterator[None]:
    """Ask a person; an interrupt, or EOFError for no answer, ends the command before its work."""
    try:
        yield
    except KeyboardInterrupt:
        say("\nnothing was done")
        raise typer.Exit(ExitCode.INTERRUPTED) from None
    except EOFError:
        say("nothing was done")
        raise typer.Exit(ExitCode.FAILED) from None


def selection(selectors: Iterable[str]) -> select.Selector:
    """Return the selection of these selectors and the filters that were given. Raises BadUsage."""
    likely_words.refuse_comment(reason(), _options.get("failed_for"))
    return select.parse_all(
        selectors,
        status=_options.get("status") or (),
        reason=_options.get("failed_for"),
        node=_options.get("node"),
        older_than=_options.get("older_than"),
    )


def chosen_files(text: str) -> "FileChoice":
    """Return the files of this name and the filters that were given. Raises BadUsage."""
    from d0ctl.actions.file_choice import parse

    return parse(text, node=_options.get("node"), disposition=_options.get("disposition"))


def has_command() -> bool:
    """Return whether a command was given in place of a job file."""
    return bool(_options.get("words"))


def job_file(text: str) -> "JobFile":
    """Return the job file of this name, or one made from the given command. Raises BadUsage."""
    from d0ctl.actions.jobs.submit import JobFile
    from d0ctl.units import REQUESTS

    keys = (*REQUESTS, "wall_time")
    requests = {key.replace("_", "-"): _options[key] for key in keys if _options.get(key)}
    ways = ("array", "each_line", "stdin", "input", "output")
    if not (arguments := _options.get("words")):
        if used := [*(way.replace("_", "-") for way in ways if _options.get(way)), *requests]:
            key = f"; in a job file `{used[0]}` is a key of a package" * (used[0] in requests)
            raise BadUsage(f"--{used[0]} needs a command after `--`{key}", hint=_HOW)
        return JobFile(text, sys.stdin.read() if text == "-" else None)
    from d0ctl.jobfile.command import Command

    command = Command(
        arguments=arguments,
        array=_options["array"],
        each_line=_options["each_line"],
        lines=tuple(line for line in sys.stdin.read().splitlines() if line.strip())
        if _options["stdin"] else None,
        inputs=tuple(_options["input"] or ()),
        outputs=tuple(_options["output"] or ()),
        settings=tuple(requests.items()),
    )  # fmt: skip
    return JobFile(command.name, command.text(Path.cwd()), is_command=True)


def rehearsal() -> AbstractContextManager[Store]:
    """Open the store for a dry run that may be the very first command: nothing is created."""
    return opening.rehearsal(session.home())
