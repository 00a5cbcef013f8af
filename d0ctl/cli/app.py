"""The root of the command line: global options, lazy commands, errors and exit codes."""

import shlex
from functools import cache
from importlib import import_module
from pathlib import Path
from shutil import get_terminal_size
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from d0ctl import __version__
from d0ctl.cli import completion_table
from d0ctl.cli.completion_table import HEADINGS
from d0ctl.cli.global_options import finished
from d0ctl.cli.session import settings
from d0ctl.cli.terminal.errors import end_line, forget_output, reported_failures
from d0ctl.cli.terminal.fast_typer import plain, reworded_usage_errors
from d0ctl.errors import BadUsage, ExitCode
from d0ctl.jobfile.yaml.faults import near

MODULES = {"import": "importing", "task": "task_commands", "serve": "serving"}
"""Modules that can't be named like their command: a keyword of Python, or another module's name."""

GROUPS = {heading: names for heading, (_, names) in HEADINGS.items()}
"""Every command by its heading in `--help`."""

COMMANDS = tuple(name for names in GROUPS.values() for name in names)

_COMPARE = (
    "`=` in `d0ctl tui` compares two attempts, `d0ctl site diff` site files with the database"
)

HINTS = {"compare": _COMPARE, "diff": _COMPARE, "open": "d0ctl results JOB --open",
         "version": "d0ctl --version"}  # fmt: skip
"""What people type that is no command here, and how it is done."""

REMARKS = {
    "drop": "   # --drop-outputs: a merge runs without its files",
    "drop-line": "   # --drop-outputs: a merge runs without its files",
    "skip": "   # --drop-outputs: a merge runs without its files",
    "share": "   # shares are in the site file; `d0ctl site apply FILE` changes them",
    "shares": "   # shares are in the site file; `d0ctl site apply FILE` changes them",
}
"""What is added to these commands."""

OF_JOBS = {
    "restart": ("retry", "   # failed packages; `d0ctl run {}` continues the job"),
    "start": ("run", ""),
    "stop": ("kill", "   # or pause: no new packages; finish: let running ones end"),
}
"""Commands of the daemon that people type for a job, and the command and remark for it."""

UPGRADE = "pip install --upgrade d0ctl   # then d0ctl daemon restart"
"""How d0ctl itself is upgraded."""

NARROW = 52
"""Below this many columns Typer would write help texts that the terminal has to break."""

EPILOG = """Example: d0ctl run mc.yaml

To begin: `d0ctl init` writes a job file, `d0ctl run FILE` runs it, `d0ctl status` shows it.
`d0ctl COMMAND --help` has the options of a command, an example and its exit status.

Exit status: 0 done, 1 the work failed, 2 bad usage or file, 3 not found, 4 refused, 5 trouble
with the database or the daemon, 6 a node can't be reached, 130 interrupted."""
"""The end of the help of `d0ctl` itself."""


def _hint(name: str, more: list[str]) -> str:
    """Return the commands that a user who typed these words may have meant, else the help.

    If groups have a command of this name, these are meant: `node free` by `free`.
    """
    from d0ctl.select.unknown_words import is_file  # late, as the next
    from d0ctl.show.not_here import ELSEWHERE  # late: only an error needs these
    from d0ctl.units import listed

    if name == "upgrade":
        return UPGRADE
    if hint := HINTS.get(name):
        return hint
    targets = [word for word in more if not word.startswith("-")]
    if name in OF_JOBS and targets:
        verb, remark = OF_JOBS[name]
        return shlex.join(["d0ctl", verb, *targets]) + remark.format(shlex.quote(targets[0]))
    groups = [group for group, names in completion_table.COMMANDS.items() if name in names]
    if ELSEWHERE.get(name) == "logs" and targets and is_file(targets[0]):
        return f"d0ctl why {shlex.quote(targets[0])}   # says where it is"
    if ours := ELSEWHERE.get(name) or (f"{groups[0]} {name}" if len(groups) == 1 else None):
        same = targets if targets == more and " " not in ours else []
        if ours == "results":  # of a whole job
            same = [target.partition("/")[0] for target in same]
        return " ".join(["d0ctl", ours, *map(shlex.quote, same)]) + REMARKS.get(name, "")
    meant = [f"{group} {name}" for group in groups] or [*filter(None, [near(name, COMMANDS)])]
    commands = listed([f"`d0ctl {command}`" for command in meant], "or")
    return f"did you mean {commands}?" if commands else "d0ctl --help"


