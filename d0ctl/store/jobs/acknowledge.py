"""Failures that people have acknowledged: they stay as they are, and need nobody any more."""

from d0ctl.store.connection import Selection


def narrow(selected: Selection, *, acknowledged: bool) -> None:
    """Keep only packages with an acknowledged failure in the selection, or only those without."""
    selected.change("keep_acknowledged" if acknowledged else "leave_out_acknowledged")


def acknowledge(selected: Selection, *, actor: str, note: str | None, now: float) -> int:
    """Acknowledge the failures of selected packages that have failed; return how many."""
    return selected.change("acknowledge_failures", actor=actor, note=note, now=now)


def withdraw(selected: Selection, *, now: float) -> int:
    """Have the failures of the selected packages need a person again; return how many."""
    selected.change("keep_withdrawn_acknowledgements", now=now)
    return selected.change("withdraw_acknowledgements")
