"""Keys that give the details the whole screen, and end that."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from d0ctl_tui.commands import MAIN, TREE, Command
from d0ctl_tui.screens.site_strips import EventStrip
from d0ctl_tui.widgets.about_pane import AboutPane
from d0ctl_tui.widgets.details import Details
from d0ctl_tui.widgets.status_lines import StatusLine
from d0ctl_tui.widgets.tree import Tree

if TYPE_CHECKING:
    from textual.screen import Screen

    Base = Screen[None]
else:
    Base = object

FEET = {"clear": "back", "quit": ""}
"""What the last line calls these commands then."""

ZOOMED = tuple(
    replace(command, foot=FEET.get(command.id, command.foot))
    for command in MAIN
    if command not in TREE
)
"""The commands of the last line while the details have the whole screen."""


class DetailsKeys(Base):
    """The details on the whole screen, as part of the main screen."""

    tree_view: Tree
    about: AboutPane
    details: Details
    events: EventStrip
    bands: list[StatusLine]
    zoomed = False

    @property
    def commands(self) -> Sequence[Command]:
        """The commands of the last line."""
        return ZOOMED if self.zoomed else MAIN

    def action_view(self) -> None:
        """Show the details on the whole screen, or end that."""
        self.zoomed = not self.zoomed
        self.query_one("#left").display = not self.zoomed
        self.details.zoom(self.zoomed)
        self.events.set_class(self.zoomed, "-zoomed")
        (self.about if self.zoomed else self.tree_view).focus()
        self.about.whole = self.zoomed
        self.about.renew()
        self.bands[-1].renew()

    def action_leave(self) -> None:
        """End the zoom, else the dashboard."""
        if self.zoomed:
            self.action_view()
        else:
            self.app.exit()
