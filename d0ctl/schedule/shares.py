"""Shares of the CPUs for groups of researchers and activities, nested by the paths of their names.

If several groups have ready packages, a group gets CPUs by its share, and fewer while
it has recently used more than that.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase

from msgspec import Struct

NOBODY = ""
"""The path of jobs that belong to no share: they get what others leave."""


class Share(Struct, frozen=True):
    """A group by the path of its name, and its jobs: those of some researchers, those
    with some names, or without either all that belong to no earlier share.
    """

    path: str
    share: float
    researchers: tuple[str, ...] = ()
    jobs: tuple[str, ...] = ()

    def takes(self, names: Sequence[str], job: str) -> bool:
        """Return whether a job of a person with these names belongs to it."""
        return self.is_open_to(names) and (not self.jobs or _matches(job, self.jobs))

    def is_open_to(self, names: Sequence[str]) -> bool:
        """Return whether jobs of a person with these names belong to it, or some of them."""
        return not self.researchers or any(_matches(name, self.researchers) for name in names)


def _matches(name: str, patterns: Iterable[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


class Tree(Struct, frozen=True):
    """All shares, in the order of the site file."""

    shares: tuple[Share, ...]

    def path_of(self, names: Sequence[str], job: str) -> str:
        """Return the path of the share of a job: the first match that has no shares below.

        `names` are its originator, and the id of the researcher.
        """
        for leaf, chain in self._leaves():
            if all(each.takes(names, job) for each in chain):
                return leaf.path
        return NOBODY

    def paths_for(self, names: Sequence[str]) -> list[str]:
        """Return the paths of the shares with jobs of a person, some by the names of jobs.

        Those after a share that matches all jobs are left out.
        """
        found = []
        for leaf, chain in self._leaves():
            if all(each.is_open_to(names) for each in chain):
                found.append(leaf.path)
                if not any(each.jobs for each in chain):
                    break
        return found

    def _leaves(self) -> Iterator[tuple[Share, list[Share]]]:
        """Yield each share without others below, with those above it."""
        for share in self.shares:
            above = [upper for upper in self.shares if share.path.startswith(f"{upper.path}/")]
            if not any(other.path.startswith(f"{share.path}/") for other in self.shares):
                yield share, [*above, share]

    def targets(
        self, wanted: Mapping[str, float], used: Mapping[str, float], capacity: float
    ) -> dict[str, float]:
        """Return the target of each path in CPUs: no more than it wants, and no more in all
        than there are; `used` is its recent use, in any unit.

        CPUs that a group does not want go to its neighbours.
        """
        found = dict.fromkeys(wanted, 0.0)
        self._split("", min(capacity, sum(wanted.values())), wanted, used, found)
        rest = capacity - sum(found.values())
        if NOBODY in found:
            found[NOBODY] = max(0.0, min(wanted[NOBODY], rest))
        return found

    def _split(
        self,
        above: str,
        capacity: float,
        wanted: Mapping[str, float],
        used: Mapping[str, float],
        found: dict[str, float],
    ) -> None:
        below = [share for share in self.shares if share.path.rpartition("/")[0] == above]
        claims = {group.path: _sum(wanted, group.path) for group in below}
        open_ = {
            group.path: group.share for group in below if claims[group.path] > 0 and group.share > 0
        }
        weights = corrected(open_, {path: _sum(used, path) for path in open_})
        for path, part in divide(capacity, claims, weights).items():
            if path in found:
                found[path] = part
            else:
                self._split(path, part, wanted, used, found)


def _sum(values: Mapping[str, float], path: str) -> float:
    return sum(
        value for name, value in values.items() if name == path or name.startswith(f"{path}/")
    )


def corrected(shares: Mapping[str, float], used: Mapping[str, float]) -> dict[str, float]:
    """Return weights: shares, halved for each time that a group exceeded its share, and up to
    doubled if it used less.
    """
    whole, total = sum(shares.values()), sum(used.values())
    if not total:
        return dict(shares)
    return {
        path: share * 2.0 ** (1.0 - (used[path] / total) / (share / whole))
        for path, share in shares.items()
    }


def divide(
    capacity: float, claims: Mapping[str, float], weights: Mapping[str, float]
) -> dict[str, float]:
    """Divide an amount by weights; whatever exceeds a claim goes to the others."""
    found: dict[str, float] = {}
    open_ = dict(weights)
    while open_:
        whole = sum(open_.values())
        rest = capacity - sum(found.values())
        full = [path for path, weight in open_.items() if rest * weight / whole >= claims[path]]
        if not full:
            return found | {path: rest * weight / whole for path, weight in open_.items()}
        for path in full:
            found[path] = claims[path]
            del open_[path]
    return found


class Group(Struct, frozen=True):
    """The state of a share: CPUs that its packages have and want, its target, and its
    recent use, in CPU seconds.
    """

    path: str
    has: float
    wants: float
    target: float
    used: float


class Fairness(Struct, frozen=True):
    """The groups whose packages compete, and the path of each job."""

    groups: Mapping[str, Group]
    paths: Mapping[int, str]

    def order(self, job: int) -> float:
        """Return the sort key of jobs: those whose groups lack most of their targets first."""
        group = self.groups.get(self.paths.get(job, NOBODY))
        return 0.0 if group is None or not group.target else group.has / group.target - 1.0


def fairness(
    tree: Tree,
    paths: Mapping[int, str],
    has: Mapping[int, float],
    wants: Mapping[int, float],
    used: Mapping[str, float],
    capacity: float,
) -> Fairness:
    """Return the state of the groups of jobs; `has` and `wants` are CPUs by job, `wants` beyond."""
    having, wanting = dict.fromkeys(paths.values(), 0.0), dict.fromkeys(paths.values(), 0.0)
    for job, path in paths.items():
        having[path] += has.get(job, 0.0)
        wanting[path] += wants.get(job, 0.0)
    claims = {path: having[path] + wanting[path] for path in having}
    targets = tree.targets(claims, used, capacity)
    groups = {
        path: Group(path, having[path], wanting[path], targets[path], used.get(path, 0.0))
        for path in having
    }
    return Fairness(groups, paths)
