"""What an admin must attend to: faulty nodes, files that can't be transferred, unsent mail."""

import time
from collections.abc import Iterator

from d0ctl.doctor.finding import Finding
from d0ctl.model import Node
from d0ctl.store import Store
from d0ctl.store.mail import mail_queue
from d0ctl.store.nodes import draining, registry, site
from d0ctl.store.nodes.standstill import production
from d0ctl.units import count, duration


def faulty_nodes(store: Store) -> Iterator[Finding]:
    """Yield nodes that d0ctl drained, and those down with packages or by their host keys."""
    nodes = registry.nodes(store)
    drained = {row.id for row in nodes if draining.bad_node(store, row.id) is not None}
    suspected = production(store, now=time.time()).suspected if drained else ()
    for row in nodes:
        if row.id in drained:
            yield _drained(row.name, is_suspected=row.name in suspected)
        elif row.state == "down" and _needs_a_person(row):
            held = f" with {count(row.launched, 'package')}" if row.launched else ""
            detail = f"is down{held}: {row.last_error or 'it does not answer'}"
            yield Finding("node", row.name, detail, f"d0ctl node check {row.name}")


def _drained(name: str, *, is_suspected: bool) -> Finding:
    """Return that d0ctl drained a node; it needs nobody while its packages are tried elsewhere."""
    detail = "was drained by d0ctl: packages failed there in a row"
    if is_suspected:
        return Finding("node", name, f"{detail}, and are tried elsewhere now")
    return Finding("node", name, detail, f"d0ctl why --node {name}")


def wrong_clocks(store: Store) -> Iterator[Finding]:
    """Yield nodes in contact whose clocks are ahead or behind."""
    for row in registry.nodes(store):
        if row.state == "up" and row.clock:
            side = "ahead of" if row.clock > 0 else "behind"
            detail = f"is {duration(abs(row.clock))} {side} the clock of this machine"
            yield Finding("clock", row.name, detail, f"d0ctl node check {row.name}")


def _needs_a_person(row: Node) -> bool:
    """Return whether packages are out of reach on a node that is down, or its key is refused."""
    return bool(row.launched) or "host key" in (row.last_error or "")


def failing_transfers(store: Store) -> Iterator[Finding]:
    """Yield jobs with files that several tries could not transfer."""
    for failing in site.failing_transfers(store):
        files = count(failing.files, "file")
        yield Finding("transfer", failing.name,
                      f"{files} can't be transferred: {failing.last_error}",
                      f"d0ctl why {failing.name}")  # fmt: skip


def undelivered(store: Store) -> Iterator[Finding]:
    """Yield that messages could not be sent, and why."""
    if unsent := mail_queue.unsent(store):
        number = count(unsent["messages"], "message")
        yield Finding("mail", number, f"undelivered: {unsent['trouble']}", "d0ctl notify list")
