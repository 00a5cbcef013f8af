"""The plots of use and of rates are those of the documents, on a site at work."""

import math
import re
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from itertools import pairwise

import pytest

from d0ctl.units import size
from tests.support import rows
from tests.support.site import Site
from tests.tui.conftest import Desk, Open

SPARKS = "▁▂▃▄▅▆▇█"
TWO_HOURS_S, GAP_S, BUCKET_S = 7200.0, 180.0, 10

Points = Sequence[tuple[float, float | None]]


@pytest.fixture(scope="module")
def sampled(busy: Site) -> Iterator[Site]:
    """The site at work, with samples of the last hour: some of them are missing."""
    now, path = int(time.time()), "long/1/1/1"
    with busy.opened() as store, store.writing():
        node = rows.value(store, "node", "id", name="localhost")
        package = busy.id_of(path)
        attempt = rows.value(store, "attempt", "id", package_id=package)
        for minute in range(60, 0, -1):
            if not 20 < minute < 30:
                rows.insert(store, "node_sample", node_id=node, at=now - 60 * minute,
                            load=minute % 7 / 2, rss=minute * 10**7,
                            disk_in_use=10**9 + minute * 10**7)  # fmt: skip
        rows.delete(store, "progress", package_id=package)
        rows.insert(store, "progress", package_id=package, attempt_id=attempt, seq=10**6,
                    at=now, binary=1, line="", cpu=400.0, rss=3 * 10**8)  # fmt: skip
        for minute in range(9):
            rows.insert(store, "package_sample", package_id=package, attempt_id=attempt,
                        at=now - 60 * (9 - minute), cpu=60.0 * minute * (minute % 3),
                        rss=(minute + 1) * 10**7)  # fmt: skip
    yield busy


def moments(text: str) -> float:
    """A time of a document."""
    return datetime.fromisoformat(text).timestamp()


def bars(points: Points, begin: float, now: float, columns: int, longest: float, top: float) -> str:
    """What a line of bars shows: the largest value that holds in each column, beside the top."""
    step, before = (now - begin) / columns, -math.inf
    held: list[list[float]] = [[] for _ in range(columns)]
    for at, value in points:
        since, before = max(before, at - longest, begin), at
        first, last = (int((end - begin) / step) for end in (since, at))
        if value is not None:
            for column in range(first, min(last, columns - 1) + 1):
                held[column].append(value)
    levels = [round(8 * max(values) / top) if values else 0 for values in held]
    return "".join(SPARKS[max(0, level - 1)] if values else " "
                   for level, values in zip(levels, held, strict=True)).rstrip()  # fmt: skip


def shown(lines: Sequence[str], name: str) -> tuple[str, list[str]]:
    """A plot on the screen: its bars, if there are any, and the values behind them."""
    line = next((line for line in lines if re.match(rf"\s*{name}\s+([▁-█]|\d.* most )", line)), "")
    found = re.match(rf"\s*{name}\s+(?:([ ▁-█]*[▁-█])\s+)?(\S.*)$", line)
    return (found[1] or "", re.findall(r"\d[\d.]*(?: [kMG]?B)?", found[2])) if found else ("", [])


def of_value(write: Callable[[float], str], points: Points, limit: float | None) -> list[str]:
    """The values behind a plot: the last one, the limit, the largest."""
    known = [value for _, value in points if value is not None]
    return [write(known[-1]), *([] if limit is None else [write(limit)]), write(max(known))]


def number(value: float) -> str:
    """A number of CPUs."""
    return f"{value:.0f}" if value == int(value) else f"{value:.1f}"


def node_plots(site: Site) -> dict[str, tuple[Points, float | None, Callable[[float], str]]]:
    """Each plot of the node by its name: points, limit, and how a value is written."""
    document = site.json("top", "--since", "2h")
    (node,) = document["nodes"]
    samples = [(moments(one["at"]), one) for one in document["samples"]["nodes"]["localhost"]]
    return {
        "load": ([(at, sample["load"]) for at, sample in samples], node["cpus"], number),
        "memory": ([(at, sample["rss"]) for at, sample in samples], node["memory"],
                   lambda value: size(int(value))),
        "disk": ([(at, sample["disk_in_use"]) for at, sample in samples], node["disk"],
                 lambda value: size(int(value))),
    }  # fmt: skip


