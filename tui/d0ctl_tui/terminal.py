"""What the terminal can show, and how its user wants it."""

from collections.abc import Mapping

from msgspec import Struct

CHOICES = ("others", "node", "ran", "memory", "cpu", "researcher", "priority", "end")
"""The columns of the tree that can be left out, in the usual order."""


class Terminal(Struct, frozen=True):
    """The abilities of the terminal, and the options for its colours."""

    ascii: bool = False
    plain: bool = False
    """Whether only the sixteen colours of every terminal are used."""
    theme: str = "dark"
    coarse: bool = False
    """Whether there are no more than 256 colours."""
    interval: float = 0.0
    """The shortest time between two updates of the screen, in seconds."""
    slow: bool = False
    """Whether the line is slow: no latest changes, no plots, no mouse."""
    quiet: bool = False
    """Whether the bell, desktop notices and the title of the window are off."""
    read_only: bool = False
    """Whether nothing can be changed from here."""
    columns: tuple[str, ...] = CHOICES
    """The columns of the tree that are shown if there is room."""
    keys: Mapping[str, str] = {}
    """The keys of commands that are not the usual ones."""
