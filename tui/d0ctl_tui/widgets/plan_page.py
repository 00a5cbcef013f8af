"""The page of the dialog before an action; it knows since when its plan is on the screen."""

import time
from math import inf

from textual.strip import Strip

from d0ctl_tui.widgets.status_lines import Page


class PlanPage(Page):
    """The command that does the same, and the plan."""

    seen_at = inf
    """When the present plan was painted, on the clock of the keys; `inf` if it is not yet."""

    def paint_anew(self) -> None:
        """Paint another plan, also where it has the words of the one before."""
        self.seen_at = inf
        self.refresh()

    def was_seen(self, at: float) -> bool:
        """Return whether the present plan was on the screen at this time."""
        return self.seen_at <= at

    def render_line(self, y: int) -> Strip:
        """Return one visible line, which is painted now."""
        if self.lines:  # there are none before the page has its width
            self.seen_at = min(self.seen_at, time.monotonic())
        return super().render_line(y)
