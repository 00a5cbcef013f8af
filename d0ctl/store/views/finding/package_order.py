"""The order of the packages of a list, which is fixed when it is chosen."""

import json
from array import array
from collections.abc import Mapping, Sequence

from d0ctl.store.connection import Store

MOST_SORTED = 100_000
"""More packages are listed by path only: sorting as many takes 0.3 s of CPU."""

ORDERS: Mapping[str, bool] = {
    "path": False, "name": False, "status": False, "node": False, "reason": False, "tries": True,
    "start": True, "end": True, "duration": True, "CPU": True, "memory": True,
}  # fmt: skip
"""What packages can be sorted by, and whether the largest comes first."""


def ordered(
    store: Store, ids: Sequence[int], order: str, now: float, *, reverse: bool = False
) -> "array[int]":
    """Return packages in an order; those without a value come last, removed ones are omitted."""
    rows = store.rows("finding_package_keys", ids=json.dumps(list(ids)), by=order, now=now)
    known = [(row["value"], row["id"]) for row in rows if row["value"] is not None]
    known.sort(key=lambda pair: pair[0], reverse=ORDERS[order] is not reverse)
    others = (row["id"] for row in rows if row["value"] is None)
    return array("q", [*(id for _, id in known), *others])
