"""`d0ctl node`: the machines that packages run on."""

import itertools
import time
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from d0ctl.cli import options, session
from d0ctl.cli.action_command import Actions, command, parameter
from d0ctl.cli.commands.nodes.check_report import report_nodes
from d0ctl.cli.global_options import finished
from d0ctl.cli.terminal import completion
from d0ctl.cli.terminal.fast_typer import group
from d0ctl.cli.terminal.output import emit, glyphs, print_list, say
from d0ctl.cli.terminal.person import AtTerminal
from d0ctl.errors import BadUsage, NotFound
from d0ctl.model import Address, Node
from d0ctl.policy.remarks import NodeFailing, read
from d0ctl.select.node_names import matching
from d0ctl.show.cards import node as node_line
from d0ctl.show.drawing.remark_texts import drain_note, remark
from d0ctl.show.drawing.sheet import Cell
from d0ctl.show.drawing.spans import Span
from d0ctl.show.why.common import scarce_disk
from d0ctl.store.connection import Store
from d0ctl.store.nodes import draining, registry
from d0ctl.store.nodes.draining import BadNode
from d0ctl.store.nodes.site import setting, site_name
from d0ctl.store.nodes.standstill import node_views
from d0ctl.store.views import activity
from d0ctl.units import iso

if TYPE_CHECKING:
    from d0ctl.cli.schemas import nodes

Used: TypeAlias = tuple[Node, float, activity.NodeUse, BadNode | None]
Listed: TypeAlias = tuple[Used, Sequence[Span]]


