"""The actions as methods; `make schemas` writes their types beside it, for editors and mypy."""

from d0ctl.api.methods import Acting, acting_on


@acting_on("")
class Verbs(Acting):
    """The actions on jobs and packages."""


@acting_on("node")
class NodeVerbs(Acting):
    """The actions on nodes, one after the other."""


@acting_on("cluster")
class ClusterVerbs(Acting):
    """The actions on clusters."""


@acting_on("researcher")
class ResearcherVerbs(Acting):
    """The actions on researchers."""


@acting_on("file")
class FileVerbs(Acting):
    """The actions on files, one selector after the other."""


@acting_on("task")
class TaskVerbs(Acting):
    """The actions on tasks."""


@acting_on("token")
class TokenVerbs(Acting):
    """The actions on tokens of the REST interface."""


@acting_on("throttle")
class ThrottleVerbs(Acting):
    """The actions on throttles."""
