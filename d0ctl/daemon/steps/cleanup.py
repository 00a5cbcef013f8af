"""What nobody needs any more goes: from the nodes, and from the way through this machine."""

import ctypes
import time

from d0ctl.daemon.control import Control
from d0ctl.store.jobs import unneeded_files as store_tidy
from d0ctl.store.nodes.site import default

SWEPT = 1000
"""So many folders of a node's cache are compared with the database in one turn."""


TRIM_EVERY_S = 60.0
"""How often freed memory is given back."""


def give_back_memory(control: Control, now: float) -> None:
    """Give freed memory back to the system, from time to time.

    After messages of 30 MB, glibc kept 88 MB between blocks in use.
    """
    if time.monotonic() - control.trimmed >= TRIM_EVERY_S:
        control.trimmed = time.monotonic()
        control.after(trim)


def trim() -> None:
    """Have the C library give back what is free; only glibc has a function for it."""
    malloc_trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if malloc_trim is not None:
        malloc_trim(0)


def tidy(control: Control, now: float) -> None:
    """Have superfluous copies removed."""
    here = store_tidy.tidy(control.store, now=now)
    if here:
        control.after(control.home.forget_copies, here)


def sweep_caches(control: Control, now: float) -> None:
    """Have folders removed from caches of nodes that hold nothing that is needed, some a turn."""
    for node, left in list(control.unswept.items()):
        some, rest = left[:SWEPT], left[SWEPT:]
        if some:
            store_tidy.sweep(control.store, node, some)
        if rest:
            control.after(control.unswept.__setitem__, node, rest)
        else:
            control.after(control.unswept.pop, node, None)


def expire(control: Control, now: float) -> None:
    """Have outputs of failed packages removed that have stayed for `keep-failed`."""
    store_tidy.expire(control.store, before=now - default(control.store, "keep-failed"))