class Commands(TyperGroup):
    """The commands; only the one that is typed is imported."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.commands = dict.fromkeys(COMMANDS)  # type: ignore[assignment]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Import a command by its name; None when there is none of that name."""
        if cmd_name not in self.commands:
            return None
        return _command(cmd_name)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the typed command. Raises BadUsage for a name that is not here."""
        name = args[0]
        if self.get_command(ctx, name) is None and not ctx.resilient_parsing:  # TAB asks, too
            raise BadUsage(f"no such command `{name}`", hint=_hint(name, args[1:]))
        return super().resolve_command(ctx, args)

    def parse_args(self, ctx: Any, args: list[str]) -> Any:
        """Read `help COMMAND` as `COMMAND --help`."""
        settings.typed = tuple(args)
        return super().parse_args(ctx, [*args[1:], "--help"] if args[:1] == ["help"] else args)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the commands in groups, each with its whole first sentence."""
        for title, names in GROUPS.items():
            with formatter.section(title):
                formatter.write_dl(
                    [(name, _sentence(self.get_command(ctx, name))) for name in names]
                )

    def get_params(self, ctx: Any) -> Any:
        """Return its own options, converted without pydantic.

        `completion install` does more than Typer's options for completion, which help leaves out.
        """
        parameters = plain(super().get_params(ctx))
        for parameter in parameters:
            if parameter.name in ("install_completion", "show_completion"):
                parameter.hidden = True
        return parameters

    def make_context(self, *args: Any, **extra: Any) -> Any:
        """Read the words before the command. Raises BadUsage."""
        if (columns := get_terminal_size().columns) < NARROW:
            extra.setdefault("terminal_width", columns - 2)
        with reworded_usage_errors():
            return super().make_context(*args, **extra)

    def invoke(self, ctx: Any) -> Any:
        """Run a command; if its reader has closed the pipe, its work is done. Raises BadUsage."""
        try:
            with reworded_usage_errors():
                return super().invoke(ctx)
        except BrokenPipeError:
            forget_output()
            raise typer.Exit(ExitCode.DONE) from None
        except KeyboardInterrupt:
            end_line()
            raise typer.Exit(ExitCode.INTERRUPTED) from None

    def main(self, *args: Any, **extra: Any) -> Any:
        """Turn expected failures into one line and an exit code."""
        with reported_failures():
            return super().main(*args, **extra)


@cache
def _command(name: str) -> Any:
    """Import and build a command, once per process."""
    return finished(_app_of(name), name)


def _app_of(name: str) -> typer.Typer:
    """Import a command; `node` is in the module `node`."""
    folder = next(folder for folder, names in HEADINGS.values() if name in names)
    if not folder or name == "clone":
        from d0ctl.cli.action_command import command

        return command(name)
    module = MODULES.get(name, name)
    app: typer.Typer = import_module(f"d0ctl.cli.commands.{folder}.{module}").app
    return app


def _sentence(command: Any) -> str:
    """Return the first line of the help of a command."""
    first: str = (command.help or "").partition("\n\n")[0]
    return " ".join(first.split())


def _show_version(value: bool) -> None:
    if value:
        print(f"d0ctl {__version__}")
        raise typer.Exit


app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    epilog=EPILOG,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback()
def root(
    home: Annotated[
        Path | None,
        typer.Option(metavar="DIR",
                     help="Data folder (default: $D0CTL_HOME, else ~/.local/share/d0ctl)."),
    ] = None,
    archive: Annotated[
        str,
        typer.Option(metavar="NAME", show_default=False,
                     help="Read jobs of this archive in place of the database."),
    ] = "",
    debug: Annotated[
        bool, typer.Option("--debug", help="Show the chain of causes of a failure.")
    ] = False,
    version: Annotated[
        bool,
        typer.Option("-V", "--version", help="Show the version.", is_eager=True,
                     callback=_show_version),
    ] = False,
) -> None:  # fmt: skip
    """Run physics productions on machines reached by ssh."""
    settings.home, settings.archive, settings.debug = home, archive, debug
