"""docs/man: a manual page for the program and for each command, from what `--help` is made of."""

import textwrap
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import typer

from d0ctl import __version__
from d0ctl.cli.app import GROUPS, app

FOLDER = Path(__file__).parents[2] / "docs" / "man"

DATE = "2026-11-23"
"""When the text that is the same on all pages was last changed."""

ENVIRONMENT = [
    ("D0CTL_HOME", "The home, if no option names it (default: ~/.local/share/d0ctl)."),
    ("NO_COLOR", "If set, texts have no colours."),
]

ROFF = str.maketrans({
    "\\": r"\e", "-": r"\-", "`": r"\(ga", "'": r"\(aq", "~": r"\(ti", "^": r"\(ha",
})  # fmt: skip

FILES = [
    ("~/.local/share/d0ctl", "The home: the database, the log of the daemon, and the results."),
]

EXIT_STATUS = [
    ("0", "Done; for run and wait, the job is successful."),
    ("1", "The work failed, or was not confirmed."),
    ("2", "Bad usage or a bad job file."),
    ("3", "No such thing."),
    ("4", "Refused in this state, or to this user."),
    ("5", "A problem with the database or the daemon."),
    ("6", "A node can't be reached."),
    ("130", "Interrupted."),
]


def pages() -> Iterator[tuple[str, str]]:
    """Yield the name of the file of each page, and its text."""
    root: Any = typer.main.get_command(app)
    context = root.make_context("d0ctl", ["status"], resilient_parsing=True)
    commands = {
        title: [(name, root.get_command(context, name)) for name in names]
        for title, names in GROUPS.items()
    }
    yield "d0ctl.1", _program(root, context, commands)
    for name, command in (pair for pairs in commands.values() for pair in pairs):
        yield from _command(context, name, command)


def _program(root: Any, context: Any, commands: dict[str, list[tuple[str, Any]]]) -> str:
    usage = r".B d0ctl", r"[\fIOPTIONS\fR] \fICOMMAND\fR [\fIARGS\fR]..."
    lines = [*_head("d0ctl", root), ".SH SYNOPSIS", *usage]
    lines += [".SH OPTIONS", *_records(root, context, "option"), ".SH COMMANDS"]
    for title, pairs in commands.items():
        lines += [
            f".SS {title}",
            *_list((f"d0ctl-{name}(1)", _summary(one)) for name, one in pairs),
        ]
    for title, rows in (
        ("ENVIRONMENT", ENVIRONMENT), ("FILES", FILES), ("EXIT STATUS", EXIT_STATUS),
    ):  # fmt: skip
        lines += [f".SH {title}", *_list(rows)]
    return "\n".join(lines) + "\n"


def _command(above: Any, name: str, command: Any) -> Iterator[tuple[str, str]]:
    """Yield the pages of a command and of those below it."""
    context = command.make_context(
        name.rpartition(" ")[2], ["x"], parent=above, resilient_parsing=True
    )
    page, usage = f"d0ctl-{name.replace(' ', '-')}", command.collect_usage_pieces(context)
    lines = [*_head(page, command), ".SH SYNOPSIS", f".B {_line(f'd0ctl {name}')}"]
    lines += [rf"\fI{_line(piece)}\fR" for piece in usage]
    lines += [".SH DESCRIPTION", *_text(command.help or "")]
    for title, kind in (("ARGUMENTS", "argument"), ("OPTIONS", "option")):
        if rows := _records(command, context, kind):
            lines += [f".SH {title}", *rows]
    inner: list[str] = getattr(command, "list_commands", lambda _: [])(context)
    parts = [(f"{name} {part}", command.get_command(context, part)) for part in inner]
    if parts:
        lines += [".SH COMMANDS"]
        lines += _list((f"d0ctl-{part.replace(' ', '-')}(1)", _summary(one)) for part, one in parts)
    for paragraph in (command.epilog or "").split("\n\n"):
        title, _, text = paragraph.partition(": ")
        if title == "Example":
            lines += [".SH EXAMPLES", ".nf", _line(text), ".fi"]
        elif text:
            lines += [".SH EXIT STATUS", *_text(text)]
    yield f"{page}.1", "\n".join([*lines, ".SH SEE ALSO", ".BR d0ctl (1)"]) + "\n"
    for part, one in parts:
        yield from _command(context, part, one)


def _head(name: str, command: Any) -> list[str]:
    return [
        f'.TH {_line(name.upper())} 1 {DATE} "d0ctl {__version__}" "d0ctl manual"',
        ".SH NAME",
        rf"{_line(name)} \- {_line(_summary(command).rstrip('.'))}",
    ]


def _summary(command: Any) -> str:
    first: str = (command.help or "").partition("\n\n")[0]
    return first


def _records(command: Any, context: Any, kind: str) -> list[str]:
    parameters = [one for one in command.get_params(context) if one.param_type_name == kind]
    return _list(record for one in parameters if (record := one.get_help_record(context)))


def _list(rows: Iterable[tuple[str, str]]) -> list[str]:
    return [
        part for title, text in rows for part in (".TP", rf"\fB{_line(title)}\fR", *_text(text))
    ]


def _text(text: str) -> list[str]:
    """Return paragraphs as lines of at most 80 columns."""
    lines: list[str] = []
    for paragraph in text.split("\n\n"):
        lines += [".PP"] if lines else []
        wrapped = textwrap.wrap(
            _line(paragraph), 80, break_long_words=False, break_on_hyphens=False
        )
        lines += [_guarded(line) for line in wrapped]
    return lines


def _guarded(line: str) -> str:
    """Keep a line of text from being read as a request."""
    return rf"\&{line}" if line.startswith(".") else line


def _line(text: str) -> str:
    """Escape what roff would read as its own, or print as another sign."""
    return " ".join(text.split()).translate(ROFF)


def write() -> None:
    """Write all pages, and remove those of former commands."""
    FOLDER.mkdir(exist_ok=True)
    made = dict(pages())
    for path in FOLDER.iterdir():
        if path.name not in made:
            path.unlink()
    for name, text in made.items():
        (FOLDER / name).write_text(text)


if __name__ == "__main__":
    write()
