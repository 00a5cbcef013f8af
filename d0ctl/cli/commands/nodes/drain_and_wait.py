"""`d0ctl node drain --wait`: drain nodes, and wait until no packages are left on them."""

import math
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Any

import typer

from d0ctl.actions.action import AnyRequest, node_target
from d0ctl.actions.nodes import node_drain
from d0ctl.cli import action_command, changing, options, session
from d0ctl.cli.terminal.output import emit, say
from d0ctl.errors import BadUsage, ExitCode
from d0ctl.model import Node
from d0ctl.select.node_names import matching
from d0ctl.show.cards import node as node_line
from d0ctl.show.cards.daemon import no_daemon
from d0ctl.store.connection import Store
from d0ctl.store.nodes import draining, registry
from d0ctl.store.nodes.holder import any_driver
from d0ctl.store.views import activity
from d0ctl.store.views.awaited import DaemonWatch

LOOK_S = 1.0
"""How often the database is read."""

Wait = Annotated[
    bool,
    typer.Option("--wait", help="Wait until no packages are left there, also if it is drained."),
]
Timeout = Annotated[
    str | None,
    typer.Option("--timeout", metavar="TIME", help="With --wait: wait no longer, e.g. `2h`."),
]


def drain(request: AnyRequest[Any, Any], wait: bool, timeout: str | None) -> None:
    """Drain nodes; with `wait` those that no person has drained, and wait for all of them."""
    if timeout is not None and not wait:
        raise BadUsage("--timeout needs --wait")
    length = math.inf if timeout is None else options.seconds("--timeout", timeout)
    if not wait or changing.is_rehearsal() or not session.has_home():
        action_command.carry_out(request)
        return
    with session.reader() as store, store.reading():
        rows = registry.nodes(store)
        drained = {row.name for row in rows
                   if row.drained and draining.bad_node(store, row.id) is None}  # fmt: skip
    names = matching(request.target.arguments, [row.name for row in rows])
    if undrained := [name for name in names if name not in drained]:
        action_command.carry_out(replace(request, target=node_target(undrained)))
    if waiting := [name for name in names if name in drained]:
        emit(node_line.drained_before(waiting))
    raise typer.Exit(_wait(names, length))


def _wait(names: Sequence[str], length: float) -> ExitCode:
    """Wait until no packages are left on the nodes; say how it ended, and what only they have."""
    last, said = time.monotonic() + length, set[str]()
    with session.reader() as store:
        daemon = DaemonWatch(store)
        while left := _left(store, names):
            remarks = [node_line.stays(*each) for each in left]
            if not daemon.check():
                remarks.append(no_daemon(store, []))
                if length == math.inf:
                    daemon.give_up(left[0][0].name, "still has packages")
            for remark in dict.fromkeys(filter(None, remarks)):
                if remark not in said:
                    said.add(remark)
                    say(remark)
            if time.monotonic() >= last or not all(row.drained for row, *_ in left):
                for row, _, number in left:
                    say(node_line.still_has(row, number))
                return ExitCode.FAILED
            time.sleep(max(0.0, min(LOOK_S, last - time.monotonic())))
        with store.reading():
            only_there = [*node_drain.files_left(store, names)]
    for text in (node_line.emptied(names), *only_there):
        emit(text)
    return ExitCode.DONE


def _left(store: Store, names: Sequence[str]) -> list[tuple[Node, activity.NodeUse, int]]:
    """Return the nodes with packages, their use, and how many; also those about to be launched."""
    with store.reading():
        uses, is_driven = activity.node_use(store), any_driver(store)
        found = []
        for row in (registry.named(store, name) for name in names):
            use = uses.get(row.id, activity.NodeUse())
            number = registry.launched_on(store, row.id) or (use.ahead if is_driven else 0)
            if number:
                found.append((row, use, number))
    return found
