"""`d0ctl throttle`: how much of a node, researcher or job runs and starts at once."""

import time
from functools import partial
from typing import TYPE_CHECKING, Any

from d0ctl.cli import options, session
from d0ctl.cli.action_command import Actions
from d0ctl.cli.terminal.fast_typer import group
from d0ctl.cli.terminal.output import emit, print_list
from d0ctl.show import site_lists as lines

if TYPE_CHECKING:
    from d0ctl.cli.schemas import nodes

app = group("List or set limits of nodes, researchers and jobs.", Actions)


@app.command("list")
def list_throttles(json: options.Json = False) -> None:
    """Show every throttle, and how much of it is in use."""
    from d0ctl.store.clusters import throttles
    from d0ctl.store.nodes import registry
    from d0ctl.store.nodes.site import throttle_rules

    rules, used = [], []
    if session.has_home():
        with session.reader() as store, store.reading():
            rules = throttle_rules(store)
            nodes = {row.id: row.name for row in registry.nodes(store)}
            used = throttles.in_use(store, nodes, now=time.time())
    print_list("throttles", rules, partial(_document, used=used),
               partial(lines.throttle, used=used), lines.NO_THROTTLES, json=json)  # fmt: skip
    if not json and lines.overlaps(rules):
        emit(lines.SMALLEST_HOLDS)


def _document(throttle: Any, used: list[Any]) -> "nodes.Throttle":
    from d0ctl.cli.schemas import nodes
    from d0ctl.cli.schemas.fill import fill

    return fill(
        nodes.Throttle,
        throttle,
        throttle=throttle.name,
        max_launches=throttle.launches,
        per=throttle.per_s or None,
        in_use=[fill(nodes.Throttled, each) for each in used if each.throttle == throttle],
    )
