"""What the terminal can show, and how its user wants it."""

from msgspec import Struct


class Terminal(Struct, frozen=True):
    """The abilities of the terminal, and the options for its colours."""

    ascii: bool = False
    plain: bool = False
    theme: str = "dark"
    coarse: bool = False
    """Whether there are no more than 256 colours."""
    interval: float = 0.0
    """The shortest time between two updates of the screen, in seconds."""
