"""Ending an attempt on request: by the command file, TERM and KILL.

InGrid, point 8 of the package wrapper: a binary that watches its command file ends at a point
where its outputs so far can be used.
"""

import time

from d0ctl_wrapper.attempt import orders
from d0ctl_wrapper.attempt.run.command_file import TERMINATE, CommandFile
from d0ctl_wrapper.attempt.run.processes import ProcessTree
from d0ctl_wrapper.attempt.run.suspend import Suspension
from d0ctl_wrapper.protocol.paths import AttemptFolder

POLL_S = 0.1
"""The seconds between two checks of a binary that was asked to end."""


def end(folder: AttemptFolder, tree: ProcessTree, suspension: "Suspension | None") -> str:
    """End all processes as ordered, and return how they ended.

    The order is read repeatedly: a second one may shorten the grace or drop the outputs.
    """
    if suspension is not None:
        suspension.lift()
    how = _ask(folder, tree)
    if how:
        tree.end(lambda: 0.0)
        return how
    return tree.end(lambda: _order(folder).grace)


def _ask(folder: AttemptFolder, tree: ProcessTree) -> str:
    """Ask the binary to end by itself, if its outputs are wanted; return empty if it did not."""
    if not _order(folder).partial or not tree.is_running:
        return ""
    command = CommandFile(folder)
    command.write(TERMINATE)
    began = time.monotonic()
    while _order(folder).partial:
        if tree.has_ended_within(POLL_S):
            answer = command.answer()
            return "by itself" + (", with the answer: %s" % answer if answer else "")
        if time.monotonic() - began > _order(folder).partial_grace:
            break
    return ""


def _order(folder: AttemptFolder) -> orders.Kill:
    return orders.kill_asked(folder) or orders.Kill(orders.DEFAULT_GRACE_S, False)
