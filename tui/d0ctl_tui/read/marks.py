"""The marks of a person, and the one selection that they make."""

from array import array
from bisect import bisect_left
from collections.abc import Callable, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from d0ctl.select import Selector, parse, union
from d0ctl.select.condense import condense

DEPTHS = {"": 0, "job": 1, "stage": 2, "line": 3, "package": 4}


class MarkedList(Struct, frozen=True):
    """All siblings of a row, or all packages of a filter.

    `covers` says whether it contains a path (with the id of the package), `names` lists its paths.
    Without a selector only the paths define it.
    """

    selector: Selector | None
    number: int
    covers: Callable[[str, int | None], bool]
    names: Callable[[], Sequence[str]]


def beside(front: str, names: Sequence[str]) -> MarkedList:
    """Return all rows below `front`; without one, all jobs."""
    selector = parse(f"{front}/*" if front else "*")
    return MarkedList(
        selector, len(names), lambda path, id: path.rpartition("/")[0] == front, lambda: names
    )


def these(jobs: Sequence[str]) -> MarkedList:
    """Return the jobs that are listed, not the hidden ones."""
    known = frozenset(jobs)
    return MarkedList(
        union(map(parse, jobs)), len(jobs), lambda path, id: path in known, lambda: jobs
    )


def filtered(
    selector: Selector | None, ids: "array[int]", names: Callable[[], Sequence[str]]
) -> MarkedList:
    """Return all packages of a filter."""
    ordered = array("q", sorted(ids))

    def covers(path: str, id: int | None) -> bool:
        if id is None:
            return False
        index = bisect_left(ordered, id)
        return index < len(ordered) and ordered[index] == id

    return MarkedList(selector, len(ids), covers, names)


class Marks(Struct):
    """Rows by their paths, and whole lists of rows."""

    paths: set[str] = field(default_factory=set)
    wholes: list[MarkedList] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.paths) + sum(whole.number for whole in self.wholes)

    @property
    def only(self) -> str | None:
        """Return the path of a single mark; None for several and for none."""
        return next(iter(self.paths)) if len(self.paths) == 1 and not self.wholes else None

    @property
    def names(self) -> set[str]:
        """Return the paths of all marked rows."""
        return self.paths.union(*(whole.names() for whole in self.wholes))

    def clear(self) -> None:
        """Remove all marks."""
        self.paths.clear()
        self.wholes.clear()

    def covers(self, path: str, id: int | None = None) -> bool:
        """Return whether a row is marked."""
        return path in self.paths or any(whole.covers(path, id) for whole in self.wholes)

    def toggle(self, path: str, id: int | None = None) -> None:
        """Mark a row, or remove its mark."""
        if not self.covers(path, id):
            self.paths.add(path)
            return
        for whole in [whole for whole in self.wholes if whole.covers(path, id)]:
            self.wholes.remove(whole)
            self.paths.update(whole.names())
        self.paths.discard(path)

    def toggle_whole(self, whole: MarkedList, path: str, id: int | None) -> None:
        """Mark all rows of a list that contains this row; remove the marks if all are marked."""
        same = [whole for whole in self.wholes if whole.covers(path, id)]
        for other in same:
            self.wholes.remove(other)
        if not same:
            names = set(whole.names()) if self.paths else set()
            self.paths -= names
            self.wholes.append(whole)

    def selection(self, level: str = "") -> Selector | None:
        """Return the marks as one selection, cut to a level if there is one; else None."""
        paths, parts = list(self.paths), []
        for whole in self.wholes:
            if whole.selector is None or (level and not _is_at(whole.selector, level)):
                paths += whole.names()
            else:
                parts.append(whole.selector)
        cut = ["/".join(path.split("/")[: DEPTHS[level] or None]) for path in paths]
        parts += condense(cut)
        return union(parts) if parts else None


def _is_at(selector: Selector, level: str) -> bool:
    """Return whether an action on a level takes a selector as it is.

    Lines may be selected by the states of their packages: one that succeeds before the plan is
    carried out stays. Any other filter gives the rows that the person has seen.
    """
    if selector.level != level:
        return False
    parts = selector.parts
    if level == "line":
        parts = tuple(replace(part, states=()) for part in parts)
    return not any(part.is_filtered for part in parts)
