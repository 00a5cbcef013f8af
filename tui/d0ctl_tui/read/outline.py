"""Which row each line of the tree shows; pure functions."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct, field

Path = tuple[int, ...]
"""The ordinals, from 0, that lead from the root to a row."""


class Branch(Struct):
    """An expanded row: how many children it has, and which of them are expanded, too."""

    size: int
    open: dict[int, "Branch"] = field(default_factory=dict)
    _index: tuple[list[int], list[int], int] | None = None

    @property
    def height(self) -> int:
        """Return how many lines everything below it takes."""
        return self.index()[2]

    def index(self) -> tuple[list[int], list[int], int]:
        """Expanded ordinals, the line after each of them, and the height; kept until a change."""
        if self._index is None:
            ordinals, starts, height = sorted(self.open), [], self.size
            below = 0
            for ordinal in ordinals:
                starts.append(ordinal + below + 1)
                below += self.open[ordinal].height
            self._index = ordinals, starts, height + below
        return self._index

    def forget(self) -> None:
        """Compute it again at the next use."""
        self._index = None


class Outline:
    """A tree of which only expanded rows are known; lines count from 0."""

    def __init__(self, size: int = 0) -> None:
        self.root = Branch(size)

    @property
    def height(self) -> int:
        """Return how many lines it has."""
        return self.root.height

    def locate(self, line: int) -> Path:
        """Return the row on a line. Raises IndexError beyond the end."""
        if not 0 <= line < self.height:
            raise IndexError(line)
        branch = self.root
        path: Path = ()
        while True:
            ordinals, starts, _ = branch.index()
            at = bisect_right(starts, line) - 1
            if at < 0:
                return (*path, line)
            ordinal, within = ordinals[at], line - starts[at]
            child = branch.open[ordinal]
            if within >= child.height:
                return (*path, ordinal + 1 + within - child.height)
            branch, path, line = child, (*path, ordinal), within

    def line_of(self, path: Path) -> int:
        """Return the line of a row whose parents are all expanded. Raises KeyError otherwise."""
        branch, line = self.root, 0
        for depth, ordinal in enumerate(path):
            ordinals, starts, _ = branch.index()
            at = bisect_left(ordinals, ordinal)
            before = starts[at - 1] + branch.open[ordinals[at - 1]].height if at else 0
            last = ordinals[at - 1] + 1 if at else 0
            line += before + ordinal - last
            if depth < len(path) - 1:
                branch, line = branch.open[ordinal], line + 1
        return line

    def pinned(self, top: int, most: int) -> list[int]:
        """Return the lines of rows that replace the first ones below `top`, but no more than these.

        They are the ancestors of the row below them, the outer ones if there are too many.
        """
        if top >= self.height:
            return []
        count, row = 0, self.locate(top)
        while count < min(most, len(row) - 1, self.height - 1 - top):
            below = self.locate(top + count + 1)
            if len(below) - 1 <= count:  # a row further out, which has fewer ancestors
                break
            count, row = count + 1, below
        return [self.line_of(row[: depth + 1]) for depth in range(count)]

    def branch(self, path: Path) -> Branch | None:
        """Return the branch of a row; None if it is not expanded."""
        branch: Branch | None = self.root
        for ordinal in path:
            branch = branch.open.get(ordinal) if branch else None
        return branch

    def is_open(self, path: Path) -> bool:
        """Return whether a row is expanded."""
        return self.branch(path) is not None

    def expand(self, path: Path, size: int) -> None:
        """Show the children of a row whose parents are expanded. Raises KeyError otherwise."""
        branch = self.branch(path[:-1])
        if branch is None:
            raise KeyError(path)
        if path[-1] not in branch.open:
            branch.open[path[-1]] = Branch(size)
        self._changed(path)

    def resize(self, path: Path, size: int) -> None:
        """Let an expanded row have more children, or fewer."""
        branch = self.branch(path)
        if branch is not None and branch.size != size:
            branch.size = size
            branch.open = {at: below for at, below in branch.open.items() if at < size}
            branch.forget()
            self._changed(path)

    def nearest(self, path: Path) -> Path:
        """Return a row; if it no longer exists, the last one beside it, or its parent."""
        branch: Branch | None = self.root
        for depth, ordinal in enumerate(path):
            if branch is None or ordinal >= branch.size:
                last = branch.size - 1 if branch else -1
                return path[:depth] if last < 0 else (*path[:depth], last)
            branch = branch.open.get(ordinal)
        return path

    def collapse(self, path: Path) -> None:
        """Hide everything below a row."""
        branch = self.branch(path[:-1])
        if branch is not None and path:
            branch.open.pop(path[-1], None)
            self._changed(path)

    def collapse_all(self) -> None:
        """Hide everything but the top level."""
        self.root = Branch(self.root.size)

    def reorder(self, size: int, moved: Mapping[int, int]) -> None:
        """Give the top level another size and order; rows without a new ordinal are gone."""
        moved_branches = {
            moved[old]: branch for old, branch in self.root.open.items() if old in moved
        }
        self.root = Branch(size, moved_branches)

    def expanded(self) -> Iterator[Path]:
        """Return the paths of all expanded rows, parents first."""
        return _walk(self.root, ())

    def _changed(self, path: Path) -> None:
        branch: Branch | None = self.root
        for ordinal in path:
            if branch is None:
                return
            branch.forget()
            branch = branch.open.get(ordinal)


def moves(before: Sequence[int], now: Sequence[int]) -> dict[int, int]:
    """Return the new ordinals of rows by their old ones, from their ids; without those of none."""
    ordinals = {id: ordinal for ordinal, id in enumerate(now)}
    return {old: ordinals[id] for old, id in enumerate(before) if id in ordinals}


def _walk(branch: Branch, path: Path) -> Iterator[Path]:
    for ordinal in sorted(branch.open):
        yield (*path, ordinal)
        yield from _walk(branch.open[ordinal], (*path, ordinal))