class Nodes(Actions):
    """The actions on nodes; a drain may wait until no packages are left."""

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command; None if there is none of that name."""
        if cmd_name == "drain" and cmd_name not in self.commands:
            from d0ctl.cli.commands.nodes import drain_and_wait

            more = [parameter("wait", drain_and_wait.Wait, False),
                    parameter("timeout", drain_and_wait.Timeout, None)]  # fmt: skip
            self.commands[cmd_name] = finished(
                command("node drain", drain_and_wait.drain, more), cmd_name
            )
        return super().get_command(ctx, cmd_name)


app = group("List, add, check or change the nodes that run packages.", Nodes)


@app.command("list")
def list_nodes(json: options.Json = False) -> None:
    """Show every node, its slots and its problems."""
    now = time.time()

    def line(listed: Listed) -> list[Cell]:
        (row, _, use, bad), remarks = listed
        return node_line.cells(row, use, bad, now, glyphs(), remarks)

    print_list(
        "nodes", session.read_all(partial(_with_remarks, now=now)),
        lambda listed: document(*listed[0]), line, node_line.NO_NODES, json=json,
    )  # fmt: skip


def _with_remarks(store: Store, *, now: float) -> list[Listed]:
    """Return every node with its use, and why it takes no more packages though slots are free."""
    used = in_use(store)
    notes: dict[int, list[Span]] = {
        view.node.room.id: [(scarce_disk(view.disk), "bad")]
        for view in node_views(store)
        if view.disk
    }
    free = {row.id: row.name for row, reserved, *_ in used
            if row.state == "up" and not row.drained and reserved < row.cpus}  # fmt: skip
    if setting(store, "throttles"):
        from d0ctl.show.why.causes import throttle_limits  # late: few sites have throttles

        for node, why in throttle_limits.on_nodes(store, free, now).items():
            notes.setdefault(node, []).append((why, "warn"))
    return [(each, notes.get(each[0].id, ())) for each in used]


def in_use(store: Store) -> list[Used]:
    """Return every node, its reserved CPUs, its use, and why d0ctl has drained it."""
    reserved = {row.id: row.used for row in registry.capacities(store)}
    uses = activity.node_use(store)
    return [
        (row, reserved.get(row.id, 0), uses.get(row.id, activity.NodeUse()),
         draining.bad_node(store, row.id))
        for row in registry.nodes(store)
    ]  # fmt: skip


def document(row: Node, used: float, use: activity.NodeUse, bad: BadNode | None) -> "nodes.Node":
    """Return a node as JSON; with the failures for which d0ctl has drained it, if it has."""
    from d0ctl.cli.schemas import nodes
    from d0ctl.cli.schemas.fill import fill

    return fill(nodes.Node, row, node=row.name, trouble=row.last_error, used=used,
                drain_note=drain_note(row.drain_note), free=max(0, row.cpus - used),
                running=use.used, next=use.ahead, staging=use.staging,
                burnt=_drained(bad))  # fmt: skip


@app.command()
def login(
    where: Annotated[
        str,
        typer.Argument(metavar="NAME|[user@]host[:port]", autocompletion=completion.node_names,
                       help="A node, or a host to be added as one."),
    ],
    accept_keys: Annotated[
        list[str] | None,
        typer.Option("--accept-key", metavar="SHA256:...",
                     help="Fingerprint of a host key to trust; may be repeated."),
    ] = None,
) -> None:  # fmt: skip
    """Log in to a node that asks for a password or a second factor.

    The login stays in the background until `node logout`, a reboot or the loss of the connection.
    The daemon works through it.
    """
    from d0ctl.actions.meeting import by_command, log_in

    with session.open_or_create() as store:
        home, address = store.home, _address(store, where)
    advice = by_command(["d0ctl", "node", "login", where])
    log_in(home, address, accept_keys or (), advice, AtTerminal())
    say(node_line.logged_in(address.destination))


@app.command()
def logout(
    where: Annotated[
        str,
        typer.Argument(metavar="NAME|[user@]host[:port]", autocompletion=completion.node_names,
                       help="The node or host that you logged in to."),
    ],
) -> None:  # fmt: skip
    """End a login made by `node login`."""
    from d0ctl.nodes.transports import standing_login

    with session.reader() as store:
        home, address = store.home, _address(store, where)
    was_there = standing_login.end(address, home.known_hosts)
    say(node_line.logged_out(address.destination, was_there=was_there))


def _address(store: Store, where: str) -> Address:
    """Return the address of a node, or of a host that is not a node yet.

    Raises NotFound for what is neither, and BadUsage for a node on this machine.
    """
    try:
        row = registry.named(store, where)
    except NotFound:
        if "@" not in where and "." not in where and ":" not in where:
            raise
        return Address(where, "ssh", where)
    if row.kind == "local":
        raise BadUsage(f"`{where}` is this machine: it needs no login")
    return registry.address_of(row)


def _drained(bad: BadNode | None) -> "nodes.DrainingFailures | None":
    if bad is None:
        return None
    values = read(bad.evidence)
    assert isinstance(values, NodeFailing)
    return {
        "since": iso(bad.since), "evidence": remark(bad.evidence) or "", "stage": values.stage,
        "packages": values.packages, "reasons": values.reasons, "others": values.others,
        "rests": bad.times, "next_try": iso(bad.next_try), "canary": bad.canary,
    }  # fmt: skip


@app.command()
def check(names: options.MaybeNodes = None, json: options.Json = False) -> None:
    """Check everything that packages need of nodes."""
    from d0ctl.actions import meeting
    from d0ctl.nodes.node_check import Finding
    from d0ctl.show import direct_streams

    with session.reader() as store:
        selected = matching(names or ("*",), [row.name for row in registry.nodes(store)])
        rows = [registry.named(store, name) for name in selected]
        site = site_name(store)
        files = {
            row.id: [Finding(None, "files", line)
                     for line in direct_streams.lines(store, row.id, row.name)]
            for row in rows
        }  # fmt: skip
    checks = [
        (row.name, itertools.chain(meeting.check(session.home(), row, site), files[row.id]))
        for row in rows
    ]
    if not checks and not json:
        emit(node_line.NO_NODES)
    raise typer.Exit(report_nodes(checks, json=json))
