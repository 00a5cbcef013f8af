"""Packages of other jobs that a job needs, which `run JOB` runs, too; files that it lacks."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from d0ctl.model import Phase
from d0ctl.schedule.resources import Requirement
from d0ctl.schedule.standstill import Work
from d0ctl.store.connection import Row, Store
from d0ctl.store.nodes.catalogue import Catalogue, requirement_of
from d0ctl.store.nodes.site import reads_other_jobs

IDLE_WHEN_HELD = frozenset({Phase.READY, Phase.COOLOFF, Phase.SUSPENDED})
"""Packages of a held or paused job that do not move before it is released or resumed."""


def find(store: Store, job: int) -> None:
    """List the packages of other jobs without which this one can't continue."""
    store.empty("needed")
    if reads_other_jobs(store, job):
        store.change("find_needed", job=job)


def requirements(store: Store) -> list[Requirement]:
    """Return the requirements of the listed packages that are ready, the most urgent first."""
    catalogue = Catalogue(store)
    return [requirement_of(row, catalogue) for row in store.rows("needed_requirements")]


def outside(store: Store, rows: Sequence[Row]) -> Work:
    """Return packages of other jobs that a job waits for; those of held jobs count as held."""
    counts: Counter[str] = Counter()
    for row in rows:
        is_idle = row["is_held"] and row["phase"] in IDLE_WHEN_HELD
        counts[Phase.HELD if is_idle else row["phase"]] += row["n"]
    releases = any(row["phase"] == Phase.HELD and row["releases"] for row in rows)
    return Work(counts, requirements(store), releases=releases)


def oldest(store: Store, requirement: int, limit: int) -> list[int]:
    """Return the oldest listed packages with a requirement that are ready."""
    return [row[0] for row in store.rows("needed_packages", requirement=requirement, limit=limit)]


def waiting_open(store: Store, requirement: int, limit: int) -> list[int]:
    """Return the oldest of them that start while they wait for inputs."""
    return [
        row[0] for row in store.rows("needed_open_packages", requirement=requirement, limit=limit)
    ]


def with_stranded(
    store: Store, job: int, work: Work, queries: Mapping[Phase, str], lost: set[int]
) -> Work:
    """Count the packages of a job that wait for files that only lost clusters have.

    Ready ones are not looked at while something else of the job moves.
    """
    clusters = json.dumps(sorted(lost))
    found = {phase: store.value(name, job=job, clusters=clusters)
             for phase, name in queries.items() if work.counts.get(phase)}  # fmt: skip
    stranded = {phase: int(number) for phase, number in found.items() if number}
    work = replace(work, awaiting={**work.awaiting, **stranded})
    if work.busy or not work.ready:
        return work
    moves = store.value("some_ready_moves", job=job, clusters=clusters)
    return work if moves else replace(work, stuck=work.ready)
