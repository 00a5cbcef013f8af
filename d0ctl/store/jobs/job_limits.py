"""How many packages of jobs and stages may be on nodes at once, and how many may fail."""

from d0ctl.store.connection import Store


def limit_job(store: Store, job: int, most: int | None) -> None:
    """Limit how many packages of a job may be on nodes at once; None for any number."""
    store.change("limit_job", job=job, most=most)


def limit_stage(store: Store, stage: int, most: int | None) -> None:
    """Limit how many packages of a stage may be on nodes at once; None for any number."""
    store.change("limit_stage", stage=stage, most=most)


def limit_failures(store: Store, job: int, most: int | None) -> None:
    """Have d0ctl hold a job after this many failed packages; None for never."""
    store.change("limit_failures", job=job, most=most)
