"""Space on the disks of nodes: what wrappers ask for, and what may be purged for it."""

import logging

from d0ctl.daemon.control import Control
from d0ctl.store.jobs import unneeded_files
from d0ctl.units import count

log = logging.getLogger(__name__)


def make_room(control: Control, now: float) -> None:
    """Purge copies that stay only while there is space, on nodes whose disks are full.

    InGrid, "Response to Failures": a wrapper suspends its binary and asks, and asks again.
    """
    for node, size in control.wishes.items():
        gone = unneeded_files.make_space(control.store, node, size, now=now)
        if gone:
            name = control.name_of(node)
            log.info("node %s needs space: purged %s", name, count(len(gone), "copy", "copies"))
    control.wishes.clear()
