"""How good the estimates of the past were."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from d0ctl.schedule.estimates import work_of
from d0ctl.store.connection import Row, Store


class Audit(Struct, frozen=True):
    """The quality of the estimates for packages of a stage, or for a job.

    It has pairs of the expected and the actual value, in seconds; for memory and disk pairs of the
    reserved and the used bytes.
    """

    kind: Literal["job", "stage", "memory", "disk"]
    name: str
    pairs: Sequence[tuple[float, float]]
    within: int
    """How many ended within the range, or used no more than was reserved."""


def audit(store: Store, job: int | None, limit: int) -> list[Audit]:
    """Return how the latest estimates compare with the actual values: of jobs, and of packages."""
    audited = []
    for row in store.rows("audit_jobs", job=job, limit=limit):
        pair = (row["expected"], row["happened"])
        audited.append(Audit("job", row["name"], [pair], int(_is_within(row))))
    stages: dict[str, list[Row]] = defaultdict(list)
    for row in store.rows("audit_packages", job=job, limit=limit):
        stages[f"{row['job']}/{row['stage']}"].append(row)
    for name, rows in stages.items():
        pairs = [(row["expected"], row["happened"]) for row in rows]
        audited.append(Audit("stage", name, pairs, sum(_is_within(row) for row in rows)))
    return [*audited, *_sizes(store, job, limit)]


def _sizes(store: Store, job: int | None, limit: int) -> list[Audit]:
    """Return pairs of reserved and used memory and disk of packages."""
    pairs: dict[tuple[Literal["memory", "disk"], str], list[tuple[float, float]]]
    pairs = defaultdict(list)
    for row in store.rows("audit_sizes", job=job, limit=limit):
        stage = f"{row['job']}/{row['stage']}"
        if row["memory_expected"] and row["rss"] is not None:
            pairs["memory", stage].append((row["memory_expected"], row["rss"]))
        if row["space_expected"] and row["peak"] is not None:
            output = row["output"] or 0
            taken = output + work_of(row["peak"], output)
            pairs["disk", stage].append((row["space_expected"], taken))
    return [
        Audit(kind, name, of_stage, sum(taken <= reserved for reserved, taken in of_stage))
        for (kind, name), of_stage in pairs.items()
    ]


def _is_within(row: Row) -> bool:
    return bool(row["low"] <= row["happened"] <= row["high"])
