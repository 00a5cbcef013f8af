"""Everything that parts of the dashboard tell each other, named as events."""

from collections.abc import Callable
from dataclasses import dataclass

from textual.message import Message

from d0ctl_tui.read.outline import Path


class Repeated(Message):
    """News of which only the latest counts."""

    def can_replace(self, message: Message) -> bool:
        """Whether it makes an older one needless."""
        return isinstance(message, type(self))


@dataclass
class Handed(Message):
    """A thread has something to show; `show` is called where that may be done."""

    show: Callable[[], object]


@dataclass
class Changed(Repeated):
    """Something was committed to the database, or its driver has changed."""

    drivers: tuple[str, ...]


@dataclass
class ReadFailed(Repeated):
    """The database can't be read."""

    error: str


@dataclass
class CursorMoved(Repeated):
    """Another line of a list is chosen."""

    line: int


@dataclass
class LineOpened(Message):
    """A line of a list was asked to show what is in it."""

    line: int


@dataclass
class RowChosen(Repeated):
    """Another row of the tree is chosen; None where the tree is empty."""

    path: Path | None


@dataclass
class RowOpened(Message):
    """A row that has nothing below it was asked to show all of it."""

    path: Path


class ColumnsMoved(Repeated):
    """The columns of the tree share its width in another way."""


@dataclass
class PathClicked(Message):
    """The path of a line or package was clicked."""

    path: str


@dataclass
class CommandClicked(Message):
    """A command to type was clicked."""

    command: str
