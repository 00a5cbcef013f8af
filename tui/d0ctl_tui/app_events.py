"""The events by which parts of the dashboard communicate."""

from collections.abc import Callable
from dataclasses import dataclass

from textual.message import Message

from d0ctl_tui.read.outline import Path


class Repeated(Message):
    """An event of which only the latest counts."""

    def can_replace(self, message: Message) -> bool:
        """Return whether it replaces an older one."""
        return isinstance(message, type(self))


class KeyHandled(Message):
    """The key before it has been handled."""


@dataclass
class ThreadResult(Message):
    """The result of a thread; `show` is called in the main thread."""

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
    """The cursor is on another line of a list."""

    line: int


@dataclass
class LineOpened(Message):
    """A line of a list should show its contents."""

    line: int


@dataclass
class RowChosen(Repeated):
    """Another row of the tree is selected; None if the tree is empty."""

    path: Path | None


@dataclass
class RowOpened(Message):
    """A row without children should show all about itself."""

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
