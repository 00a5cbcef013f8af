"""A node at a moment of a rehearsal."""

from collections import deque

from msgspec import Struct, field


class LiveNode(Struct):
    """The tasks that a node has at a moment."""

    running: dict[int, float] = field(default_factory=dict)
    """When each task ends."""
    queue: deque[int] = field(default_factory=deque)
    """Tasks whose inputs are there, and that wait for CPUs."""
    bringing: set[int] = field(default_factory=set)
    cpus: float = 0
    """CPUs of running tasks."""

    @property
    def tasks(self) -> list[int]:
        """All its tasks, in whichever state."""
        return [*self.running, *self.queue, *self.bringing]
