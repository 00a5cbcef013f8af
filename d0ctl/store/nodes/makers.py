"""Packages of other jobs that a job needs: `run JOB` runs them, too."""

from d0ctl.schedule.resources import Requirement
from d0ctl.store.connection import Store
from d0ctl.store.nodes.catalogue import Catalogue, requirement_of


def find(store: Store, job: int) -> None:
    """List the packages of other jobs without which this one can't continue."""
    store.empty("needed")
    if reads_other_jobs(store, job):
        store.change("find_needed", job=job)


def reads_other_jobs(store: Store, job: int) -> bool:
    """Return whether a job reads files that other jobs make."""
    return store.row("some_needs", job=job) is not None


def requirements(store: Store) -> list[Requirement]:
    """Return the requirements of the listed packages that are ready, the most urgent first."""
    catalogue = Catalogue(store)
    return [requirement_of(row, catalogue) for row in store.rows("needed_requirements")]


def oldest(store: Store, requirement: int, limit: int) -> list[int]:
    """Return the oldest listed packages with a requirement that are ready."""
    return [row[0] for row in store.rows("needed_packages", requirement=requirement, limit=limit)]


def waiting_open(store: Store, requirement: int, limit: int) -> list[int]:
    """Return the oldest of them that start while they wait for inputs."""
    return [
        row[0] for row in store.rows("needed_open_packages", requirement=requirement, limit=limit)
    ]
