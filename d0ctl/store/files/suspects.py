"""Inputs that failed packages read more often than others do."""

from d0ctl.store.connection import Store

NEAR = 10_000
"""How many attempts before and after the last failure the failures are compared with."""

COMPARED = 50
"""With how many done packages of its stage a failed package is compared."""

MOST_INPUTS = 200
"""How many inputs are compared, those first that most of the failed packages read."""

MOST_READERS = 500
"""Up to this number the readers of an input are counted; else they are estimated."""

LEAST_EXCESS = 0.5
"""How many more failed packages must read an input than would by chance."""


def collect(store: Store) -> None:
    """Fill the table `suspect` for the failures in the table `failing`.

    An input that all packages of a stage read explains nothing, nor does any if none succeeded.
    """
    store.empty("failing_stage", "compared", "suspect")
    store.change("collect_failing_stages")
    store.change("compare_with_finished", limit=COMPARED, **near(store))
    store.change("suspect_inputs", limit=MOST_INPUTS, most=MOST_READERS, least=LEAST_EXCESS)


def near(store: Store) -> dict[str, int]:
    """Return the `first` and `last` id of attempts to compare failures with."""
    row = store.row("near_failures", most=NEAR)
    assert row is not None
    return {"first": row["first"], "last": row["last"]}
