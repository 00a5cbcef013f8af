"""Files for packages that wait for many others: brought while those are made."""

import time

from d0ctl.daemon.desk import Desk
from d0ctl.daemon.turn import Turn
from d0ctl.store.nodes import gathering

GATHER_S = 0.5
"""How often files are gathered: those that are made meanwhile share a stream."""

GATHER_SHARE = 20
"""At most one part in so many of the loop's time goes into that: then it is done less often."""


def gather_inputs(desk: Desk, turn: Turn) -> None:
    """Ask for inputs of packages that wait for more, where they will probably run."""
    if turn.letters.messages:
        desk.gathering.update(gathering.noticed(desk.store))
    began = time.monotonic()
    if not desk.gathering or began < desk.gather_due:
        return
    desk.gathering = set(gathering.gather(desk.store, desk.gathering, now=turn.now))
    desk.gather_due = time.monotonic() + max(GATHER_S, GATHER_SHARE * (time.monotonic() - began))
