"""Orders to nodes: launch, kill, pause and resume attempts, send inputs, remove files."""

from collections.abc import Mapping

from d0ctl.daemon.desk import Desk
from d0ctl.daemon.in_progress import NO_PURGE_ORDER, AttemptOrder, Purge, PurgeOrder
from d0ctl.daemon.turn import Turn
from d0ctl.nodes.courier import Courier, launch
from d0ctl.nodes.link import Frame
from d0ctl.sitefile.defaults import PAUSE_GRACE_S
from d0ctl.store import input_stream
from d0ctl.store.attempts.launching import launches
from d0ctl.store.connection import Store
from d0ctl.store.jobs import unneeded_files
from d0ctl.store.lifecycle import AT_ONCE, PackageRequest
from d0ctl.store.nodes import registry
from d0ctl.store.nodes.site import default

MOST_LAUNCHES = 500
"""The most launches a node gets in one turn."""

MOST_INPUTS = 500
"""The most inputs that the packages of a node get in one turn."""

MOST_PURGES = 500
"""The most things that a node is asked to remove at a time."""

PURGE_EVERY_S = 1.0
"""How often a node is asked to remove files: each order costs a process there."""

PURGE_AGAIN_S = 60.0
"""How long a node has to remove files before it is asked again."""

ORDER_AGAIN_S = 15.0
"""How long an order for an attempt may be unanswered before it is repeated."""

SURELY_LATER_S = 1.0
"""What a node sent within this time after an order may have left it before the order arrived."""


def send_orders(desk: Desk, turn: Turn) -> None:
    """assigned -> starting: launch the packages of each node, and pass on requests of people."""
    couriers = [courier for node in desk.couriers if (courier := desk.courier(node))]
    up = [courier.node for courier in couriers]
    launched = launches.launch(desk.store, up, limit=MOST_LAUNCHES, now=turn.now)
    to_order = registry.to_order(desk.store)
    for courier in couriers:
        if courier.node in launched:
            turn.after(launch, courier, launched[courier.node])
        if courier.node in to_order:
            _kill(desk, turn, courier)
            _pause(desk, turn, courier)
            _purge(desk, turn, courier)


def send_inputs(desk: Desk, turn: Turn) -> None:
    """Send packages that started early the inputs that were made since then.

    Their arrival is not recorded: inputs lost with a link are sent again on the next one.
    """
    for node in input_stream.nodes(desk.store):
        courier = desk.courier(node)
        if courier is None:
            continue
        entries = input_stream.due(desk.store, node, limit=MOST_INPUTS, now=turn.now)
        if entries:
            turn.after(courier.order, {"kind": "input_stream", "attempts": entries})
            turn.after(desk.wake.set)


def kill_orders(store: Store, requests: Mapping[int, str]) -> list[Frame]:
    """Return the orders that end attempts, one for each kind of request."""
    if not requests:
        return []
    grace, partial_grace = default(store, "grace"), default(store, "partial-grace")
    by_request: dict[str, list[int]] = {}
    for attempt, request in requests.items():
        by_request.setdefault(request, []).append(attempt)
    return [
        {
            "kind": "kill",
            "attempts": attempts,
            "grace": 0.0 if request in AT_ONCE else grace,
            "partial": request == PackageRequest.KILL_PARTIAL,
            "partial_grace": partial_grace,
        }
        for request, attempts in by_request.items()
    ]


def _kill(desk: Desk, turn: Turn, courier: Courier) -> None:
    requests = launches.killing(desk.store, courier.node)
    for order in kill_orders(desk.store, dict(_due(desk, turn, requests))):
        turn.after(courier.order, order)


def _pause(desk: Desk, turn: Turn, courier: Courier) -> None:
    """Ask attempts to pause or resume until their wrappers confirm it.

    One that was never suspended has nothing to confirm: its silence settles its `resume`, once the
    node was heard after the order. Before that the order may be lost on a link that is dead.
    """
    requests = launches.requested(desk.store, courier.node)
    orders = [AttemptOrder(*entry) for entry in requests.items()]
    last_heard = turn.now - courier.silence_s - SURELY_LATER_S
    silent = [order.attempt for order in orders if order.request == PackageRequest.RESUME
              and turn.now - desk.orders.get(order, turn.now) > ORDER_AGAIN_S
              and last_heard > desk.orders[order]]  # fmt: skip
    launches.settle_resumed(desk.store, silent)
    due = _due(desk, turn, requests)
    for kind, more in (
        (PackageRequest.PAUSE, {"grace": PAUSE_GRACE_S}),
        (PackageRequest.RESUME, {}),
    ):
        attempts = [order.attempt for order in due if order.request == kind]
        if attempts:
            turn.after(courier.order, {"kind": kind, "attempts": attempts, **more})


def _due(desk: Desk, turn: Turn, requests: Mapping[int, str]) -> list[AttemptOrder]:
    """Return the orders that were not sent recently; they count as sent when this turn commits."""
    orders = (AttemptOrder(*entry) for entry in requests.items())
    due = [order for order in orders if turn.now - desk.orders.get(order, 0.0) > ORDER_AGAIN_S]
    if due:
        turn.after(desk.sent_orders, due, turn.now)
    return due


def _purge(desk: Desk, turn: Turn, courier: Courier) -> None:
    """Ask a node to remove unneeded files, a limited number at a time."""
    last = desk.purges.get(courier.node, NO_PURGE_ORDER)
    if turn.now - last.sent < (PURGE_AGAIN_S if last.purges else PURGE_EVERY_S):
        return
    rows = unneeded_files.removals(desk.store, courier.node, MOST_PURGES)
    if rows:
        purges = [Purge(row["id"], row["attempt_id"], row["path"]) for row in rows]
        order = {
            "kind": "forget",
            "attempts": [purge.attempt for purge in purges if purge.attempt is not None],
            "paths": [purge.path for purge in purges if purge.path is not None],
        }
        turn.after(desk.sent_purges, courier.node, PurgeOrder(turn.now, purges))
        turn.after(courier.order, order)
