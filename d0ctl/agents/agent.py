"""What all agents have in common."""

from collections.abc import Callable

Clock = Callable[[], float]
"""Returns the time, in seconds since 1970."""
