"""`d0ctl node`: the machines that packages run on."""

import json as json_module
import time
from typing import TYPE_CHECKING, Annotated, Any

import typer

from d0ctl.actions.nodes import node as node_plan
from d0ctl.cli import changing, options, session
from d0ctl.cli.changing import Changing
from d0ctl.cli.terminal.output import emit, emit_json, glyph, glyphs, paint, table
from d0ctl.errors import ExitCode, NotFound, Refused
from d0ctl.show import node as node_line
from d0ctl.store.connection import Row, Store
from d0ctl.store.nodes import contact, draining, registry
from d0ctl.store.nodes.site import site_name
from d0ctl.units import clean, count, iso, size

if TYPE_CHECKING:
    from d0ctl.model import Address

app = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    no_args_is_help=True,
    help="Machines that run packages: list, add, check and more.",
)

Destination = Annotated[
    str | None,
    typer.Argument(metavar="[user@]host[:port]",
                   help="Where it is, as ssh would take it."),
]  # fmt: skip


@app.command("list")
def list_nodes(json: options.Json = False) -> None:
    """Show every node, its slots and its troubles."""
    rows: list[tuple[Row, int, Row | None]] = []
    if session.has_home():
        with session.reader() as store, store.reading():
            used = {row["id"]: row["used"] for row in registry.capacities(store)}
            rows = [
                (row, used.get(row["id"], 0), draining.bad_node(store, row["id"]))
                for row in registry.nodes(store)
            ]
    if json:
        emit_json({"nodes": [document(*row) for row in rows]})
    elif rows:
        now = time.time()
        table([node_line.cells(*row, now, glyphs()) for row in rows])
    else:
        emit(node_line.NO_NODES)


def document(row: Row, used: int, bad: Row | None) -> dict[str, Any]:
    """A node as JSON; with what d0ctl holds against it, if it has drained it."""
    return {
        "node": row["name"], "kind": row["kind"], "destination": row["destination"],
        "cluster": row["cluster"], "state": row["state"], "since": iso(row["since"]),
        "contact": iso(row["contact"]), "trouble": row["trouble"], "drained": bool(row["drained"]),
        "drain_note": row["drain_note"], "cpus": row["cpus"], "used": used,
        "free": max(0, row["cpus"] - used), "launched": row["launched"],
        "assigned": row["assigned"], "memory": row["memory"], "platform": row["platform"],
        "burnt": _burnt(bad),
    }  # fmt: skip


def _burnt(bad: Row | None) -> dict[str, Any] | None:
    if bad is None:
        return None
    told: dict[str, Any] = json_module.loads(bad["details"])
    return {
        "since": iso(bad["since"]), "evidence": bad["evidence"], "stage": told["stage"],
        "packages": told["packages"], "reasons": told["reasons"], "others": told["others"],
        "rests": bad["times"], "next_try": iso(bad["next_try"]), "canary": bad["canary"],
    }  # fmt: skip


@app.command(cls=Changing)
def add(
    name: Annotated[str, typer.Argument(metavar="NAME", help="What to call it.")],
    destination: Destination = None,
    cpus: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Slots; else as many as it has cpus.")
    ] = None,
    identity: Annotated[
        str | None, typer.Option(metavar="FILE", help="A private key to log in with.")
    ] = None,
    accept_keys: Annotated[
        list[str] | None,
        typer.Option(
            "--accept-key",
            metavar="SHA256:...",
            help="Trust a host key; one for each host on the way.",
        ),
    ] = None,
    directory: Annotated[
        str | None,
        typer.Option(
            "--dir",
            metavar="DIR",
            help="Folder for d0ctl's files on the node (default: ~/.d0ctl/SITE/NODE).",
        ),
    ] = None,
    python: Annotated[
        str | None, typer.Option(metavar="PATH", help="Its python3, 3.6 or newer.")
    ] = None,
    via: Annotated[
        str, typer.Option(metavar="WAY", help="How to reach it: auto, fabric or openssh.")
    ] = "auto",
    local: Annotated[bool, typer.Option("--local", help="It is this machine.")] = False,
    same_machine: Annotated[
        bool, typer.Option("--same-machine", help="It may be the machine of another node.")
    ] = False,
) -> None:
    """Add a node, once its host key is trusted and it answers."""
    from d0ctl.cli.commands.nodes import node_add

    address = node_add.address(name, destination, identity, directory, python, via, local=local)
    if changing.is_rehearsal():
        _rehearse_adding(address, cpus, same_machine=same_machine)
        return
    with session.founder() as store:
        check_new(store, name)
        command = node_add.add_command(address, cpus, same_machine=same_machine)
        facts = node_add.meet(store, address, accept_keys or (), command)
        with_cpus = cpus or int(facts.get("cpus") or 1)
        node_add.keep(store, address, cpus, facts, session.actor(), changing.reason(),
                      same_machine=same_machine)  # fmt: skip
    parts = [f"{facts.get('hostname')}", f"{facts.get('os') or facts.get('system')}",
             count(with_cpus, "cpu"), size(facts.get("memory")),
             f"python {facts.get('python')}"]  # fmt: skip
    emit(f"added `{name}`: {clean(', '.join(parts))}")


def _rehearse_adding(address: "Address", cpus: int | None, *, same_machine: bool) -> None:
    from d0ctl.cli.commands.nodes import node_add

    with changing.rehearsal() as store:
        check_new(store, address.name)
        if not same_machine:
            node_add.check_machine(store, address, cpus, {})
    where, accepted = "this machine", ""
    if address.destination:
        where, accepted = f"`{address.destination}`", "its host key is accepted and "
    emit(f"would add `{address.name}`: {where}, if {accepted}it answers")


