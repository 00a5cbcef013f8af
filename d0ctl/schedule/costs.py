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


FASTEST = 1e10
"""The highest rate that transfers may show."""

ALIKE = 0.01
"""If files of transfers differ less in size, it is unknown what takes the time."""

ALIKE_S = 0.5
"""Then a file takes at most this time besides its bytes: where it takes longer, these are slow."""


class Transfers(Struct, frozen=True):
    """What transfers took: sums of products of their numbers of files, their bytes and seconds."""

    files_files: float
    files_bytes: float
    bytes_bytes: float
    files_seconds: float
    bytes_seconds: float

    def speed(self) -> tuple[float, float]:
        """Return the bytes per second and the seconds of each file besides, by least squares.

        If all files were alike, their bytes take the usual time, the rest is that of the files.
        """
        uu, vv = self.files_files * FILE_S**2, self.bytes_bytes / LINK_RATE**2
        uv = self.files_bytes * FILE_S / LINK_RATE
        ut, vt = self.files_seconds * FILE_S, self.bytes_seconds / LINK_RATE
        base = uu * vv - uv * uv
        if base <= ALIKE * uu * vv:
            files = min(max((ut - uv) / uu, 0.0), ALIKE_S / FILE_S)
            size = (vt - files * uv) / vv
        else:
            files, size = (ut * vv - vt * uv) / base, (vt * uu - ut * uv) / base
        if files < 0:
            files, size = 0.0, vt / vv
        elif size < 0:
            files, size = ut / uu, 0.0
        return LINK_RATE / max(size, LINK_RATE / FASTEST), files * FILE_S


class Links(Struct, frozen=True):
    """How fast files arrive at clusters, and how long each is busy with those in transit.

    `rates` are the bytes per second from one cluster to another, and from `ANY` to each, as
    measured by transfers, `file_times` the seconds of each file besides its bytes; `rate` and
    `file_s` are those of the others. `backlog` is a time, as the bytes that the usual rate brings.
    """

    backlog: Mapping[int, float] = field(default_factory=dict)
    rate: float = LINK_RATE
    file_s: float = FILE_S
    rates: Mapping[tuple[int, int], float] = field(default_factory=dict)
    file_times: Mapping[tuple[int, int], float] = field(default_factory=dict)

    def rate_of(self, source: int, cluster: int) -> float:
        """Return the bytes per second from one cluster to another."""
        known = self.rates
        if not known:
            return self.rate
        return known.get((source, cluster)) or known.get((ANY, cluster)) or self.rate

    def file_s_of(self, source: int, cluster: int) -> float:
        """Return the seconds of each file besides its bytes."""
        known = self.file_times
        if not known:
            return self.file_s
        return known.get((source, cluster), known.get((ANY, cluster), self.file_s))

    def seconds(self, cluster: int, size: float, files: int, source: int = ANY) -> float:
        """Return how long files take to a cluster, after those in transit."""
        if not size and not files:
            return 0.0
        queue_s = self.backlog.get(cluster, 0.0) / self.rate_of(ANY, cluster)
        each_s = self.file_s_of(source, cluster)
        return queue_s + size / self.rate_of(source, cluster) + files * each_s


def queued(links: Links, waiting: Mapping[tuple[int, int], tuple[float, int]]) -> Links:
    """Return links with a backlog, from the bytes and files in transit between two clusters.

    Their time counts as bytes at the usual rate.
    """
    backlog: dict[int, float] = {}
    for (source, cluster), (size, files) in waiting.items():
        each_s = files * links.file_s_of(source, cluster) if links.file_times else 0.0
        takes_s = size / links.rate_of(source, cluster) + each_s
        backlog[cluster] = backlog.get(cluster, 0.0) + takes_s * links.rate_of(ANY, cluster)
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
    file_s: float = 0.0
    """The seconds of each input besides its bytes."""

    @property
    def start_s(self) -> float:
        """When it would start: files come while CPUs are in use."""
        return max(self.transfer_s, self.wait_s)

    @property
    def end_s(self) -> float:
        """When it would end."""
        return self.start_s + (self.run_s or 0.0)
