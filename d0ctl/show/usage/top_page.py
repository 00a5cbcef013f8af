"""The page of `top`: nodes and packages by use."""

from collections.abc import Sequence

from msgspec import Struct

from d0ctl.show.drawing import signs
from d0ctl.show.drawing.sheet import Cell, Sheet
from d0ctl.units import count, size

GAUGE = 12
"""How many columns the gauge of a node takes."""

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


class PackageUse(Struct, frozen=True):
    """A package on a node; `cores` is its CPU time by its run time, None if not reported."""

    path: str
    node: str
    phase: str
    cpus: float
    cores: float | None
    rss: int | None
    percent: float | None


def draw(sheet: Sheet, nodes: Sequence[NodeUse], packages: Sequence[PackageUse]) -> None:
    """Draw nodes and packages, those that use most first."""
    sheet.head("nodes", "CPUs and memory as packages reported them last")
    heads = ("", "", "", "given", "used", "memory", "of", "packages")
    rows: list[list[Cell]] = [[(head, "faint") for head in heads]]
    rows += [
        [(one.name, "strong"), signs.mark(one.state, sheet.glyphs),
         signs.gauge(one.given / max(1, one.cpus), GAUGE, sheet.glyphs),
         f"{one.given:g}/{one.cpus}", _cores(one.cores), _size(one.rss), _size(one.memory),
         count(one.packages)]
        for one in nodes
    ]  # fmt: skip
    sheet.table(rows, right=range(3, len(heads)))
    sheet.head("packages")
    if not packages:
        sheet.say(IDLE)
        return
    columns = ("", "", "", "CPUs", "used", "memory", "done")
    rows = [[(head, "faint") for head in columns]]
    rows += [
        [(one.path, "strong"), signs.mark(one.phase, sheet.glyphs), one.node, f"{one.cpus:g}",
         _cores(one.cores), _size(one.rss),
         "" if one.percent is None else f"{one.percent:.0f} %"]
        for one in packages
    ]  # fmt: skip
    sheet.table(rows, right=range(3, len(columns)))


def _cores(cores: float | None) -> str:
    return "-" if cores is None else f"{cores:.1f}"


def _size(number: int | None) -> str:
    return "-" if number is None else size(number)
