"""The reading commands in their common form, without Typer, whose import doubles their time.

`[--home HOME] status|why [WHAT] [--json] [--home HOME]`: everything else, also a misspelling,
goes to Typer, which treats these forms in the same way.
"""

import os
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from d0ctl.cli.direct_completion import SAFE


class Call(Struct, frozen=True):
    """A command, its subject, whether JSON is wanted, and the home."""

    command: str
    what: str | None = None
    json: bool = False
    home: Path | None = None

    @property
    def typed(self) -> tuple[str, ...]:
        """The words that were typed, without the home."""
        return (self.command, *filter(None, [self.what]), *["--json"] * self.json)


def parse(arguments: Sequence[str]) -> Call | None:
    """Return the call; None if Typer has to read the words."""
    rest = list(arguments)
    home = _take_home(rest)
    if not rest or rest[0] not in ("status", "why") or "_D0CTL_COMPLETE" in os.environ:
        return None
    command = rest.pop(0)
    json = "--json" in rest
    if json:
        rest.remove("--json")
    home = _take_home(rest) or home
    if len(rest) > 1 or (command == "why" and not rest):
        return None
    if not all(word and word[0] != "-" and SAFE.issuperset(word) for word in rest):
        return None
    return Call(command, rest[0] if rest else None, json, home)


def _take_home(arguments: list[str]) -> Path | None:
    """Take `--home HOME` off the start or the end of words."""
    for index in (0, len(arguments) - 2):
        if len(arguments) >= 2 and arguments[index] == "--home" and arguments[index + 1]:
            home = Path(arguments[index + 1])
            del arguments[index : index + 2]
            return home
    return None


def run(call: Call) -> None:
    """Run a command, and exit as Typer would."""
    from d0ctl.cli import session
    from d0ctl.cli.terminal.errors import reported_failures

    session.settings.home, session.settings.typed = call.home, call.typed
    with reported_failures():
        if call.command == "why":
            from d0ctl.cli.commands.looking.pages import explanation

            explanation.show(call.what, json=call.json)
            return
        from d0ctl import select
        from d0ctl.cli.commands.looking.pages import status_page

        wanted = select.parse_all([call.what], with_binary=True) if call.what else None
        status_page.show(wanted, json=call.json)
