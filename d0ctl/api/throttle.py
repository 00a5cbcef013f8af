"""Throttles: limits of nodes, researchers and jobs, and how they are changed."""

from os import PathLike

from d0ctl.actions.throttles.throttle_set import ThrottleName, parse
from d0ctl.api.verbs import ThrottleVerbs
from d0ctl.config import find_home


class Throttle(ThrottleVerbs):
    """A throttle by its kind (node, researcher or job) and a name or a pattern."""

    def __init__(self, kind: str, name: str, *, home: str | PathLike[str] | None = None) -> None:
        """Name a throttle. Raises BadUsage."""
        self.name = parse([kind, name])
        self.home = find_home(home)

    def __repr__(self) -> str:
        return f"Throttle({self.name.kind!r}, {self.name.pattern!r})"

    def _targets(self, keep_going: bool) -> list[ThrottleName]:
        return [self.name]
