"""The options that every command takes, also after its name."""

from pathlib import Path
from typing import Annotated, Any

import typer

from d0ctl.cli.epilogs import epilog
from d0ctl.cli.session import settings
from d0ctl.cli.terminal.fast_typer import built, convert_plain_values, single, with_help

GROUP = "`d0ctl {name} COMMAND --help` has its options, an example and its exit status."
"""The end of the help of a command that has commands of its own."""


def finished(app: typer.Typer, name: str) -> Any:
    """Return the command of an app with its name, the global options and the end of its help."""
    command = built(app)
    command.name = name
    if hasattr(command, "commands"):
        command.epilog = GROUP.format(name=name)
    for own, part in getattr(command, "commands", {"": command}).items():
        taken = {option for param in part.params for option in param.opts}
        # `software add --archive` is an option of its own
        part.params.extend(option for option in typer.main.get_command(_anywhere).params
                           if taken.isdisjoint(option.opts))  # fmt: skip
        with_help(part)
        part.epilog = part.epilog or epilog(f"{name} {own}".strip())
    convert_plain_values(command)
    return command


def _keep_home(value: Path | None) -> None:
    if value is not None:
        settings.home = value


def _keep_archive(value: str | None) -> None:
    if value is not None:
        settings.archive = value


def _keep_debug(value: bool) -> None:
    settings.debug = settings.debug or value


_anywhere = single()


@_anywhere.command(add_help_option=False)
def _globals(
    home: Annotated[Path | None, typer.Option(hidden=True, callback=_keep_home,
                                              expose_value=False)] = None,
    archive: Annotated[str | None, typer.Option(hidden=True, callback=_keep_archive,
                                                expose_value=False)] = None,
    debug: Annotated[bool, typer.Option("--debug", hidden=True, callback=_keep_debug,
                                        expose_value=False)] = False,
) -> None:  # fmt: skip
    """The options that every command takes."""
