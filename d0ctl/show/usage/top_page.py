"""The page of `top`: nodes and packages by use."""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from d0ctl.show.drawing import signs
from d0ctl.show.drawing.plot import Point, bars, resampled
from d0ctl.show.drawing.sheet import Cell, Sheet
from d0ctl.show.usage.use_plots import GAP_S
from d0ctl.show.why.common import slots
from d0ctl.store.views.activity import NodeUse as SlotUse
from d0ctl.units import count, duration, size

GAUGE = 12
"""How many columns the gauge of a node takes."""

PLOT, PERIOD_S = 20, 3600.0
"""How many columns the plot of a node's load takes, and how long a time unless the user says."""

WIDE = 100
"""From how many columns on there is room for gauges and plots."""

IDLE = "no package is on a node"


class NodeUse(Struct, frozen=True):
    """A node: its CPUs, those given to packages, and what these used, as far as reported."""

    name: str
    state: str
    cpus: int
    given: float
    cores: float | None
    rss: int | None
    memory: int | None
    packages: int
    disk: int | None
    disk_free: int | None
    disk_in_use: int | None
    running: float = 0.0
    """The CPUs given to packages that run, and how many packages wait for a slot, or for inputs."""
    next: int = 0
    staging: int = 0
    suspended: float = 0.0
    """The CPUs of packages that are suspended."""
    unreachable: int = 0
    """How many packages are on it while it does not answer."""


class PackageUse(Struct, frozen=True):
    """A package on a node; `cores` is its CPU time by its run time, None if not reported."""

    path: str
    node: str
    phase: str
    cpus: float
    cores: float | None
    rss: int | None
    percent: float | None


def draw(
    sheet: Sheet,
    nodes: Sequence[NodeUse],
    packages: Sequence[PackageUse],
    loads: Mapping[str, Sequence[Point]],
    now: float,
    period: float = PERIOD_S,
) -> None:
    """Draw nodes and packages, those that use most first; `loads` are those of the period."""
    sheet.head("nodes", "CPUs and memory as packages reported them last")
    heads = (
        "",
        "",
        "",
        "slots",
        "used",
        "memory",
        "of",
        "disk",
        "of",
        "packages",
        f"load, {duration(period).removesuffix(' 00 min')}",
    )
    rows: list[list[Cell]] = [[(head, "faint") for head in heads]]
    is_wide = sheet.columns >= WIDE
    if not (with_loads := is_wide and any(loads.values())):
        rows[0][-1] = ""
    rows += [
        [(node.name, "strong"), signs.mark(node.state, sheet.glyphs),
         signs.gauge(node.running / max(1, node.cpus), GAUGE * is_wide, sheet.glyphs),
         _slots(node), _cores(node.cores), _size(node.rss), _size(node.memory),
         _size(node.disk_in_use), _size(node.disk), count(node.packages),
         (_load(node, loads.get(node.name, ()), now, period, sheet) if with_loads else "", "live")]
        for node in nodes
    ]  # fmt: skip
    sheet.table(rows, right=range(3, len(heads) - 1))
    sheet.head("packages")
    if not packages:
        sheet.say(IDLE)
        return
    columns = ("", "", "", "CPUs", "used", "memory", "done")
    rows = [[(head, "faint") for head in columns]]
    rows += [
        [(package.path, "strong"), signs.mark(package.phase, sheet.glyphs), package.node,
         f"{package.cpus:g}", _cores(package.cores), _size(package.rss),
         "" if package.percent is None else f"{package.percent:.0f} %"]
        for package in packages
    ]  # fmt: skip
    sheet.table(rows, right=range(3, len(columns)))


def _slots(node: NodeUse) -> str:
    return slots(
        SlotUse(node.running, node.next, node.staging, node.unreachable, node.suspended), node.cpus
    )


def _load(node: NodeUse, points: Sequence[Point], now: float, period: float, sheet: Sheet) -> str:
    values = resampled(points, now - period, now, PLOT, GAP_S)
    top = max(float(node.cpus), *(value or 0.0 for value in values))
    return bars(values, top, sheet.glyphs).rstrip()


def _cores(cores: float | None) -> str:
    return "-" if cores is None else f"{cores:.1f}"


def _size(number: int | None) -> str:
    return "-" if number is None else size(number)
