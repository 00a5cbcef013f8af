"""What it costs to run a package on a node: the time until its inputs are there, until CPUs are
free, and until it has run.
"""

from collections.abc import Mapping

from msgspec import Struct, field

LINK_RATE = 100e6
"""Bytes a second that come to a cluster, where nothing else is known."""

FILE_S = 0.01
"""What each file takes besides its bytes, in seconds."""


class Links(Struct, frozen=True):
    """How fast files come to clusters, and how many bytes are on their way to each."""

    backlog: Mapping[int, float] = field(default_factory=dict)
    rate: float = LINK_RATE
    file_s: float = FILE_S

    def seconds(self, cluster: int, size: float, files: int) -> float:
        """Return how long some files take to a cluster, after those that are on their way."""
        if not size and not files:
            return 0.0
        return (self.backlog.get(cluster, 0.0) + size) / self.rate + files * self.file_s


class Cost(Struct, frozen=True):
    """Seconds from now until the inputs of a package are on a node, and until CPUs are free there;
    seconds that it runs, None if not known.
    """

    transfer_s: float
    wait_s: float
    run_s: float | None

    @property
    def start_s(self) -> float:
        """When it would start: files come while CPUs are in use."""
        return max(self.transfer_s, self.wait_s)

    @property
    def end_s(self) -> float:
        """When it would end."""
        return self.start_s + (self.run_s or 0.0)
