"""The options that every command takes which changes something, and what they mean.

Such a command is declared by `@app.command(cls=Changing)`, or by `cls=Choosing` if it acts on
packages. It does not list these options itself: it calls `reason`, `is_rehearsal`, `confirm`
and `chosen`.
"""

import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from copy import copy
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from d0ctl import select
from d0ctl.cli import options, session
from d0ctl.cli.terminal.fast_typer import single
from d0ctl.cli.terminal.output import can_ask, confirmed, say
from d0ctl.config import Home
from d0ctl.errors import ExitCode
from d0ctl.store.connection import Store, open_store

if TYPE_CHECKING:
    from d0ctl.actions.file_choice import FileChoice

_given: dict[str, Any] = {}
"""The values of the options of this call, by name."""


def _keep(context: typer.Context, parameter: typer.CallbackParam, value: Any) -> None:
    _given[str(parameter.name)] = value


def _kept(annotated: Any) -> Any:
    """The same option, whose value is kept in `_given` instead of passed to the command."""
    kind, option = annotated.__args__[0], copy(annotated.__metadata__[0])
    option.callback, option.expose_value = _keep, False
    return Annotated[kind, option]


_table = single()


@_table.command("change", add_help_option=False)
def _of_a_change(
    reason: _kept(options.Because) = None,  # type: ignore[valid-type]
    dry_run: _kept(options.DryRun) = False,  # type: ignore[valid-type]
    yes: _kept(options.Yes) = False,  # type: ignore[valid-type]
) -> None:
    """The options of every command that changes something."""


@_table.command("choose", add_help_option=False)
def _of_a_choice(
    status: _kept(options.Status) = None,  # type: ignore[valid-type]
    node: _kept(options.Node) = None,  # type: ignore[valid-type]
    older_than: _kept(options.OlderThan) = None,  # type: ignore[valid-type]
    failed_for: _kept(options.FailedFor) = None,  # type: ignore[valid-type]
) -> None:
    """The filters of every command that changes packages."""


@_table.command("files", add_help_option=False)
def _of_files(
    node: _kept(options.OnNode) = None,  # type: ignore[valid-type]
    disposition: _kept(options.OfDisposition) = None,  # type: ignore[valid-type]
) -> None:
    """The filters of every command that changes files."""


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
        """Read the words; of one word for two arguments the last argument is the missing one."""
        has_word = any(not word.startswith("-") for word in args)
        try:
            return super().parse_args(context, args)
        except typer.BadParameter as error:
            last = [one for one in self.params if one.param_type_name == "argument"][-1]
            if has_word and error.param in self.params and getattr(error.param, "nargs", 1) == -1:
                error.param = last  # type: ignore[assignment]
            raise


class Choosing(Changing):
    """A command that changes packages: it takes the filters of a selector, too."""

    tables = ("choose", "change")


class ChoosingFiles(Changing):
    """A command that changes files: it takes the filters of files, too."""

    tables = ("files", "change")


def reason() -> str | None:
    """The reason that was given for the change."""
    return _given.get("reason")


def is_rehearsal() -> bool:
    """Whether the command is only to say what it would change."""
    return bool(_given.get("dry_run"))


def is_confirmed() -> bool:
    """Whether the person has said not to be asked, or nobody is there to answer."""
    return bool(_given.get("yes")) or not can_ask()


def confirm(question: str, lines: Iterable[str] = ()) -> None:
    """Ask a person on a terminal, after these lines; a no ends the command with exit code 1."""
    if is_confirmed():
        return
    for line in lines:
        say(line)
    if not confirmed(question):
        say("nothing was done")
        raise typer.Exit(ExitCode.FAILED)


def chosen(selectors: Iterable[str]) -> select.Selector:
    """The selection of these selectors and the filters that were given. Raises BadUsage."""
    return select.parse_all(
        selectors,
        status=_given.get("status") or (),
        reason=_given.get("failed_for"),
        node=_given.get("node"),
        older_than=_given.get("older_than"),
    )


def chosen_files(text: str) -> "FileChoice":
    """The files of this name and the filters that were given. Raises BadUsage."""
    from d0ctl.actions.file_choice import parse

    return parse(text, node=_given.get("node"), disposition=_given.get("disposition"))


@contextmanager
def rehearsal() -> Iterator[Store]:
    """The store for a dry run that may be the first command of all: nothing is created."""
    if session.home().exists():
        with session.reader() as store:
            yield store
        return
    from d0ctl.store.nodes.registry import add_localhost

    with tempfile.TemporaryDirectory(prefix="d0ctl-") as folder:
        with open_store(Home(Path(folder, "home")), create=True) as store:
            add_localhost(store)
            yield store
