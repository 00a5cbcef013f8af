"""Failed packages by a common property: reason, node, software, input."""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from heapq import heappush, heappushpop, nlargest
from typing import Any

from msgspec import Struct, field

from d0ctl.select import Selector, union
from d0ctl.show.drawing.remark_texts import gist
from d0ctl.show.drawing.signs import Glyphs
from d0ctl.show.drawing.spans import Line, Span, cell_len, fit, foreign, pad, spread
from d0ctl.show.failures.alike import MOST_KINDS
from d0ctl.show.failures.failure_group import GroupCard
from d0ctl.store.views.activity import Failed
from d0ctl.units import count, likeness
from d0ctl_tui.draw.row_cells import clock

PROPERTIES: Mapping[str, Callable[[Failed], str | None]] = {
    "reason": lambda failed: failed.reason,
    "node": lambda failed: failed.node,
    "software": lambda failed: failed.software,
    "input": lambda failed: failed.input or "(none in common)",
}
"""The properties by which failures can be grouped, with functions that return them."""

COMPARED = 5_000
"""How many messages of a group are compared, in 10 ms."""

FIRST = 5
"""How many packages of each job and reason are looked at, to advise a retry."""

MEASURED = 1_000
"""How many groups, the first ones, decide how wide the columns are."""

NAME, JOB, WHERE = 32, 24, 24
"""How many columns name, job and node of a group get at most."""

ROOMY, WIDE = 100, 160
"""From these widths on there are more columns."""


class FailedPackages(Struct):
    """Failures that share a value of a property."""

    name: str
    ids: list[int] = field(default_factory=list)
    failures: list[Failed] = field(default_factory=list)
    acknowledged: int = 0
    first: float = 0.0
    last: float = 0.0
    message: str = ""
    tries: tuple[int, int] = (1, 1)
    jobs: Counter[str] = field(default_factory=Counter)
    nodes: Counter[str] = field(default_factory=Counter)
    latest: dict[tuple[str, str], list[tuple[float, int]]] = field(default_factory=dict)
    """When the latest of each job and reason ended, and their negative ids: a heap of a few."""
    causes: dict[str, int] | None = None
    """The messages of the first ones, those that are alike once; None until they are compared."""

    def take(self, failure: Failed) -> None:
        """Count a failure."""
        least, most = self.tries if self.ids else (failure.tries, failure.tries)
        self.tries = min(least, failure.tries), max(most, failure.tries)
        self.ids.append(failure.id)
        self.failures.append(failure)
        self.acknowledged += failure.acknowledged
        self.jobs[failure.job] += 1
        self.nodes[failure.node or "no node"] += 1
        latest = self.latest.setdefault((failure.job, failure.reason or "unknown"), [])
        if len(latest) < FIRST:
            heappush(latest, (_when(failure), -failure.id))
        else:
            heappushpop(latest, (_when(failure), -failure.id))
        if failure.ended is None:
            return
        self.first = min(self.first or failure.ended, failure.ended)
        if failure.ended >= self.last:
            self.last, self.message = failure.ended, failure.message or ""

    @property
    def kinds(self) -> dict[tuple[str, str], list[int]]:
        """The latest packages of a few jobs and reasons, that of the latest failure first."""
        order = nlargest(MOST_KINDS, self.latest, key=lambda kind: max(self.latest[kind]))
        return {kind: [-id for _, id in sorted(self.latest[kind], reverse=True)] for kind in order}

    def selector(self, by: str) -> Selector | None:
        """Return several failures of one reason as a selector; None for other groups."""
        if by != "reason" or len(self.ids) == 1 or self.failures[0].reason != self.name:
            return None
        return union(Selector(job, states=("failed",), reason=self.name) for job in self.jobs)

    def summary(self) -> GroupCard:
        """Return what is known of the group without reading its packages."""
        if self.causes is None:
            self.causes = self._compare()
        return GroupCard(
            name=self.name, number=len(self.ids), acknowledged=self.acknowledged,
            tries=self.tries, jobs=self.jobs, nodes=self.nodes, first=self.first,
            last=self.last, latest="", causes=self.causes,
            compared=min(len(self.ids), COMPARED),
        )  # fmt: skip

    def _compare(self) -> dict[str, int]:
        numbers: Counter[str] = Counter()
        latest: dict[str, str] = {}
        for failure in sorted(self.failures[:COMPARED], key=_when):
            alike = likeness(failure.message)
            numbers[alike] += 1
            latest[alike] = gist(failure.message)
        return {latest[alike]: number for alike, number in numbers.items()}


