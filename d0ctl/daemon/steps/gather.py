"""Files for packages that wait for many others: copied while the others are made."""

import time

from d0ctl.daemon.desk import Desk
from d0ctl.daemon.turn import Turn
from d0ctl.store.nodes import gathering

GATHER_S = 0.5
"""How often files are gathered: those made in the meantime share a stream."""

GATHER_SHARE = 20
"""If that takes more than one part in so many of the loop's time, it is done less often."""


def gather_inputs(desk: Desk, turn: Turn) -> None:
    """Request inputs for packages that wait for more, on the nodes where they will probably run."""
    if turn.received.messages:
        desk.gathering.update(gathering.noticed(desk.store))
    began = time.monotonic()
    if not desk.gathering or began < desk.gather_due:
        return
    desk.gathering = set(gathering.gather(desk.store, desk.gathering, now=turn.now))
    desk.gather_due = time.monotonic() + max(GATHER_S, GATHER_SHARE * (time.monotonic() - began))
