"""An action that is refused before it is planned."""

from d0ctl.config import Home
from d0ctl.errors import Refused
from d0ctl_tui.run_action import PlannedAction, Preview


class RefusedAction(PlannedAction, frozen=True):
    """An action that can't be planned, and why; its box takes the keys that a person types on."""

    why: str

    @property
    def title(self) -> str:
        """The action."""
        return self.request.name

    @property
    def hint(self) -> str:
        """Nothing: values would not help."""
        return ""

    @property
    def next_way(self) -> None:
        """Nothing: no other way would help."""
        return

    def command(self, reason: str) -> str:
        """Return the beginning of the command."""
        return f"d0ctl {self.request.name}"

    def preview(self, home: Home) -> Preview:
        """Refuse it. Raises Refused."""
        raise Refused(self.why)
