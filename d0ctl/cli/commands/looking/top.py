"""`d0ctl top`: nodes and packages by use, redrawn in place on a terminal."""

import os
import sys
import time

from msgspec.structs import asdict

from d0ctl.cli import options, session
from d0ctl.cli.terminal.fast_typer import single
from d0ctl.cli.terminal.output import emit_json, is_terminal, sheet, show, terminal_columns
from d0ctl.show.drawing.sheet import Sheet
from d0ctl.show.usage import top_page
from d0ctl.show.usage.top_page import NodeUse, PackageUse
from d0ctl.store.connection import Row, Store
from d0ctl.store.history import use_samples
from d0ctl.store.nodes import registry

app = single()

LOOK_S = 1.0
"""How often it reads the database on a terminal."""


@app.command()
def top(json: options.Json = False) -> None:
    """Show nodes and packages by use; on a terminal until q is pressed."""
    with session.reader() as store:
        if json:
            nodes, packages = _read(store)
            emit_json({"nodes": [asdict(node) for node in nodes],
                       "packages": [asdict(package) for package in packages]})  # fmt: skip
        elif is_terminal(sys.stdout) and os.environ.get("TERM") != "dumb":
            _watch(store)
        else:
            page = sheet(terminal_columns())
            _draw(page, store)
            show(page)


def _watch(store: Store) -> None:
    from d0ctl.cli.terminal.live_screen import LiveScreen

    with LiveScreen() as screen:
        key = ""
        while key != "quit":
            page = sheet(terminal_columns())
            _draw(page, store)
            screen.draw(page, time.time())
            key = screen.wait(LOOK_S)


def _draw(page: Sheet, store: Store) -> None:
    now = time.time()
    loads = use_samples.loads(store, since=now - top_page.HOUR_S)
    top_page.draw(page, *_read(store), loads, now)


def _read(store: Store) -> tuple[list[NodeUse], list[PackageUse]]:
    """Return nodes and packages, those that use most first."""
    with store.reading():
        rooms = {row["id"]: row for row in registry.capacities(store)}
        packages = [_package(row) for row in registry.packages_in_use(store)]
        nodes = [_node(row, rooms.get(row["id"]), packages) for row in registry.nodes(store)]
    nodes.sort(key=lambda node: (-node.given, node.name))
    packages.sort(key=lambda package: (-(package.cores or 0.0), -(package.rss or 0), package.path))
    return nodes, packages


def _package(row: Row) -> PackageUse:
    ran = row["seconds"]
    cores = row["cpu"] / ran if row["cpu"] is not None and ran and ran > 0 else None
    return PackageUse(row["path"], row["node"], row["phase"], row["cpus"], cores, row["rss"],
                      row["percent"])  # fmt: skip


def _node(row: Row, room: Row | None, packages: list[PackageUse]) -> NodeUse:
    here = [package for package in packages if package.node == row["name"]]
    cores = [package.cores for package in here if package.cores is not None]
    rss = [package.rss for package in here if package.rss is not None]
    state = "drained" if row["drained"] and row["state"] == "up" else row["state"]
    given, disk, free = (room["used"], room["disk"], room["disk_free"]) if room else (0, None, None)
    return NodeUse(row["name"], state, row["cpus"], given, sum(cores) if cores else None,
                   sum(rss) if rss else None, row["memory"], len(here), disk, free)  # fmt: skip
