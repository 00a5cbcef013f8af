"""What a policy decides, and what becomes of it in the database, for many failures at once."""

import time
from collections.abc import Iterator
from unittest.mock import patch

from d0ctl.model import Reason
from d0ctl.store import Store, open_store
from d0ctl.store.attempts import failures, messages
from d0ctl.store.jobs.submission.submit import submit
from tests.bench.measure import Figure, Options
from tests.bench.site import job, passing_home
from tests.support.messages import end_message

FAILURES = 10_000
BATCH = 500
REASONS = (Reason.DISK_FULL, Reason.EXIT_CODE, Reason.STAGE_IN, Reason.LOST)


def measure(options: Options) -> Iterator[Figure]:
    """How fast failures are judged, and how fast they are judged and kept."""
    del options
    with passing_home() as home, open_store(home) as store:
        _launch(store)
        spent = 0.0
        answer = failures.answer

        def timed(*reply: object, **more: object) -> object:
            nonlocal spent
            began = time.perf_counter()
            found = answer(*reply, **more)  # type: ignore[arg-type]
            spent += time.perf_counter() - began
            return found

        with patch.object(failures, "answer", timed):
            whole = _fail(store)
    yield Figure("policy", "failures judged", FAILURES / spent, "/s", "10,000/s")
    yield Figure("policy", "failures judged and kept", FAILURES / whole, "/s", "")


def _launch(store: Store) -> None:
    """Every package on its first attempt, as the database has it."""
    submit(store, job(FAILURES), now=1.0, actor="bench", name="bench")
    with store.writing():
        store.connection.execute(
            "insert into attempt (package_id, number, node_id, node_name, launched, started)"
            " select id, 1, 1, 'localhost', 1.0, 1.0 from package"
        )
        store.connection.execute("update package set phase = 'assigned', node_id = 1")
        store.connection.execute(
            "update package set phase = 'starting', attempts = 1, attempt_id = id"
        )


def _fail(store: Store) -> float:
    """Let all of them fail; how long that took."""
    ends = [end_message(n, "failed", REASONS[n % 4]) for n in range(1, FAILURES + 1)]
    began = time.perf_counter()
    for first in range(0, FAILURES, BATCH):
        with store.writing():
            messages.apply(store, ends[first : first + BATCH], now=2.0)
    return time.perf_counter() - began
