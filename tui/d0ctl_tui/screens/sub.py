"""The frame of every screen except the main one: header, title, keys; a way back."""

from textual.app import ComposeResult
from textual.screen import Screen

from d0ctl.show.drawing.spans import Line
from d0ctl_tui.app_interface import AppInterface
from d0ctl_tui.commands import SUB, Command, bindings
from d0ctl_tui.widgets.looks import COMPONENTS, WITH
from d0ctl_tui.widgets.status_lines import StatusLine


class SubScreen(Screen[None]):
    """A screen over the main one."""

    COMPONENT_CLASSES = COMPONENTS
    DEFAULT_CLASSES = WITH
    BINDINGS = bindings(SUB)

    COMMANDS_HERE: tuple[Command, ...] = ()

    def __init__(self, dashboard: AppInterface) -> None:
        super().__init__()
        self.dashboard = dashboard
        self.bands = [
            StatusLine("header", dashboard.header, dashboard.glyphs),
            StatusLine("title", self.headline, dashboard.glyphs),
            StatusLine("footer", self._footer, dashboard.glyphs, self._press),
        ]

    def compose(self) -> ComposeResult:
        """Compose the header, the body and the keys."""
        header, title, footer = self.bands
        yield header
        yield title
        yield from self.body()
        yield footer

    def body(self) -> ComposeResult:
        """Yield the widgets between title and keys."""
        raise NotImplementedError

    def headline(self, columns: int) -> Line:
        """Return the title."""
        raise NotImplementedError

    def action_leave(self) -> None:
        """Go back to the screen below."""
        self.app.pop_screen()

    def on_screen_resume(self) -> None:
        """Update after another screen was in front."""
        if self.bands[0].is_mounted:
            self.update()

    def update(self) -> None:
        """Show the present state."""
        for band in self.bands:
            band.renew()

    def in_footer(self) -> tuple[Command, ...]:
        """Return the commands of this screen that its last line offers now."""
        return self.COMMANDS_HERE

    def _footer(self, columns: int) -> Line:
        return self.dashboard.foot((*self.in_footer(), *SUB), columns)

    def _press(self, column: int) -> None:
        commands = (*self.in_footer(), *SUB)
        self.dashboard.press(commands, self.bands[2].size.width, (), column)
