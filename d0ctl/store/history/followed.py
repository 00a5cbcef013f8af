"""The state of jobs about which a person wants notices."""

import json
from collections.abc import Iterable

from msgspec import Struct

from d0ctl.store.connection import Store
from d0ctl.store.rows import make


class JobState(Struct, frozen=True):
    """A job: how many of its packages are done and failed, when it ended, its last failure."""

    id: int
    name: str
    ended: float | None
    packages: int
    done: int
    failed: int
    last_failure: str


def states(store: Store, jobs: Iterable[int]) -> list[JobState]:
    """Return the present states of jobs by their ids; removed ones are omitted."""
    return [make(JobState, row) for row in store.rows("followed_jobs", jobs=json.dumps([*jobs]))]
