"""A turn of the loop as its steps see it."""

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from msgspec import Struct, field

from d0ctl.daemon.desk import Desk
from d0ctl.dropbox import ReceivedMessages
from d0ctl.nodes.courier_reports import Report


class Turn(Struct):
    """The time of a turn, the reports and messages for it, and its actions after the commit."""

    now: float
    received: ReceivedMessages = field(default_factory=ReceivedMessages)
    reports: Sequence[Report] = ()
    afterwards: list[Callable[[], object]] = field(default_factory=list)

    def after(self, action: Callable[..., object], *arguments: Any) -> None:
        """Call `action` after the commit: nothing may leave d0ctl before the database has it."""
        self.afterwards.append(lambda: action(*arguments))


Step: TypeAlias = Callable[[Desk, Turn], None]
"""Reads the store, decides, writes the store; side effects go to `Turn.after`."""
