"""The end of the selected package's log, on screens with room for it below the details."""

from collections.abc import Callable

from d0ctl.show.drawing.signs import Glyphs
from d0ctl.show.drawing.spans import Line
from d0ctl_tui.draw import log_text
from d0ctl_tui.widgets.status_lines import Page


class TailPane(Page):
    """As many of the last lines as fit."""

    def __init__(self, read: Callable[[], str | None], glyphs: Glyphs) -> None:
        super().__init__("tail", self._lines, glyphs)
        self._read = read

    def _lines(self, columns: int) -> list[Line]:
        said = self._read()
        if said is None:
            return []
        last = said.splitlines()[-max(1, self.size.height) :]
        cut = [log_text.shifted(log_text.spans(line), 0, columns, self.glyphs.ellipsis)
               for line in last]  # fmt: skip
        return cut or [(("nothing was printed", "faint"),)]
