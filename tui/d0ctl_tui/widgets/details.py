"""The pane beside the tree, whose left edge can be dragged."""

from textual import events
from textual.containers import Vertical

from d0ctl_tui.widgets.about_pane import AboutPane

LEAST = 24
"""The least columns of the tree and the pane, however the edge is dragged."""


class Details(Vertical):
    """The details of the selected row, with a width that lasts while the dashboard is open."""

    def __init__(self, about: AboutPane) -> None:
        super().__init__(about, about.tail_pane, id="right")
        self._columns: int | None = None
        self._is_dragged = False

    def widen(self) -> None:
        """Make it wider, or narrow again; a dragged width is dropped."""
        self._columns = None
        self.toggle_class("-broad")
        self._fit()

    def zoom(self, zoomed: bool) -> None:
        """Give it the whole screen, or end that."""
        self.set_class(zoomed, "-zoomed")
        self._fit()

    def on_resize(self, _: events.Resize) -> None:
        """Adjust a width that does not fit the new size of the terminal."""
        self._fit()

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Start dragging the edge."""
        self._is_dragged = False
        if int(event.screen_x) == self.region.x and self._is_beside:
            self.capture_mouse()

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Move the edge to the mouse."""
        if self.app.mouse_captured is self and int(event.screen_x) != self.region.x:
            self._is_dragged = True
            self._columns = self.region.right - int(event.screen_x)
            self._fit()

    def on_mouse_up(self, _: events.MouseUp) -> None:
        """Stop dragging the edge."""
        self.release_mouse()

    def on_click(self, event: events.Click) -> None:
        """Make it wider by a click on its edge."""
        if event.widget is self and event.x == 0 and not self._is_dragged:
            self.widen()

    @property
    def _is_beside(self) -> bool:
        """Whether it is beside the tree, and not below it or alone."""
        return not self.screen.has_class("-narrow") and not self.has_class("-zoomed")

    def _fit(self) -> None:
        if self._columns is None or not self._is_beside:
            self.styles.width = None
        else:
            most = self.screen.size.width - LEAST
            self.styles.width = max(LEAST, min(self._columns, most))
