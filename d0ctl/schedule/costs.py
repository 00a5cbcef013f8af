"""The cost of a package on a node: the time until its inputs are there, until CPUs are
free, and until it has run.
"""

from collections.abc import Mapping

from msgspec import Struct, field
from msgspec.structs import replace

LINK_RATE = 100e6
"""Bytes per second to a cluster if nothing else is known."""

FILE_S = 0.01
"""The time of each file besides its bytes, in seconds."""


ANY = 0
"""The number of no cluster, which stands for any."""


class Links(Struct, frozen=True):
    """How fast files arrive at clusters, and how many bytes are in transit to each.

    `rates` are the bytes per second from one cluster to another, and from `ANY` to each, as
    measured by transfers; `rate` is that of the others.
    """

    backlog: Mapping[int, float] = field(default_factory=dict)
    rate: float = LINK_RATE
    file_s: float = FILE_S
    rates: Mapping[tuple[int, int], float] = field(default_factory=dict)

    def rate_of(self, source: int, cluster: int) -> float:
        """Return the bytes per second from one cluster to another."""
        known = self.rates
        if not known:
            return self.rate
        return known.get((source, cluster)) or known.get((ANY, cluster)) or self.rate

    def seconds(self, cluster: int, size: float, files: int, source: int = ANY) -> float:
        """Return how long files take to a cluster, after those in transit."""
        if not size and not files:
            return 0.0
        queue_s = self.backlog.get(cluster, 0.0) / self.rate_of(ANY, cluster)
        return queue_s + size / self.rate_of(source, cluster) + files * self.file_s


def queued(links: Links, bytes_of: Mapping[tuple[int, int], float]) -> Links:
    """Return links with a backlog, from the bytes in transit from one cluster to another.

    Bytes over a slow link count as more bytes at the usual rate.
    """
    backlog: dict[int, float] = {}
    for (source, cluster), size in bytes_of.items():
        slower = links.rate_of(ANY, cluster) / links.rate_of(source, cluster)
        backlog[cluster] = backlog.get(cluster, 0.0) + size * slower
    return replace(links, backlog=backlog)


class Cost(Struct, frozen=True):
    """Seconds from now until the inputs of a package are on a node, and until CPUs are free there;
    its run time in seconds, None if unknown.
    """

    transfer_s: float
    wait_s: float
    run_s: float | None
    rate: float | None = None
    """The rate of its inputs in bytes per second; None if they are there."""

    @property
    def start_s(self) -> float:
        """When it would start: files come while CPUs are in use."""
        return max(self.transfer_s, self.wait_s)

    @property
    def end_s(self) -> float:
        """When it would end."""
        return self.start_s + (self.run_s or 0.0)
