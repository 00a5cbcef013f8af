"""`d0ctl throttle`: how much of a node, researcher or job runs and starts at once."""

import time
from typing import TYPE_CHECKING, Any

from d0ctl.cli import options, session
from d0ctl.cli.action_command import Actions
from d0ctl.cli.terminal.fast_typer import group
from d0ctl.cli.terminal.output import emit, emit_json, table
from d0ctl.show import site_lists as lines

if TYPE_CHECKING:
    from d0ctl.cli.schemas import nodes

app = group("List or set limits of nodes, researchers and jobs.", Actions)


@app.command("list")
def list_throttles(json: options.Json = False) -> None:
    """Show every throttle, and how much of it is in use."""
    from d0ctl.store.clusters import throttles
    from d0ctl.store.nodes import registry

    rules, used = [], []
    if session.has_home():
        with session.reader() as store, store.reading():
            rules = throttles.rules(store)
            nodes = {row["id"]: row["name"] for row in registry.nodes(store)}
            used = throttles.in_use(store, nodes, now=time.time())
    if json:
        emit_json({"throttles": [_document(rule, used) for rule in rules]})
    elif rules:
        table([lines.throttle(rule, used) for rule in rules])
    else:
        emit(lines.NO_THROTTLES)


def _document(throttle: Any, used: list[Any]) -> "nodes.Throttle":
    return {
        "throttle": throttle.name, "max_running": throttle.max_running,
        "max_launches": throttle.launches,
        "per": throttle.per_s or None,
        "in_use": [{"name": each.name, "running": each.running, "launched": each.launched}
                   for each in used if each.throttle == throttle],
    }  # fmt: skip
