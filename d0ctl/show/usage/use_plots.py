"""The use of a node or a package over time, as a line of bars for each resource."""

from collections.abc import Callable, Sequence

from msgspec import Struct

from d0ctl.show.drawing.plot import Point, bars, resampled
from d0ctl.show.drawing.sheet import Cell, Sheet
from d0ctl.store.history.use_samples import NodeSample
from d0ctl.store.views.shapes.of_package import PackageSample
from d0ctl.units import count, duration, size

PERIOD_S = 7200.0
"""The longest period of the plots of a node."""

GAP_S = 180.0
"""A node that sends nothing for longer has a gap in its plots."""

LEAST = 2
"""How many samples a plot has at least."""

NARROWEST, WIDEST = 12, 60
"""How many columns a plot takes."""

WORDS = 46
"""The room for the words beside a plot."""


class Resource(Struct, frozen=True):
    """A plot: its name, its points, the height of its full bars, and how to write a value.

    `limit` is what there is in all. If it is None, there is no bar: it would have no full height.
    """

    name: str
    points: Sequence[Point]
    limit: float | None
    write: Callable[[float], str]


def node(
    sheet: Sheet,
    samples: Sequence[NodeSample],
    cpus: int,
    memory: int | None,
    disk: int | None,
    now: float,
    last_load: Point | None = None,
) -> None:
    """Draw load, memory and disk of a node in the last hours; nothing if there are no samples.

    The last load may have come after them: they are a minute apart.
    """
    if len(samples) < LEAST:
        return
    begin = max(samples[0].at, now - PERIOD_S)
    loads: list[Point] = [(sample.at, sample.load) for sample in samples]
    loads += [last_load] if last_load and last_load[0] > samples[-1].at else []
    _draw(sheet, begin, now, GAP_S, [
        Resource("load", loads, cpus, _cores),
        Resource("memory", [(sample.at, sample.rss) for sample in samples], memory, size),
        Resource("disk", [(sample.at, sample.disk_in_use) for sample in samples], disk, size),
    ])  # fmt: skip


def package(
    sheet: Sheet,
    samples: Sequence[PackageSample],
    started: float | None,
    cpus: float,
    memory: int | None,
    now: float,
) -> None:
    """Draw CPUs and memory of a running package since its start; nothing without samples."""
    if len(samples) < LEAST:
        return
    begin = samples[0].at if started is None else min(started, samples[0].at)
    _draw(sheet, begin, now, now - begin, [
        Resource("CPUs", _used(samples, begin), cpus, _cores),
        Resource("memory", [(sample.at, sample.rss) for sample in samples], memory, size),
    ])  # fmt: skip


def _used(samples: Sequence[PackageSample], begin: float) -> list[Point]:
    """Return how many CPUs were used until each sample, since the one before it."""
    points: list[Point] = []
    at, cpu = begin, 0.0
    for sample in samples:
        if sample.at > at:
            points.append((sample.at, max(0.0, sample.cpu - cpu) / (sample.at - at)))
        at, cpu = sample.at, sample.cpu
    return points


def _draw(
    sheet: Sheet, begin: float, now: float, longest: float, resources: Sequence[Resource]
) -> None:
    columns = max(NARROWEST, min(WIDEST, sheet.columns - WORDS))
    rows: list[list[Cell]] = []
    for resource in resources:
        known = [value for _, value in resource.points if value is not None]
        if not known:
            continue
        drawn, of = "", ""
        if resource.limit is not None:
            values = resampled(resource.points, begin, now, columns, longest)
            drawn = bars(values, max([*known, resource.limit]), sheet.glyphs)
            of = f" of {resource.write(resource.limit)}"
        rows.append([resource.name, (drawn, "live"),
                     f"{resource.write(known[-1])}{of}, "
                     f"most {resource.write(max(known))}"])  # fmt: skip
    if rows:
        sheet.head("use", f"in the last {duration(now - begin)}")
        sheet.table(rows)


def _cores(number: float) -> str:
    return count(int(number)) if number == int(number) else f"{number:.1f}"
