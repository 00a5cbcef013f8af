"""Events that people may be notified of, each read once, from a bookmark on."""

from typing import Any

from msgspec import Struct

from d0ctl.store.connection import Row, Store
from d0ctl.store.mail import mail_queue
from d0ctl.store.rows import make

MOST_EVENTS = 200_000
"""How many events are read at once."""

STDERR_LINES = 5
"""How many of the last lines of a binary's stderr go into an example."""

MOST_INCOMPLETE = 50
"""How many packages that did not complete are named."""


class NewEvents(Struct, frozen=True):
    """Events since the last read."""

    failures: list[Row]
    given_up: list[Row]
    ends: list[Row]
    nodes: list[Row]
    software: list[Row]
    """Requests about software that all nodes have answered, and that nobody waits for."""


def begin(store: Store) -> None:
    """Switch notifications on; earlier events are skipped."""
    store.change("keep_news_mark", event=store.value("last_event"))
    store.change("pass_ended_jobs")


def is_begun(store: Store) -> bool:
    """Return whether anybody is notified of events."""
    return store.value("news_mark") is not None


def stop(store: Store) -> None:
    """Switch notifications off."""
    store.change("keep_news_mark", event=None)


def read(store: Store) -> NewEvents:
    """Return the new events, each once; only in the transaction that also records the notices."""
    mark = store.value("news_mark")
    upto = min(store.value("last_event"), mark + MOST_EVENTS)
    span = {"after": mark, "upto": upto}
    events = NewEvents(
        store.rows("new_failures", **span) if upto > mark else [],
        store.rows("new_given_up", **span) if upto > mark else [],
        store.rows("new_ends"),
        store.rows("new_node_problems"),
        store.rows("late_answers"),
    )
    if upto > mark:
        store.change("keep_news_mark", event=upto)
    for row in events.ends:
        store.change("keep_end_notified", job=row["id"])
    for row in events.software:
        store.change("forget_late_answers", to=row["report_to"], verb=row["verb"],
                     title=row["title"], asked=row["asked"])  # fmt: skip
    return events


def example(store: Store, attempt: int) -> dict[str, Any]:
    """Return a failed attempt as an example of others."""
    row = store.row("failure_example", attempt=attempt)
    assert row is not None
    lines = [line for line in (row["stderr"] or "").splitlines() if line.strip()]
    return {
        "path": row["path"],
        "attempt": row["number"],
        "node": row["node_name"],
        "message": row["message"],
        "stderr": lines[-STDERR_LINES:],
    }


def add_problem(store: Store, kind: str, subject_id: int, subject: str, *, now: float) -> None:
    """Record a problem, until it clears."""
    mail_queue.forget_cleared(store, kind, subject_id)
    store.change("add_problem", kind=kind, subject_id=subject_id, subject=subject, since=now)


def is_open_problem(store: Store, kind: str, subject_id: int) -> bool:
    """Return whether a problem is recorded."""
    return store.value("is_open_problem", kind=kind, subject_id=subject_id) is not None


def standing_jobs(store: Store) -> dict[int, str]:
    """Return the jobs that are known to stand still: their names by id."""
    return {row["subject_id"]: row["subject"] for row in store.rows("problem_standing_jobs")}


def researcher_of(store: Store, job: int) -> tuple[str, str | None]:
    """Return the originator of a job, and which mails its file asks for."""
    row = store.row("researcher_of_job", job=job)
    assert row is not None
    return row["originator"], row["mail"]


def remove_problem(store: Store, kind: str, subject_id: int) -> None:
    """Record that a problem is over."""
    store.change("remove_problem", kind=kind, subject_id=subject_id)


def cleared(store: Store) -> list[Row]:
    """Return the problems that are over; they are forgotten now."""
    rows = store.rows("cleared_problems")
    for row in rows:
        remove_problem(store, row["kind"], row["subject_id"])
    return rows


class Incomplete(Struct, frozen=True):
    """A package that did not complete, and why it is in its phase."""

    id: int
    path: str
    phase: str
    note: str | None
    actor: str | None


def incomplete(store: Store, job: int, counts: dict[str, int]) -> list[Incomplete]:
    """Return some packages of a job that did not complete, the most significant first."""
    found: list[Incomplete] = []
    for phase in ("failed", "held", "waiting", "canceled", "dropped"):
        left = MOST_INCOMPLETE - len(found)
        if left and counts.get(phase):
            rows = store.rows("incomplete_packages", job=job, phase=phase, limit=left)
            found += [make(Incomplete, row) for row in rows]
    return found


class EndedJob(Struct, frozen=True):
    """A job that has ended, as the mail about its end begins."""

    id: int
    name: str
    title: str
    submitted: float
    ended: float


def job_that_ended(store: Store, job: int) -> EndedJob | None:
    """Return a job as the mail about its end begins; None if it is gone, or moves again."""
    row = store.row("job_of_end", job=job)
    return None if row is None else make(EndedJob, row)
