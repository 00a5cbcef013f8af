"""Nodes that take no new packages: drained by a person or by d0ctl itself, or down."""

from msgspec import Struct

from d0ctl.errors import Refused
from d0ctl.model import Node
from d0ctl.store.connection import Row, Store
from d0ctl.store.lifecycle import keep_action
from d0ctl.store.rows import make


def drain(store: Store, node: int, *, note: str | None, now: float) -> None:
    """Give a node no new packages until it is resumed."""
    store.change("drain_node", node=node, note=note, now=now)
    store.change("forget_bad_node", node=node)


def resume(store: Store, node: int) -> None:
    """Let a drained node take packages again, with new statistics."""
    store.change("resume_node", node=node)
    store.change("forget_bad_node", node=node)
    store.change("forget_node_records_of_node", node=node)
    store.change("forget_job_node_records_of_node", node=node)


def check_drained(row: Node) -> None:
    """Raise Refused for a node that is not drained."""
    if not row.drained:
        raise Refused(f"node `{row.name}` is not drained, so it can't be resumed",
                      hint=f"d0ctl why {row.name}")  # fmt: skip


def check_undrained(store: Store, row: Node) -> None:
    """Raise Refused for a node that a person, and not d0ctl itself, has drained."""
    if row.drained and bad_node(store, row.id) is None:
        deed = next((deed for deed in drainings(store, row.name, 1)
                     if deed["verb"] == "node drain"), None)  # fmt: skip
        by = f" by {deed['actor']}" if deed else ""
        note = f" ({row.drain_note})" if row.drain_note else ""
        raise Refused(f"node `{row.name}` is drained{by}{note}, so it can't be drained again",
                      hint=f"d0ctl why {row.name}")  # fmt: skip


def readmit(
    store: Store, node: int, name: str, *, actor: str, note: str | None, now: float
) -> None:
    """Resume a node that d0ctl itself drained, and record that."""
    resume(store, node)
    keep_action(store, verb="node resume", target=name, actor=actor, note=note, packages=0, now=now)


class BadNode(Struct, frozen=True):
    """Why d0ctl has drained a node, and the package that tries it now.

    `disk_spare` bytes of its disk are free beyond its reserve, if that is known; a package that
    failed because it was full had taken `disk_taken`, which is free again.
    """

    node_id: int
    job_id: int
    stage_id: int
    since: float
    began: float
    evidence: str
    """As a remark: `NodeFailing`."""
    times: int
    next_try: float
    canary_id: int | None
    canary: str | None
    disk_spare: int | None
    disk_taken: int | None


def bad_node(store: Store, node: int) -> BadNode | None:
    """Return why d0ctl itself drained a node, and when it is tried again; None if it did not."""
    row = store.row("bad_node", node=node)
    return None if row is None else make(BadNode, row)


def drainings(store: Store, name: str, limit: int) -> list[Row]:
    """Return who drained and resumed a node since it was added, the latest first."""
    return store.rows("node_deeds", name=name, limit=limit)


class Outage(Struct, frozen=True):
    """When a node was down or its disk full, the error at first, and its state afterwards.

    `kind` is `down` or `full`; `ended` is None if it still is.
    """

    node: str
    kind: str
    began: float
    ended: float | None
    became: str | None
    error: str | None


def outages(store: Store, since: float, limit: int, *, node: str | None = None) -> list[Outage]:
    """Return when nodes, or just one, were down or full since a time, the latest first."""
    rows = store.rows("logbook_outages", since=since, limit=limit, node=node)
    return [make(Outage, row) for row in rows]
