"""The only place that ends an attempt on request: by the command file, by TERM, by KILL.

InGrid, point 8 of the package wrapper: a binary that watches its command file ends where what
it has written so far can be used.
"""

import time

from d0ctl_wrapper.attempt import orders
from d0ctl_wrapper.attempt.run.command_file import TERMINATE, CommandFile
from d0ctl_wrapper.attempt.run.processes import Tree
from d0ctl_wrapper.attempt.run.suspend import Suspension
from d0ctl_wrapper.protocol.paths import AttemptFolder

LOOK = 0.1
"""Every so many seconds a binary that was asked to end by itself is looked at."""


def end(folder: AttemptFolder, tree: Tree, suspension: "Suspension | None") -> str:
    """End all processes as the order says, and give which way they went.

    Whoever asks again meanwhile may have shortened the grace, or want no outputs any more.
    """
    if suspension is not None:
        suspension.lift()
    way = _ask(folder, tree)
    if way:
        tree.end(lambda: 0.0)
        return way
    return tree.end(lambda: _order(folder).grace)


def _ask(folder: AttemptFolder, tree: Tree) -> str:
    """Ask the binary to end by itself, if its outputs are wanted; empty when it did not."""
    if not _order(folder).partial or not tree.is_running:
        return ""
    command = CommandFile(folder)
    command.give(TERMINATE)
    began = time.monotonic()
    while _order(folder).partial:
        if tree.has_ended_within(LOOK):
            answer = command.answer()
            return "it ended by itself" + (", saying: %s" % answer if answer else "")
        if time.monotonic() - began > _order(folder).partial_grace:
            break
    return ""


def _order(folder: AttemptFolder) -> orders.Kill:
    return orders.kill_asked(folder) or orders.Kill(orders.DEFAULT_GRACE, False)
