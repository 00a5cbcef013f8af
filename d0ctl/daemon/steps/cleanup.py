"""Files that are not needed any more: removed from nodes and from this machine."""

import logging

from d0ctl.daemon.desk import Desk
from d0ctl.daemon.turn import Turn
from d0ctl.store.jobs import unneeded_files
from d0ctl.store.nodes.site import default
from d0ctl.units import count

log = logging.getLogger(__name__)

MOST_SWEPT = 1000
"""How many folders of a node's cache are compared with the database in one turn."""


def free_space(desk: Desk, turn: Turn) -> None:
    """Purge copies that stay only while there is space, on nodes whose wrappers need it.

    A wrapper whose disk is full suspends its binary and asks, again and again (InGrid,
    "Response to Failures").
    """
    for node, size in desk.space_requests.items():
        purged = unneeded_files.make_space(desk.store, node, size, now=turn.now)
        if purged:
            copies = count(len(purged), "copy", "copies")
            log.info("node %s needs space: purged %s", desk.name_of(node), copies)
    desk.space_requests.clear()


def remove_unneeded(desk: Desk, turn: Turn) -> None:
    """Have copies removed that no package needs."""
    here = unneeded_files.tidy(desk.store, now=turn.now)
    if here:
        turn.after(desk.home.forget_copies, here)


def sweep_caches(desk: Desk, turn: Turn) -> None:
    """Have folders removed from caches of nodes that hold nothing that is needed, some a turn."""
    for node, attempts in list(desk.unswept.items()):
        if attempts:
            unneeded_files.sweep(desk.store, node, attempts[:MOST_SWEPT])
        turn.after(desk.set_unswept, node, attempts[MOST_SWEPT:])


def expire_outputs(desk: Desk, turn: Turn) -> None:
    """Have outputs of failed packages removed after `keep-failed`."""
    unneeded_files.expire(desk.store, before=turn.now - default(desk.store, "keep-failed"))
