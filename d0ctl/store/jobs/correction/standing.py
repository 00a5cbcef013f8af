"""A job in its present state in the database, as far as it can be compared with a job file."""

from collections import defaultdict
from collections.abc import Container, Iterable, Sequence

from msgspec import Struct, field

from d0ctl.model import STATUS_OF, Phase, Status
from d0ctl.store.connection import Row, Store
from d0ctl.store.jobs.correction import matching
from d0ctl.store.jobs.correction.definitions import (
    Definition,
    of_rows,
    recipe_without_dropped,
)
from d0ctl.store.jobs.correction.matching import LineFeatures
from d0ctl.store.views.left_out import REMOVED

LAUNCHED = frozenset(phase for phase, status in STATUS_OF.items() if status is Status.LAUNCHED)
"""Phases of packages that are left alone."""


class StandingPackage(Struct):
    """A package in its present state."""

    id: int
    seq: int
    phase: Phase
    definition: Definition
    requirement: int
    ran: bytes | None = None
    """The recipe that it has run if its results were accepted for that of its definition."""
    left: bytes | None = None
    """Its recipe without dropped inputs, if it has some."""


class StandingLine(Struct):
    """A line in its present state; `after` are the ids of the lines before it."""

    id: int
    seq: int
    name: str
    is_early: bool
    is_open: bool
    is_dropped: bool
    is_left: bool
    is_unlisted: bool = False
    """Whether a line that was dropped otherwise is known to be missing in the job file."""
    packages: list[StandingPackage] = field(default_factory=list)
    after: set[int] = field(default_factory=set)

    @property
    def features(self) -> LineFeatures:
        """The features by which it is recognised."""
        begun = (package.phase == Phase.DONE or package.phase in LAUNCHED
                 for package in self.packages)  # fmt: skip
        return matching.features(
            self.name, [package.definition for package in self.packages], is_fixed=any(begun)
        )


class StandingStage(Struct):
    """A stage as it stands; `after` are the ids of the stages before it, 0 for a final stage."""

    id: int
    seq: int
    name: str
    row: Row
    after: set[int] = field(default_factory=set)
    lines: list[StandingLine] = field(default_factory=list)


def read(store: Store, job: int, left: Container[str] = ()) -> list[StandingStage]:
    """Return the stages of a job with their contents; stages in `left` have no lines."""
    orders = _grouped(store.rows("standing_stage_order", job=job), "stage_id")
    return [
        StandingStage(
            row["id"], row["seq"], row["name"], row,
            {order["after_id"] for order in orders[row["id"]]},
            [] if row["name"] in left else _lines(store, job, row["id"]),
        )
        for row in store.rows("standing_stages", job=job)
    ]  # fmt: skip


def refresh(store: Store, job: int, stages: Iterable[StandingStage]) -> bool:
    """Update phases and dropped lines; return whether the rest is unchanged.

    It takes a hundredth of the time of reading the job. The rest changes only by actions, which
    the caller knows, and by requirements that a policy has raised.
    """
    lines = {line.id: line for stage in stages for line in stage.lines}
    packages = {package.id: package for line in lines.values() for package in line.packages}
    rows = store.rows("standing_phases", job=job)
    if len(rows) != len(packages):
        return False
    for row in rows:
        package = packages.get(row["id"])
        if package is None or package.requirement != row["requirement_id"]:
            return False
        package.phase = Phase(row["phase"])
    for line in lines.values():
        line.is_dropped = False
    for row in store.rows("standing_dropped_lines", job=job):
        line = lines[row["id"]]
        line.is_dropped, line.is_left = True, row["named"] == REMOVED
    return True


def _lines(store: Store, job: int, stage: int) -> list[StandingLine]:
    lines = {
        row["id"]: StandingLine(
            row["id"], row["seq"], row["name"], bool(row["early_start"]),
            bool(row["is_open"]), row["dropped"] is not None, row["named"] == REMOVED,
            row["unlisted"] == 1,
        )
        for row in store.rows("standing_lines", stage=stage)
    }  # fmt: skip
    for row in store.rows("standing_line_order", stage=stage):
        lines[row["line_id"]].after.add(row["after_id"])
    binaries = _grouped(store.rows("standing_binaries", stage=stage))
    inputs = _grouped(store.rows("standing_inputs", stage=stage, job=job))
    outputs = _grouped(store.rows("standing_outputs", stage=stage))
    for row in store.rows("standing_packages", stage=stage):
        key = row["id"]
        parts = (row, binaries[key], inputs[key], outputs[key])
        definition, left = of_rows(*parts), recipe_without_dropped(*parts)
        package = StandingPackage(
            key,
            row["seq"],
            Phase(row["phase"]),
            definition,
            row["requirement_id"],
            row["recipe_digest"],
            left,
        )
        lines[row["line_id"]].packages.append(package)
    return list(lines.values())


def _grouped(rows: Iterable[Row], key: str = "package_id") -> defaultdict[int, Sequence[Row]]:
    grouped: defaultdict[int, list[Row]] = defaultdict(list)
    for row in rows:
        grouped[row[key]].append(row)
    return grouped  # type: ignore[return-value]


def lacking_restored(store: Store, job: int) -> frozenset[int]:
    """Return the successful packages of a job that ran without files of lines restored since."""
    return frozenset(row["package_id"] for row in store.rows("lacking_restored", job=job))


def readers_of_dropped(store: Store, job: int) -> frozenset[int]:
    """Return the successful packages of a job that have read files of lines dropped since."""
    return frozenset(row["id"] for row in store.rows("readers_of_dropped", job=job))
