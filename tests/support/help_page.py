"""docs/options.md: the help of every command, as the program prints it on 80 columns."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer
from typer.testing import CliRunner

from d0ctl.cli.app import GROUPS, app

PAGE = Path(__file__).parents[2] / "docs" / "options.md"

HEAD = """# Options of every command

Look here for an option, as `--help` prints it. Every command also takes `--home DIR` and \
`--debug`, every reading command `--archive NAME`. [commands.md](commands.md) has selectors, exit \
codes and JSON.
"""


def leaves(command: Any, name: str = "") -> Iterator[str]:
    """Yield every command that does something, with its full name."""
    if not hasattr(command, "list_commands"):
        yield name
        return
    for word in command.list_commands(None):
        yield from leaves(command.get_command(None, word), f"{name} {word}".strip())


def page() -> str:
    """Return the page."""
    root = typer.main.get_command(app)
    parts = [HEAD]
    for title, names in GROUPS.items():
        parts.append(f"## {title}\n")
        for name in names:
            for leaf in leaves(root.get_command(None, name), name):  # type: ignore[attr-defined]
                parts.append(f"### {leaf}\n\n```text\n{help_of(leaf)}\n```\n")
    return "\n".join(parts)


def help_of(name: str) -> str:
    """Return what `--help` of a command prints."""
    answer = CliRunner(env={"COLUMNS": "80"}).invoke(
        app, [*name.split(), "--help"], prog_name="d0ctl"
    )
    return answer.stdout.rstrip()


if __name__ == "__main__":
    PAGE.write_text(page())
