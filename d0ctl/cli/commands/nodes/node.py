"""`d0ctl node`: the machines that packages run on."""

import itertools
import json as json_module
import time
from typing import TYPE_CHECKING, Any

import typer

from d0ctl.cli import options, session
from d0ctl.cli.action_command import Actions
from d0ctl.cli.terminal import output
from d0ctl.cli.terminal.fast_typer import group
from d0ctl.cli.terminal.output import emit, emit_json, glyphs, table
from d0ctl.errors import ExitCode
from d0ctl.show.cards import node as node_line
from d0ctl.store.connection import Row
from d0ctl.store.nodes import draining, registry
from d0ctl.store.nodes.site import site_name
from d0ctl.units import iso

if TYPE_CHECKING:
    from d0ctl.cli.schemas import site

app = group("Machines that run packages: list, add, check and more.", Actions)


@app.command("list")
def list_nodes(json: options.Json = False) -> None:
    """Show every node, its slots and its problems."""
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


def document(row: Row, used: int, bad: Row | None) -> "site.Node":
    """A node as JSON; with what d0ctl holds against it, if it has drained it."""
    return {
        "node": row["name"], "kind": row["kind"], "destination": row["destination"],
        "cluster": row["cluster"], "state": row["state"], "since": iso(row["since"]),
        "contact": iso(row["contact"]), "trouble": row["last_error"],
        "drained": bool(row["drained"]), "drain_note": row["drain_note"],
        "cpus": row["cpus"], "used": used, "free": max(0, row["cpus"] - used),
        "launched": row["launched"],
        "assigned": row["assigned"], "memory": row["memory"], "platform": row["platform"],
        "burnt": _drained(bad),
    }  # fmt: skip


def _drained(bad: Row | None) -> "site.Burnt | None":
    if bad is None:
        return None
    details: dict[str, Any] = json_module.loads(bad["details"])
    return {
        "since": iso(bad["since"]), "evidence": bad["evidence"], "stage": details["stage"],
        "packages": details["packages"], "reasons": details["reasons"], "others": details["others"],
        "rests": bad["times"], "next_try": iso(bad["next_try"]), "canary": bad["canary"],
    }  # fmt: skip


@app.command()
def check(name: options.NodeName, json: options.Json = False) -> None:
    """Look for what is wrong with a node."""
    from d0ctl.nodes.node_check import Finding
    from d0ctl.nodes.node_check import check as look
    from d0ctl.show import direct_streams

    with session.reader() as store:
        row = registry.named(store, name)
        address = registry.address_of(row)
        site = site_name(store)
        home = store.home
        files = [
            Finding(None, "files", line) for line in direct_streams.lines(store, row["id"], name)
        ]
    findings = []
    for one in itertools.chain(look(home, address, site), files):
        findings.append(one)
        if not json:
            lines = output.sheet()
            node_line.finding(lines, one.ok, one.what, one.detail, one.advice)
            output.show(lines)
    bad = [one for one in findings if one.ok is False]
    if json:
        emit_json({"node": name, "ok": not bad, "findings": [
            {"ok": one.ok, "what": one.what, "detail": one.detail, "advice": one.advice or None}
            for one in findings
        ]})  # fmt: skip
    if any(one.what == "reach" for one in bad):
        raise typer.Exit(ExitCode.NODE)
    raise typer.Exit(ExitCode.FAILED if bad else ExitCode.DONE)
