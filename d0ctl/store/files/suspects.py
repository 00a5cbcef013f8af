"""Inputs that failed packages read more often than others do."""

from d0ctl.store.connection import Store

NEAR = 10_000
"""How many attempts before and after the last failure the failures are compared with."""

COMPARED = 50
"""With how many packages of its stage a failed package is compared."""

MOST_INPUTS = 200
"""How many inputs are compared, those first that most of the failed packages read."""

LEAST_EXCESS = 1.0
"""How many more failed packages must read an input than would by chance."""


def collect(store: Store) -> None:
    """Fill the table `suspect` for the failures in the table `failing`.

    The failed packages are compared with a few of their stages that succeeded lately; if none did,
    with the first of the stage. An input that all packages read explains nothing.
    """
    store.empty("failing_stage", "compared", "suspect")
    store.change("collect_failing_stages")
    store.change("compare_with_finished", window=NEAR, limit=COMPARED)
    for row in store.rows("uncompared_stages"):
        store.change("compare_with_others", stage=row["stage_id"], limit=COMPARED)
    store.change("weigh_compared")
    store.change("suspect_inputs", limit=MOST_INPUTS)
    store.change("clear_of_suspicion", least=LEAST_EXCESS)
