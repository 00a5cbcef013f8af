"""The field of a box, in which a person types one line."""

from textual import events
from textual.widgets import Input


class Field(Input):
    """A field of one line that takes all lines of a pasted text, where Textual takes the first."""

    def on_paste(self, event: events.Paste) -> None:
        """Insert the lines with blanks between them."""
        text = " ".join(filter(None, map(str.strip, event.text.splitlines())))
        self.replace(text, *self.selection)
        event.prevent_default()
        event.stop()
