"""What lies over a screen: a box in its middle, closed by escape."""

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
    """A box over what is there."""

    COMPONENT_CLASSES = COMPONENTS
    DEFAULT_CLASSES = WITH
    BINDINGS = bindings(CLOSE)

    TITLE_HERE = ""

    def __init__(self, dashboard: AppInterface) -> None:
        super().__init__()
        self.dashboard = dashboard

    def compose(self) -> ComposeResult:
        """The box."""
        with Vertical(id="box") as box:
            box.border_title = self.TITLE_HERE
            yield from self.body()

    def body(self) -> ComposeResult:
        """What is in it."""
        raise NotImplementedError

    def action_close(self) -> None:
        """Close it, with nothing done."""
        self.dismiss(None)