def check_new(store: Store, name: str) -> None:
    """Raise Refused for the name of a node that there is."""
    if registry.find(store, name):
        raise Refused(f"there is a node `{name}` already", hint=f"d0ctl node remove {name}")


@app.command("accept-key", cls=Changing)
def accept_key(
    name: options.NodeName,
    fingerprints: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[SHA256:...]...",
            show_default=False,
            help="The host key's fingerprint (default: ask at the terminal).",
        ),
    ] = None,
    reinstalled: Annotated[
        bool, typer.Option(help="The host was set up anew: the files and attempts on it are gone.")
    ] = False,
) -> None:
    """Trust a node's new host key; its packages stay as they are.

    Example: d0ctl node accept-key farm02 SHA256:Jx1... --reason "new disk"
    """
    from d0ctl.cli.commands.nodes import node_add

    if changing.is_rehearsal():
        with changing.rehearsal() as store:
            registry.named(store, name)
        emit(f"would ask `{name}` for its host key, and trust it if it is the one you name")
        return
    with session.writer() as store:
        row = registry.named(store, name)
        command = ("d0ctl", "node", "accept-key", name, *(["--reinstalled"] if reinstalled else []))
        accepted: list[str] = []
        facts = node_add.meet(
            store,
            registry.address_of(row),
            fingerprints or (),
            command,
            on_accepted=lambda host, key: accepted.append(f"`{host}`: {key}"),
        )
        is_new_machine = contact.is_other_machine(row, facts)
        if accepted or (is_new_machine and reinstalled):
            contact.trust(store, name, reinstalled=is_new_machine and reinstalled,
                        actor=session.actor(), note=changing.reason(), now=time.time())  # fmt: skip
    for key in accepted:
        emit(f"accepted the host key of {clean(key)}")
    if is_new_machine and not reinstalled:
        raise Refused(
            f"`{name}` is another machine than before: its machine-id has changed",
            hint=f"d0ctl node accept-key {name} --reinstalled   "
            "# if it was set up anew: its files and attempts count as lost",
        )
    if is_new_machine:
        emit(f"`{name}` is a new machine now: files that only the old one had are made again")
    elif not accepted:
        emit(f"nothing to do: the host key of `{name}` is trusted already")


@app.command()
def check(name: options.NodeName, json: options.Json = False) -> None:
    """Look for what is wrong with a node."""
    from d0ctl.nodes.node_check import check as look

    with session.reader() as store:
        address = registry.address_of(registry.named(store, name))
        site = site_name(store)
        home = store.home
    findings = []
    for one in look(home, address, site):
        findings.append(one)
        if not json:
            sign = {True: glyph("successful"), False: glyph("failed"), None: " "}[one.ok]
            emit(f"{sign} {one.what:<20} {clean(one.detail)}")
            if one.advice:
                emit(paint(f"    {clean(one.advice)}", "faint"))
    bad = [one for one in findings if one.ok is False]
    if json:
        emit_json({"node": name, "ok": not bad, "findings": [
            {"ok": one.ok, "what": one.what, "detail": one.detail, "advice": one.advice or None}
            for one in findings
        ]})  # fmt: skip
    if any(one.what == "reach" for one in bad):
        raise typer.Exit(ExitCode.NODE)
    raise typer.Exit(ExitCode.FAILED if bad else ExitCode.DONE)


@app.command(cls=Changing)
def drain(name: options.NodeName) -> None:
    """Give a node no new packages; running ones continue."""
    if _rehearsed("drain", name):
        return
    with session.founder() as store:
        running = draining.drain(store, name, actor=session.actor(), note=changing.reason(),
                                 now=time.time())  # fmt: skip
    emit(f"drained `{name}`" + (f": {count(running, 'package')} still there" if running else ""))


@app.command(cls=Changing)
def resume(name: options.NodeName) -> None:
    """Let a drained node take packages again."""
    if _rehearsed("resume", name):
        return
    with session.writer() as store:
        draining.resume(store, name, actor=session.actor(), note=changing.reason(),
                        now=time.time())  # fmt: skip
    emit(f"resumed `{name}`")


@app.command(cls=Changing)
def remove(name: options.NodeName) -> None:
    """Remove a node; files that were only there are made again if needed."""
    if not session.has_home():
        raise NotFound(f"there is no node `{name}`", hint="d0ctl node add NAME [user@]host")
    if _rehearsed("remove", name):
        return
    with session.writer() as store:
        registry.named(store, name)
        changing.confirm(f"forget `{name}`, and make again what only it has and is still needed?")
        registry.remove(store, name, now=time.time())
        with store.writing():
            _keep(store, "node remove", name)
    emit(f"removed `{name}`")


def _rehearsed(verb: str, name: str) -> bool:
    """Say what the verb would do to the node, if that is all that was asked for."""
    if not changing.is_rehearsal():
        return False
    with changing.rehearsal() as store:
        for line in node_plan.preview(store, verb, name):
            emit(line)
    return True


def _keep(store: Store, verb: str, name: str) -> None:
    from d0ctl.store.lifecycle import keep_action

    keep_action(store, verb=verb, target=name, actor=session.actor(), note=changing.reason(),
                packages=0, now=time.time())  # fmt: skip