def package_plots(site: Site) -> dict[str, tuple[Points, float | None, Callable[[float], str]]]:
    """Each plot of the package by its name."""
    samples = site.json("top", "--since", "2h")["samples"]["packages"]["long/1/1/1"]
    package = site.json("status", "long/1/1/1")
    times = [moments(sample["at"]) for sample in samples]
    cores: Points = [
        (end, max(0.0, later["cpu"] - one["cpu"]) / (end - at))
        for (at, one), (end, later) in pairwise(zip(times, samples, strict=True))
    ]
    return {
        "CPUs": (cores, package["cpus"], number),
        "memory": (list(zip(times, [sample["rss"] for sample in samples], strict=True)),
                   package["asked"]["memory"], lambda value: size(int(value))),
    }  # fmt: skip


def are_drawn(
    lines: Sequence[str],
    plots: dict[str, tuple[Points, float | None, Callable[[float], str]]],
    columns: int,
    opened: float,
    *,
    is_package: bool,
) -> bool:
    """Return whether the plots are on the screen, as of a moment since it was opened."""
    now = time.time()
    first = min(points[0][0] for points, _, _ in plots.values())
    for tick in (opened + tick / 20 for tick in range(int(20 * (now - opened)) + 2)):
        if is_package:
            begin, longest = min(at for at, _ in plots["memory"][0]), tick
        else:
            begin, longest = max(first, tick - TWO_HOURS_S), GAP_S
        for name, (points, limit, write) in plots.items():
            top = max([*(value for _, value in points if value is not None), limit or 0.0])
            drawn = bars(points, begin, tick, columns, longest, top)
            if shown(lines, name) != (
                "" if limit is None else drawn,
                of_value(write, points, limit),
            ):
                break
        else:
            return True
    return False


def test_the_plots_of_a_node_are_its_samples(sampled: Site, dashboard: Open) -> None:
    async def script(desk: Desk) -> None:
        await desk.press("o")
        await desk.sees("use  in the last")
        await desk.until(
            lambda: are_drawn(desk.lines("nodeabout"), node_plots(sampled), 60, desk.opened,
                              is_package=False),
            f"the plots of {node_plots(sampled)}",
        )  # fmt: skip

    dashboard(script, home=sampled.home.root, size=(200, 60))


def test_the_plots_of_a_package_are_its_samples(sampled: Site, dashboard: Open) -> None:
    async def script(desk: Desk) -> None:
        await desk.press("v")
        await desk.sees("use  in the last")
        await desk.until(
            lambda: are_drawn(desk.lines("about"), package_plots(sampled), 60, desk.opened,
                              is_package=True),
            f"the plots of {package_plots(sampled)}",
        )  # fmt: skip

    dashboard(script, home=sampled.home.root, start="long/1/1/1", size=(200, 60))


def ends(site: Site) -> list[float]:
    """When packages ended, by their histories."""
    events = [event for path in site.phases() for event in site.json("history", path)["events"]]
    return [moments(event["at"]) for event in events if event["to"] in ("done", "failed")]


def rates(found: Sequence[float], now: float, columns: int, high: int) -> list[str]:
    """What the strip of rates shows at a moment."""
    last = int(now // BUCKET_S)
    buckets = [int(at // BUCKET_S) - last for at in found]
    counts = [buckets.count(number) for number in range(1 - columns, 1)]
    minutes = [sum(number - 6 <= one < number for one in buckets)
               for number in range(1 - columns, 1)]  # fmt: skip
    minute = max(minutes[-1], sum(-6 < one <= 0 for one in buckets))
    levels = [-(-8 * high * one // max(1, *counts)) for one in counts]
    plot = ["".join(" " if level <= 8 * row else SPARKS[min(8, level - 8 * row) - 1]
                    for level in levels).rstrip() for row in reversed(range(high))]  # fmt: skip
    return [*plot, f"{minute} a minute", f"peak {max(*minutes[6:-1], minute)}",
            f"{sum(counts)} ended", f"in the last {columns * BUCKET_S // 60} min"]  # fmt: skip


def test_rates_are_those_of_the_ends_in_the_histories(busy: Site, dashboard: Open) -> None:
    found = ends(busy)
    assert len(found) >= 5

    async def script(desk: Desk) -> None:
        await desk.sees(f"{len(found)} ended")
        strip = desk.main.strips[2]
        columns, high = strip.size.width, strip.size.height - 2

        def is_right() -> bool:
            lines = desk.lines("rates")
            words = [one for line in lines[high:] for one in re.split(r" {2,}", line.strip())]
            ticks = [desk.opened + tick for tick in range(int(time.time() - desk.opened) + 2)]
            return any([*lines[:high], *words] == rates(found, at, columns, high) for at in ticks)

        await desk.until(is_right, f"{rates(found, desk.opened, columns, high)}")

    dashboard(script, home=busy.home.root, size=(240, 60))
