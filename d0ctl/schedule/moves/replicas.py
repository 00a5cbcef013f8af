"""Further copies of files that many packages are about to read, made before they run."""

import math
from collections.abc import Collection, Mapping, Sequence

from msgspec import Struct

from d0ctl.schedule.costs import Links

LEAST_READERS = 8
"""Files with fewer readers that have not begun are copied when one of these gets its node."""

LEAST_S = 1.0
"""So are files that take less time than this."""

WORTH = 3.0
"""A copy is made only if its readers have work for this many times as long as it takes."""

MOST_COPIES = 16
"""The most copies that a file gets in this way."""


class HotFile(Struct, frozen=True):
    """A file that is read by packages which have not begun.

    `seconds` are the CPU seconds of one of these on a standard node. `clusters` have the file, to
    `coming` it is in transit; those that `fits` may run its readers.
    """

    file: int
    size: int
    readers: int
    seconds: float
    clusters: Collection[int]
    coming: Collection[int]
    fits: Collection[int]


class Replica(Struct, frozen=True):
    """A further copy of a file: where from and to, and how long it takes.

    The readers that have not begun will compute for `work_s` more, on all clusters that have the
    file then.
    """

    file: int
    source: int
    cluster: int
    readers: int
    takes_s: float
    work_s: float


def replicas(
    files: Sequence[HotFile],
    powers: Mapping[int, float],
    links: Links,
    free: Mapping[int, int],
    busy: Collection[int] = (),
) -> list[Replica]:
    """Return the copies to begin now.

    `powers` are the CPUs times speed of each cluster, `free` the free bytes, as
    far as known. Nothing comes from or to clusters that are `busy` with other files, so no
    package waits longer for its own. Each copy serves one further copy at a time.
    """
    room, taken = dict(free), {*busy, *(at for at, size in links.backlog.items() if size > 0)}
    found: list[Replica] = []
    for file in sorted(files, key=lambda hot: (-hot.readers * hot.seconds, hot.file)):
        has = {*file.clusters, *file.coming}
        if file.readers < LEAST_READERS or len(has) >= MOST_COPIES:
            continue
        for cluster in sorted(powers, key=lambda at: (-powers[at], at)):
            sources = [at for at in file.clusters if at not in taken]
            if cluster in has or cluster in taken or cluster not in file.fits or not sources:
                continue
            source = max(sources, key=lambda at: (links.rate_of(at, cluster), -at))
            takes_s = links.seconds(cluster, file.size, 1, source)
            power = sum(powers.get(at, 0.0) for at in has) + powers[cluster]
            work_s = file.readers * file.seconds / power if power else 0.0
            if takes_s < LEAST_S or work_s < WORTH * takes_s:
                continue
            if room.get(cluster, math.inf) < file.size or len(has) >= MOST_COPIES:
                continue
            found.append(Replica(file.file, source, cluster, file.readers, takes_s, work_s))
            has.add(cluster)
            taken |= {cluster, source}
            if cluster in room:
                room[cluster] -= file.size
    return found
