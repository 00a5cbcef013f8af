"""A box in the middle of a screen, closed by escape."""

from typing import TypeVar

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.screen import ModalScreen

from d0ctl_tui.app_interface import AppInterface
from d0ctl_tui.commands import Command, bindings
from d0ctl_tui.widgets.looks import COMPONENTS, WITH

Result = TypeVar("Result")

CLOSE = (Command("escape", "close", "close", "rest", foot="close"),)


class Dialog(ModalScreen[Result]):
    """A box over a screen."""

    COMPONENT_CLASSES = COMPONENTS
    DEFAULT_CLASSES = WITH
    BINDINGS = bindings(CLOSE)

    TITLE_HERE = ""

    def __init__(self, dashboard: AppInterface) -> None:
        super().__init__()
        self.dashboard = dashboard

    def compose(self) -> ComposeResult:
        """Yield the box."""
        with Vertical(id="box") as box:
            box.border_title = self.TITLE_HERE
            yield from self.body()

    def body(self) -> ComposeResult:
        """Yield its contents."""
        raise NotImplementedError

    def action_close(self) -> None:
        """Close it without doing anything."""
        self.dismiss(None)
