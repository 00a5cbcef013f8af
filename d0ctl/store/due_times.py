"""Due times, how long packages may still take, and when CPUs are free after them."""

import heapq
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping

from msgspec import Struct, field

from d0ctl.schedule.estimates import Range
from d0ctl.store.connection import Row, Store

QUERIES = (
    "advance_tries", "advance_releases", "advance_pauses", "advance_transfers",
    "advance_archives", "advance_canaries", "advance_notices", "advance_deliveries",
)  # fmt: skip

OVERDUE = 0.1
"""How long an overdue package may still take, as a fraction of its run time so far."""

DOUBT = 4.0
"""Eight of ten packages are within the range of an estimate. One that takes longer than expected
still takes a fraction of the range, one in so many.
"""

EARLY = 0.1
"""After this part of its run, a package may take twice or half as long as it reports."""

LEAST_PART = 0.001
"""A report is no worse than after this part of a run."""

EPSILON = 1e-6
"""CPUs that are lost in rounding."""


def advance(store: Store, by_s: float, *, now: float) -> None:
    """Shift all due times, so that each is as far from `now` as before the clock was set back."""
    for query in QUERIES:
        store.change(query, by_s=by_s, now=now)


def left_s(row: Row, now: float) -> float:
    """Return how long a package may still take; if overdue, a fraction of its run time so far.

    If the range of its estimate is narrow, the estimate is trusted up to its last moments.
    """
    passed = max(0.0, now - float(row["since"]))
    expected = None if row["seconds"] is None else float(row["seconds"]) / float(row["speed"])
    if row["queued"]:
        return expected or 0.0
    if row["eta"] is not None:
        return max(0.0, float(row["eta"]) - now)
    if expected is None:
        return passed
    least = OVERDUE * passed
    if row["spread"] is not None and passed < expected + row["spread"] / 2:
        least = min(least, row["spread"] / DOUBT)
    return max(expected - passed, least)


def doubt(began: float, end: float, now: float) -> float:
    """Return by which factor the rest of a run may differ from a progress report.

    After a hundredth of the run it is 11, after a tenth 2, after half 1.2.
    """
    part = max(now - began, 0.0) / max(end - began, 1e-9)
    return 1 + EARLY / max(min(part, 1.0), LEAST_PART)


class PackageTimes(Struct, frozen=True):
    """When a package begins, None if it has, and when it ends."""

    start: Range | None
    end: Range
    wall_time: float | None = None
    """The seconds after which it is ended, if it would take longer."""

    def later(self, seconds: float) -> "PackageTimes":
        """Return the times of a package that begins so much later."""
        shift = Range(seconds, seconds, seconds)
        begin = None if self.start is None else self.start + shift
        return PackageTimes(begin, self.end + shift, self.wall_time)


def times_of_running(row: Row, whole: Range, now: float) -> PackageTimes:
    """Return the end of a running package, which is no later than its wall time."""
    end = _end_of_running(row, whole, now)
    if row["wall_time"] is None:
        return PackageTimes(None, end)
    limit = float(row["began"]) + float(row["wall_time"])
    if end.middle <= limit:
        return PackageTimes(None, Range(end.low, end.middle, min(end.high, limit)))
    return PackageTimes(None, Range(limit, limit, limit), float(row["wall_time"]))


def begin_by(end: Range, takes: Range, begin: Range) -> Range:
    """Return when a package begins that ends by then at the latest, by its run time."""
    low = min(begin.low, end.low - takes.low)
    middle = max(low, min(begin.middle, end.middle - takes.middle))
    return Range(low, middle, max(middle, min(begin.high, end.high - takes.high)))


def _end_of_running(row: Row, whole: Range, now: float) -> Range:
    """Return when a package on a node ends, by its own progress report if it sends any."""
    began = float(row["began"])
    if row["eta"] is not None:
        end = max(now, float(row["eta"]))
        factor = doubt(began, end, now)
        return Range(
            min(now + (end - now) / factor, max(now, began + whole.low)), end,
            max(now + (end - now) * factor, began + whole.high),
        )  # fmt: skip
    return (Range(began, began, began) + whole).at_least(now)


class FreeCpus:
    """The CPUs of a node, as packages that begin later find them."""

    def __init__(self, cpus: float) -> None:
        self._free, self._begin = cpus, 0.0
        self._ends: list[tuple[float, float]] = []

    def wait(self, cpus: float) -> float:
        """Return in how many seconds so many CPUs are free, after all packages before."""
        while self._ends and self._free + EPSILON < cpus:
            self._begin, freed = heapq.heappop(self._ends)
            self._free += freed
        return self._begin

    def take(self, cpus: float, end: float) -> None:
        """Use CPUs until in so many seconds."""
        self._free -= cpus
        heapq.heappush(self._ends, (end, cpus))


def in_order(rows: Iterable[Row]) -> list[Row]:
    """Return packages on a node as they get its CPUs: those that have begun, then its queue."""
    return sorted(rows, key=lambda row: (row["queued"], row["since"], row["id"]))


class Waits(Struct, frozen=True):
    """In how many seconds CPUs are free on nodes that take packages.

    That is infinite if packages of unknown run time have them.
    """

    next_free: float
    """For a package that is not on a node."""
    begins: Mapping[int, float] = field(default_factory=dict)
    """For packages that are queued on nodes, by their ids."""
    queued: Mapping[tuple[int, int], int] = field(default_factory=Counter)
    """How many packages of stages are on nodes, also others, and have not begun."""


def waits(rows: Iterable[Row], nodes: Iterable[Row], now: float) -> Waits:
    """Return when packages begin that wait for CPUs of these nodes, by the packages on nodes."""
    by_node: dict[int, list[Row]] = defaultdict(list)
    queued: Counter[tuple[int, int]] = Counter()
    for row in rows:
        if not row["takes_no_cpus"]:
            by_node[row["node_id"]].append(row)
        if row["queued"]:
            queued[row["job_id"], row["stage"]] += 1
    begins: dict[int, float] = {}
    soonest = math.inf
    for node in nodes:
        cpus = FreeCpus(node["cpus"] + node["suspended"])
        for row in in_order(by_node[node["id"]]):
            begin = 0.0
            if row["queued"]:
                begin = begins[row["id"]] = cpus.wait(row["cpus"])
            cpus.take(row["cpus"], begin + _takes_s(row, now))
        if node["cpus"]:
            soonest = min(soonest, cpus.wait(min(1.0, node["cpus"])))
    return Waits(soonest, begins, queued)


def _takes_s(row: Row, now: float) -> float:
    """Return for how long a package keeps its CPUs; infinite if nobody knows."""
    is_known = row["seconds"] is not None or row["eta"] is not None
    return left_s(row, now) if is_known and not row["is_stopped"] else math.inf
