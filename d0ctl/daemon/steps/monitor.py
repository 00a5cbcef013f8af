"""Nodes: which process has a courier for them, and how long they may be silent."""

import logging
import time

from msgspec.structs import replace

from d0ctl.daemon.desk import Desk
from d0ctl.daemon.turn import Turn
from d0ctl.model import Node
from d0ctl.nodes.courier import Courier
from d0ctl.store import due_times
from d0ctl.store.attempts import messages
from d0ctl.store.attempts.launching import launches
from d0ctl.store.history import use_samples
from d0ctl.store.nodes import contact, leases, registry
from d0ctl.store.nodes.leases import LEASE
from d0ctl.store.nodes.site import default
from d0ctl.units import duration

log = logging.getLogger(__name__)

RECORD_EVERY_S = 60.0
"""How often the last contact of a node is written: each time costs a transaction."""

WITH_MESSAGES_S = 5.0
"""The same in a turn that has messages, and so writes anyway."""

SAMPLE_EVERY_S = 60.0
"""The use of a node is recorded once in each such period."""

SET_BACK_S = 60.0
"""A clock that falls behind the monotonic one by more than this was set back."""


def follow_clock(desk: Desk, turn: Turn) -> None:
    """Keep waiting times the same when the clock of this machine is set back."""
    ahead_s = turn.now - time.monotonic()
    behind_s = 0.0 if desk.clock_ahead_s is None else desk.clock_ahead_s - ahead_s
    desk.clock_ahead_s = ahead_s
    if behind_s > SET_BACK_S:
        log.warning("the clock of this machine was set back by %s", duration(behind_s))
        due_times.advance(desk.store, behind_s, now=turn.now)
        desk.contacts.clear()


def take_daemon_lease(desk: Desk, turn: Turn) -> None:
    """Become the daemon for `daemon status` and `daemon stop`, if no other lives."""
    if desk.job is None and not leases.living_holder(desk.store, LEASE):
        leases.take_lease(desk.store, LEASE, now=turn.now)


def assign_couriers(desk: Desk, turn: Turn) -> None:
    """Start couriers for nodes without one in any process; stop those of removed nodes.

    A person who has checked a node that is down has it tried at once.
    """
    rows = {row.id: row for row in registry.nodes(desk.store)}
    for node, courier in desk.couriers.items():
        if node not in rows:
            leases.give_lease(desk.store, f"node {node}")
            turn.after(desk.end, node)
        elif _is_replaced(courier, rows[node]):
            turn.after(desk.end, node)
        elif rows[node].state == "down" and rows[node].next_try is None:
            turn.after(courier.try_now)
    for node, row in rows.items():
        if node in desk.couriers or not leases.take_lease(desk.store, f"node {node}", now=turn.now):
            continue
        courier = Courier(
            node,
            registry.address_of(row),
            desk.site,
            processors=registry.processors_of(row),
            deliver=desk.dropbox.deliver,
            unread=desk.dropbox.unread,
            report=desk.report,
        )
        turn.after(desk.begin, courier)


def _is_replaced(courier: Courier, row: Node) -> bool:
    """Return whether a node was removed and added again, so that its id refers to another one."""
    return (
        not registry.is_at(courier.address, row)
        or courier.processors != registry.processors_of(row)
        or (row.state == "unknown" and courier.is_up)
    )


def reload_settings(desk: Desk, turn: Turn) -> None:
    """Pass the lease, log retention and reserve of the site to couriers, relays and downloads."""
    names = ("lease", "keep-logs", "control-reserve")
    lease, keep_logs, reserve = (default(desk.store, name) for name in names)
    site = replace(desk.site, lease=lease, keep_logs=keep_logs, reserve=reserve)
    if site == desk.site:
        return
    for courier in desk.couriers.values():
        courier.site = site
        if keep_logs != desk.site.keep_logs:
            turn.after(courier.order, {"kind": "keep", "seconds": keep_logs})
    desk.site = site


def record_contact(desk: Desk, turn: Turn) -> None:
    """Record each node's load and last contact, and once a minute its use."""
    every_s = WITH_MESSAGES_S if turn.received.messages else RECORD_EVERY_S
    for node, courier in desk.couriers.items():
        last_heard, recorded = turn.now - courier.silence_s, desk.contacts.get(node, 0.0)
        if courier.is_up and last_heard - recorded >= every_s:
            desk.contacts[node] = last_heard
            contact.note_contact(desk.store, node, courier.receiver.load, at=last_heard)
            if last_heard // SAMPLE_EVERY_S != recorded // SAMPLE_EVERY_S:
                use_samples.take(desk.store, node, now=turn.now)


def give_up_nodes(desk: Desk, turn: Turn) -> None:
    """unreachable -> failed, by platform-failure: attempts on nodes that do not answer.

    They have not answered for `unreachable-after`, while this process tried (D0 Job Definition,
    section 5, case 1). When a node is back, its attempts are ended before anything else happens
    there.
    """
    limit_s = float(default(desk.store, "unreachable-after"))
    for node, since in desk.down_since.items():
        if time.monotonic() - since < limit_s:
            continue
        row = registry.by_id(desk.store, node)
        if row is not None:
            registry.give_up(desk.store, row.name)
        lost = launches.unreachable(desk.store, node)
        if lost:
            message = f"its node did not answer for {duration(limit_s)}"
            log.warning("gave up node %s with %d attempts", desk.name_of(node), len(lost))
            messages.fail(
                desk.store, node, lost, reason="platform-failure", message=message, now=turn.now
            )
