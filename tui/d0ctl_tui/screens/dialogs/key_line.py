"""The last line of screens, the help, and keys in sentences: all are as the user has set them."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any, cast

from textual.app import App, ScreenStackError
from textual.events import Key
from textual.timer import Timer

from d0ctl.show.drawing.signs import Glyphs
from d0ctl.show.drawing.spans import Line, Span, fit, foreign
from d0ctl_tui import commands as tables
from d0ctl_tui.app_interface import AppInterface
from d0ctl_tui.commands import COMMANDS, MAIN, MOVE, SUB, Command
from d0ctl_tui.draw import strips
from d0ctl_tui.key_names import shown
from d0ctl_tui.screens.dialogs.help import Help
from d0ctl_tui.terminal import Terminal

NOTICE_S = 8.0
"""How long a notice is shown in the last line."""


class KeyLine:
    """The keys of screens, as part of the dashboard."""

    terminal: Terminal
    glyphs: Glyphs
    notice: Span | None = None
    _notice_end: Timer | None = None
    _notice_stays = False

    def show(self) -> None:
        """Update the screen in front, and the one under a box in front."""
        raise NotImplementedError

    def show_notice(self, message: str, role: str = "warn", *, stays: bool = False) -> None:
        """Show a notice in the last line, for a while; if it does not stay, until the next key."""
        if self._notice_end is not None:
            self._notice_end.stop()
        self.notice, self._notice_stays = (f" {foreign(message)} ", role), stays
        self._notice_end = cast("App[Any]", self).set_timer(NOTICE_S, self.end_notice)
        self.show()

    def end_notice(self) -> None:
        """Show no notice any more."""
        if self._notice_end is not None:
            self._notice_end.stop()
        self.notice, self._notice_end = None, None
        self._renew_last_line()

    def before_key(self) -> None:
        """Give the last line back to the keys: the user has seen the notice."""
        if self.notice is not None and not self._notice_stays:
            self.end_notice()

    def on_key(self, event: Key) -> None:
        """Say so if a key has no command on the screen in front; all keys come here at last."""
        app = cast("App[Any]", self)
        if not app.screen.is_modal and event.key not in app.screen.active_bindings:
            keys = self.key_of("help")
            self.show_notice(f"no command on `{shown(event.key)}`: `{keys}` lists the keys")

    def _renew_last_line(self) -> None:
        with suppress(ScreenStackError):  # the dashboard is ending
            for screen in reversed(cast("App[Any]", self).screen_stack):
                for line in getattr(screen, "bands", ())[-1:]:
                    line.renew()
                if not screen.is_modal:
                    return

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
