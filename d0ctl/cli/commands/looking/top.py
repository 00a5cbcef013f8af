"""`d0ctl top`: nodes and packages by use, redrawn in place on a terminal."""

import os
import sys
import time
from collections.abc import Iterable, Mapping
from typing import Annotated, Any

import typer
from msgspec.structs import asdict

from d0ctl.cli import options, session
from d0ctl.cli.terminal.fast_typer import single
from d0ctl.cli.terminal.output import emit_json, is_terminal, sheet, show
from d0ctl.cli.terminal.periods import length
from d0ctl.model import Node, NodeCapacity
from d0ctl.show.drawing.sheet import Sheet
from d0ctl.show.usage import top_page
from d0ctl.show.usage.top_page import NodeUse, PackageUse
from d0ctl.store.connection import Store
from d0ctl.store.history import use_samples
from d0ctl.store.nodes import registry
from d0ctl.store.views import activity
from d0ctl.units import iso

app = single()

NO_ROOM = (0, None, None, None)
"""For a node that was just added."""

LOOK_S = 1.0
"""How often it reads the database on a terminal."""


Since = Annotated[
    str | None,
    typer.Option("--since", metavar="TIME", show_default=False,
                 help="Period of the plots, and of samples in --json (default: 1h, no samples)."),
]  # fmt: skip


@app.command()
def top(since: Since = None, json: options.Json = False) -> None:
    """Show nodes and packages by use; on a terminal until q is pressed."""
    period = length(since)
    with session.reader() as store:
        if json:
            nodes, packages = _read(store)
            emit_json({"nodes": [asdict(node) for node in nodes],
                       "packages": [asdict(package) for package in packages],
                       "samples": None if period is None else _samples(store, period)})  # fmt: skip
        elif is_terminal(sys.stdout) and os.environ.get("TERM") != "dumb":
            _watch(store, period or top_page.PERIOD_S)
        else:
            page = sheet()
            _draw(page, store, period or top_page.PERIOD_S)
            show(page)


def _samples(store: Store, period: float) -> Any:
    """Return what nodes, and packages on them, used in a period."""
    since = time.time() - period
    with store.reading():
        return {"nodes": _documents(use_samples.of_nodes(store, since=since)),
                "packages": _documents(use_samples.of_packages(store, since=since))}  # fmt: skip


def _documents(found: Mapping[str, Iterable[Any]]) -> Any:
    return {name: [{**asdict(sample), "at": iso(sample.at)} for sample in samples]
            for name, samples in found.items()}  # fmt: skip


def _watch(store: Store, period: float) -> None:
    from d0ctl.cli.terminal.live_screen import LiveScreen

    with LiveScreen() as screen:
        key = ""
        while key != "quit":
            page = sheet()
            _draw(page, store, period)
            screen.draw(page, time.time())
            key = screen.wait(LOOK_S)


def _draw(page: Sheet, store: Store, period: float) -> None:
    now = time.time()
    samples = use_samples.of_nodes(store, since=now - period)
    loads = {name: [(use.at, use.load) for use in found] for name, found in samples.items()}
    top_page.draw(page, *_read(store), loads, now, period)


def _read(store: Store) -> tuple[list[NodeUse], list[PackageUse]]:
    """Return nodes and packages, those that use most first."""
    with store.reading():
        rooms = {row.id: row for row in registry.capacities(store)}
        packages = [_package(row) for row in registry.packages_in_use(store)]
        uses = activity.node_use(store)
        nodes = [
            _node(row, rooms.get(row.id), uses.get(row.id, activity.NodeUse()), packages)
            for row in registry.nodes(store)
        ]
    nodes.sort(key=lambda node: (-node.given, node.name))
    packages.sort(key=lambda package: (-(package.cores or 0.0), -(package.rss or 0), package.path))
    return nodes, packages


def _package(package: registry.PackageInUse) -> PackageUse:
    ran = package.seconds
    cores = package.cpu / ran if package.cpu is not None and ran and ran > 0 else None
    return PackageUse(package.path, package.node, package.phase, package.cpus, cores, package.rss,
                      package.percent)  # fmt: skip


def _node(
    row: Node, room: NodeCapacity | None, use: activity.NodeUse, packages: list[PackageUse]
) -> NodeUse:
    here = [package for package in packages if package.node == row.name]
    cores = [package.cores for package in here if package.cores is not None]
    rss = [package.rss for package in here if package.rss is not None]
    state = "drained" if row.drained and row.state == "up" else row.state
    used, disk, free, in_use = (
        (room.used, room.disk, room.disk_free, room.disk_in_use) if room else NO_ROOM
    )
    return NodeUse(row.name, state, row.cpus, used, sum(cores) if cores else None,
                   sum(rss) if rss else None, row.memory, len(here), disk, free, in_use,
                   use.used, use.ahead, use.staging, use.suspended,
                   use.unreachable)  # fmt: skip
