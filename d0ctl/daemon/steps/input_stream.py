"""What packages that started early are told of inputs that came after their launch."""

from d0ctl.daemon.control import Control
from d0ctl.store import input_stream as store_feed

MOST_TOLD = 500
"""The most inputs that the packages of a node are told in one turn."""


def feed(control: Control, now: float) -> None:
    """Tell the packages on each node that answers; what is lost with a link is told again."""
    for node in control.couriers:
        courier = control.courier(node)
        if courier is None:
            continue
        entries = store_feed.due(control.store, node, limit=MOST_TOLD, now=now)
        if entries:
            control.after(courier.order, {"kind": "feed", "attempts": entries})
            control.after(control.wake.set)
