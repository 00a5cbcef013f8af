"""Failures that people have acknowledged: they stay as they are, and need nobody any more.

The functions act on the selected packages, those in the temporary table `chosen`.
"""

from d0ctl.store.connection import Store


def narrow(store: Store, *, acknowledged: bool) -> None:
    """Keep only packages with an acknowledged failure in the selection, or only those without."""
    store.change("keep_acknowledged" if acknowledged else "leave_out_acknowledged")


def acknowledge(store: Store, *, actor: str, note: str | None, now: float) -> int:
    """Acknowledge the failures of selected packages that have failed; return how many."""
    return store.change("acknowledge_failures", actor=actor, note=note, now=now)


def withdraw(store: Store) -> int:
    """Have the failures of the selected packages need a person again; return how many."""
    return store.change("withdraw_acknowledgements")
