"""The strips below the tree: nodes, the latest events, and ended packages over time."""

import time

from d0ctl.show.drawing.sheet import path_at
from d0ctl.show.drawing.spans import Line
from d0ctl_tui.app_events import PathClicked
from d0ctl_tui.app_interface import AppInterface
from d0ctl_tui.draw import strips, ticker
from d0ctl_tui.widgets.status_lines import Page


class NodeStrip(Page):
    """The nodes, one line each; a click shows all about one."""

    def __init__(self, dashboard: AppInterface) -> None:
        super().__init__("nodes", self._list, dashboard.glyphs)
        self.dashboard = dashboard

    def _list(self, columns: int) -> list[Line]:
        shown = self.dashboard.snapshot
        order = strips.ordered(shown.nodes)
        return strips.nodes(order, shown.short_names, columns, time.time(), self.glyphs)

    def click_line(self, number: int, column: int) -> None:
        """Show the node."""
        order = strips.ordered(self.dashboard.snapshot.nodes)
        if number < len(order):
            self.dashboard.show_nodes(order[number].name)


class EventStrip(Page):
    """The latest changes, one line each: what matters, or all; a click goes to what changed."""

    def __init__(self, dashboard: AppInterface, id: str = "ticker") -> None:
        super().__init__(id, self._list, dashboard.glyphs, is_list=True)
        self.dashboard = dashboard
        self._subjects: list[str] = []

    def _list(self, columns: int) -> list[Line]:
        snapshot, now = self.dashboard.snapshot, time.time()
        self._subjects = []
        if self.dashboard.shows_all:
            lines = ticker.everything(snapshot.events, columns, now, self.glyphs)
        else:
            self._subjects = [event.subject for event in snapshot.notable]
            lines = ticker.what_matters(snapshot.notable, columns, now, self.glyphs)
        key, is_all = self.dashboard.key_of("changes"), self.dashboard.shows_all
        return ticker.with_switch(lines, columns, self.glyphs, key, is_all=is_all)

    def click_line(self, number: int, column: int) -> None:
        """Show the package, job or node that changed."""
        names = self._subjects[number].split() if number < len(self._subjects) else []
        if not names or path_at(self.lines[number], None):
            super().click_line(number, column)
        elif names[0] in {node.name for node in self.dashboard.snapshot.nodes}:
            self.dashboard.show_nodes(names[0])
        else:
            self.post_message(PathClicked(names[0]))


class RateStrip(Page):
    """The plot of ended packages over time."""

    def __init__(self, dashboard: AppInterface) -> None:
        super().__init__("rates", self._plot, dashboard.glyphs)
        self.dashboard = dashboard

    def _plot(self, columns: int) -> list[Line]:
        if self.dashboard.source.at is not None:
            return [(("none of the past", "faint"),)]
        known, snapshot = self.dashboard.rates, self.dashboard.snapshot
        return strips.rates(known, snapshot, columns, self.size.height, self.glyphs)
