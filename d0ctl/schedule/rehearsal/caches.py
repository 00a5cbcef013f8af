"""The caches of a rehearsal: which files each has, and how files come from one to another."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from d0ctl.schedule.costs import Links
from d0ctl.schedule.moves.replicas import LEAST_READERS, HotFile, replicas
from d0ctl.schedule.rehearsal.records import File, Task
from d0ctl.schedule.resources import InputCopies


class Caches:
    """The copies of all files, and the links that carry them; times in seconds."""

    def __init__(self, files: Sequence[File], links: Links) -> None:
        self.files, self.links = files, links
        self.copies: list[set[int]] = [
            set() if file.cluster is None else {file.cluster} for file in files
        ]
        """The clusters that have each file, or to which it is on its way."""
        self.cached_bytes: Counter[int] = Counter()
        """Bytes of files that came to each cluster and are there."""
        self.peaks: Counter[int] = Counter()
        """The most of them at a time."""
        self.carried = 0
        self._link_free: dict[tuple[str, int], float] = {}
        self._arrives: dict[tuple[int, int], float] = {}
        """When copies are there, by file and cluster."""

    def local_bytes(self, inputs: Sequence[int]) -> dict[int, int]:
        """Return how many bytes of some files each cluster has; as cluster 0 all of them."""
        found: dict[int, int] = {}
        for file in inputs:
            size = self.files[file].size
            found[0] = found.get(0, 0) + size
            for cluster in self.copies[file]:
                found[cluster] = found.get(cluster, 0) + size
        return found

    def input_copies(self, inputs: Sequence[int]) -> InputCopies:
        """Return how many of some files each cluster has."""
        there: Counter[int] = Counter()
        for file in inputs:
            there.update(self.copies[file])
        return InputCopies(len(inputs), there)

    def backlog(self, now: float) -> Links:
        """Return the links with what is on its way."""
        backlog = {
            cluster: (free - now) * self.links.rate
            for (way, cluster), free in self._link_free.items()
            if way == "to" and free > now
        }
        return replace(self.links, backlog=backlog)

    def carry(self, inputs: Sequence[int], cluster: int, now: float) -> float:
        """Have the files that a cluster lacks brought; return when the last is there."""
        arrival = now
        for file in inputs:
            if not self.copies[file]:
                continue
            if cluster not in self.copies[file]:
                self.bring(file, cluster, now)
            arrival = max(arrival, self._arrives.get((file, cluster), 0.0))
        return arrival

    def bring(self, file: int, cluster: int, now: float) -> float:
        """Copy a file to a cluster from the one that can give it first; return when it is there."""
        size = self.files[file].size
        free_s, source = min((self._gives(file, at, now), at) for at in self.copies[file])
        begins = max(free_s, self._link_free.get(("to", cluster), 0.0))
        ends = begins + size / self.links.rate
        self._link_free["from", source] = self._link_free["to", cluster] = ends
        self._arrives[file, cluster] = ends + self.links.file_s
        self.keep(file, cluster)
        self.carried += size
        return ends + self.links.file_s

    def _gives(self, file: int, cluster: int, now: float) -> float:
        """Return when a cluster has a file and is not busy with giving another."""
        return max(now, self._link_free.get(("from", cluster), 0.0),
                   self._arrives.get((file, cluster), 0.0))  # fmt: skip

    def keep(self, file: int, cluster: int) -> None:
        """Count a copy of a file."""
        self.copies[file].add(cluster)
        self.cached_bytes[cluster] += self.files[file].size
        self.peaks[cluster] = max(self.peaks[cluster], self.cached_bytes[cluster])

    def forget(self, file: int) -> None:
        """Remove all copies of a file but the one that was there before all else."""
        first = self.files[file].cluster
        for cluster in self.copies[file]:
            if cluster != first:
                self.cached_bytes[cluster] -= self.files[file].size
        self.copies[file] = set()

    def busy(self, now: float) -> set[int]:
        """Return the clusters that give or get a file now."""
        return {at for (_, at), until in self._link_free.items() if until > now}

    def coming(self, file: int, now: float) -> set[int]:
        """Return the clusters to which a file is on its way."""
        return {at for at in self.copies[file] if self._arrives.get((file, at), 0.0) > now}


class HotFiles:
    """The files that many packages read, which are copied to further clusters before these run."""

    def __init__(
        self, tasks: Sequence[Task], reads: Sequence[int], loads: Mapping[int, float]
    ) -> None:
        """Note them; `reads` counts the readers of each file, `loads` are CPUs by requirement."""
        self._left = {file: n for file, n in enumerate(reads) if n >= LEAST_READERS}
        """How many readers of each are on no node yet."""
        whole: defaultdict[int, float] = defaultdict(float)
        for task in tasks if self._left else ():
            for file in self._left.keys() & task.inputs:
                whole[file] += task.seconds * loads[task.requirement]
        self._seconds = {file: whole[file] / n for file, n in self._left.items()}
        """The mean CPU seconds of readers."""

    def count(self, inputs: Sequence[int], more: int) -> None:
        """Count a reader that is on no node, or does not count any more."""
        for file in inputs if self._left else ():
            if file in self._left:
                self._left[file] += more

    def spread(
        self, caches: Caches, powers: Mapping[int, float], free: Mapping[int, int], now: float
    ) -> list[float]:
        """Begin further copies that pay; return when each is there."""
        hot = [
            file
            for file, left in self._left.items()
            if left >= LEAST_READERS and caches.copies[file]
        ]
        if not hot:
            return []
        wanted = []
        for file in hot:
            coming = caches.coming(file, now)
            wanted.append(
                HotFile(
                    file,
                    caches.files[file].size,
                    self._left[file],
                    self._seconds[file],
                    caches.copies[file] - coming,
                    coming,
                    powers,
                )
            )
        found = replicas(wanted, powers, caches.backlog(now), free, caches.busy(now))
        return [caches.bring(replica.file, replica.cluster, now) for replica in found]