def _when(failure: Failed) -> float:
    return failure.ended or 0.0


ORDERS: Mapping[str, tuple[Callable[[FailedPackages], Any], bool]] = {
    "number": (lambda group: len(group.ids) - group.acknowledged, True),
    "name": (lambda group: group.name, False),
    "last": (lambda group: group.last, True),
    "nodes": (lambda group: len(group.nodes), True),
}
"""What groups can be sorted by, and whether the largest comes first; the first is usual."""


def grouped(
    failed: Iterable[Failed], by: str, order: str = "number", *, reverse: bool = False
) -> list[FailedPackages]:
    """Return the groups in an order: the most failures that are not acknowledged first."""
    read = PROPERTIES[by]
    found: dict[str, FailedPackages] = {}
    for failure in failed:
        name = read(failure) or "unknown"
        if name not in found:
            found[name] = FailedPackages(name)
        found[name].take(failure)
    key, largest_first = ORDERS[order]
    by_name = sorted(found.values(), key=lambda group: group.name)
    return sorted(by_name, key=key, reverse=largest_first is not reverse)


class GroupColumns(Struct, frozen=True):
    """The width of each column of the list of groups; 0 is omitted."""

    name: int
    job: int
    where: int
    acknowledged: int
    first: int

    @classmethod
    def of(cls, groups: Sequence[FailedPackages], columns: int, by: str) -> "GroupColumns":
        """Return the columns that the first groups need and for which there is room."""
        groups = groups[:MEASURED]

        def widest(texts: Iterable[str], title: str, most: int) -> int:
            needed = max(map(cell_len, (title, *texts))) + 2
            return min(most, needed, max(columns // 4, 8))

        roomy = columns >= ROOMY
        several = len({job for group in groups for job in group.jobs}) > 1
        return cls(
            widest((foreign(group.name) for group in groups), f"{by} ↓", NAME),
            widest(map(_jobs, groups), "job", JOB) if roomy and several else 0,
            widest(map(_where, groups), "where ↓", WHERE) if by != "node" else 0,
            16 if roomy and any(group.acknowledged for group in groups) else 0,
            10 if columns >= WIDE else 0,
        )


def heads(columns: GroupColumns, width: int, by: str, order: str = "", arrow: str = "") -> Line:
    """Return the names of the columns, with the order if it is not the usual one."""

    def head(name: str, room: int, of: str = "", *, right: bool = False) -> Span:
        is_sorted = bool(arrow) and order == of
        shown = f"{name} {arrow}" if is_sorted else name
        shown = shown.rjust(room - 1) if right else shown
        return pad(shown, room), "key" if is_sorted else "faint"

    left = [head("failed", 11, "number", right=True), head(by, columns.name, "name"),
            head("job", columns.job), head("where", columns.where, "nodes"),
            head("", columns.acknowledged), ("last message", "faint")]  # fmt: skip
    return spread(left, [head("first", columns.first), head("last", 9, "last")], width)


def row(
    group: FailedPackages, opened: bool, columns: GroupColumns, width: int, glyphs: Glyphs
) -> Line:
    """Return a group as a line."""
    now, seen = time.time(), group.acknowledged
    ellipsis = glyphs.ellipsis
    left: list[Span] = [
        (f" {glyphs.open if opened else glyphs.shut} ", "faint"),
        (f"{len(group.ids):>7,} ", "bad" if seen < len(group.ids) else ""),
        (pad(foreign(group.name), columns.name - 2, ellipsis=ellipsis) + "  ", "strong"),
    ]
    acknowledged = f"{seen:,} acknowledged" if seen else ""
    for cell, room in ((_jobs(group), columns.job), (_where(group), columns.where),
                       (acknowledged, columns.acknowledged)):  # fmt: skip
        if room:
            left.append((pad(cell, room - 2, ellipsis=ellipsis) + "  ", "faint"))
    left.append((foreign(gist(group.message)), "plain"))
    first = pad(clock(group.first, now), columns.first) if group.first else ""
    right = f"{pad(first, columns.first)}{clock(group.last, now):<8} "
    return spread(fit(left, width, ellipsis=ellipsis), [(right, "faint")], width)


def _jobs(group: FailedPackages) -> str:
    return foreign(next(iter(group.jobs))) if len(group.jobs) == 1 else count(
        len(group.jobs), "job")  # fmt: skip


def _where(group: FailedPackages) -> str:
    return foreign(next(iter(group.nodes))) if len(group.nodes) == 1 else count(
        len(group.nodes), "node")  # fmt: skip
