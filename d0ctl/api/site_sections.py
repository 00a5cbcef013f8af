"""Clusters, researchers and tokens by their names, and how they are changed."""

from d0ctl.api.methods import Named
from d0ctl.api.verbs import ClusterVerbs, ResearcherVerbs, TokenVerbs


class Cluster(ClusterVerbs, Named):
    """A cluster by its name."""


class Researcher(ResearcherVerbs, Named):
    """A researcher by name, also a new one."""


class Token(TokenVerbs, Named):
    """A token of the REST interface by its name; the result of `add` has its secret as text."""
