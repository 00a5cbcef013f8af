"""The last line of screens, the help, and keys in sentences: all are as the user has set them."""

from collections.abc import Iterable, Sequence
from typing import Any, cast

from textual.app import App

from d0ctl.show.drawing.signs import Glyphs
from d0ctl.show.drawing.spans import Line, Span, fit
from d0ctl_tui import commands as tables
from d0ctl_tui.app_interface import AppInterface
from d0ctl_tui.commands import COMMANDS, MAIN, MOVE, SUB, Command
from d0ctl_tui.draw import strips
from d0ctl_tui.screens.dialogs.help import Help
from d0ctl_tui.terminal import Terminal


class KeyLine:
    """The keys of screens, as part of the dashboard."""

    terminal: Terminal
    glyphs: Glyphs
    notice: Span | None

    def with_keys(self, commands: Iterable[Command]) -> tuple[Command, ...]:
        """Return commands with the keys of the user."""
        return tables.with_keys(commands, self.terminal.keys)

    def key_of(self, name: str) -> str:
        """Return the first key of a command of this name, as the user has set it."""
        return self.with_keys([COMMANDS[name]])[0].first_key

    def foot(self, commands: Sequence[Command], columns: int, more: Sequence[Span] = ()) -> Line:
        """Return the last line of a screen: a notice, else the keys."""
        if self.notice is not None:
            return fit([self.notice], columns, ellipsis=self.glyphs.ellipsis)
        return strips.footer(self.with_keys(commands), columns, more)

    def press(
        self, commands: Sequence[Command], columns: int, more: Sequence[Span], column: int
    ) -> None:
        """Do what the key at a column of the last line does."""
        command = strips.command_at(self.with_keys(commands), columns, more, column)
        if command is not None and self.notice is None:
            cast("App[Any]", self).simulate_key(command.keys.split(",")[0])

    def action_help(self) -> None:
        """Show the keys of the screen in front."""
        app = cast("App[Any]", self)
        here = getattr(app.screen, "COMMANDS_HERE", None)
        if not isinstance(app.screen, Help):
            commands = (*(MAIN if here is None else (*here, *SUB)), *MOVE)
            app.push_screen(Help(cast("AppInterface", self), self.with_keys(commands)))
