"""Clusters, researchers and tokens by their names, and how they are changed."""

from os import PathLike
from pathlib import Path

from d0ctl.actions.action import NodeName
from d0ctl.api.verbs import Acting, ClusterVerbs, ResearcherVerbs, TokenVerbs
from d0ctl.config import find_home


class _Named(Acting):
    def __init__(self, name: str, *, home: str | PathLike[str] | None = None) -> None:
        self.name = name
        self.home = find_home(None if home is None else Path(home))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"

    def _targets(self, keep_going: bool) -> list[NodeName]:
        return [NodeName(self.name)]


class Cluster(ClusterVerbs, _Named):
    """A cluster by its name."""


class Researcher(ResearcherVerbs, _Named):
    """A researcher by name, also a new one."""


class Token(TokenVerbs, _Named):
    """A token of the REST interface by its name; the result of `add` has its secret as text."""
