"""Jobs that are finished: packages that are not launched are canceled, a few at a time.

The flag on the job counts at once; the daemon, `run` or the verb itself acts on it.
"""

from collections.abc import Iterable

from d0ctl.store import lifecycle
from d0ctl.store.connection import Row, Selection, Store

MOST = 10_000
"""The most packages that are canceled in one transaction."""


def finish_jobs(
    store: Store, jobs: Iterable[int], *, hard: bool, actor: str, note: str | None, now: float
) -> Selection:
    """Set the flag of jobs, and select their launched packages."""
    ids = list(jobs)
    for job in ids:
        store.change("finish_job", job=job, how="hard" if hard else "soft", actor=actor,
                     note=note, now=now)  # fmt: skip
    return lifecycle.choose_launched(store, ids)


def sweep(store: Store, *, now: float | None = None) -> int:
    """Cancel some packages that are not launched, in the caller's transaction; return how many.

    Without `now` the changes have the time of the command that finished the job.
    """
    left = MOST
    for job in store.rows("finishing_jobs"):
        selected = store.select()
        if selected.change("choose_idle", job=job["id"], limit=left) > 0:
            left -= _cancel(selected, job, job["finish_since"] if now is None else now)
        if left <= 0:
            break
    return MOST - left


def sweep_all(store: Store) -> None:
    """Cancel all of them, by short transactions."""
    while True:
        with store.writing():
            if not sweep(store):
                return


def _cancel(selected: Selection, job: Row, now: float) -> int:
    note = job["finish_note"] or f"finished by {job['finish_actor']}"
    return lifecycle.cancel_idle(selected, actor=job["finish_actor"], note=note, now=now)
