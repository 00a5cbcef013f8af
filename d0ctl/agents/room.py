"""Space on the disks of nodes: what wrappers ask for, and what may be purged for it."""

import logging

from d0ctl.agents.control import Control
from d0ctl.format import count, size
from d0ctl.store import room

log = logging.getLogger(__name__)


def make_room(control: Control, now: float) -> None:
    """Purge copies that nobody needs on nodes whose disks are full, a bounded look at a time.

    `002`, "Response to Failures": a wrapper suspends its binary and asks, and asks again.
    """
    for node, wish in list(control.wishes.items()):
        found = room.purge(control.store, node, size=wish.size, after=wish.after, now=now)
        if found.copies:
            told = (count(found.copies, "copy", "copies"), size(found.size))
            log.info("node %d needs room: %s of %s purged", node, *told)
        if found.last is None or found.size >= wish.size:
            del control.wishes[node]
        else:
            wish.size, wish.after = wish.size - found.size, found.last
            control.wake.set()
